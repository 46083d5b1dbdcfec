#pragma once
#include <memory>

#include "emulation/cuda/device.h"
#include "emulation/cuda/host_emulator.h"

// Where kernels run: the host emulator or a device, with memory of its own. What is written over a machine runs on both,
// which is how their results are compared.
namespace halfulp::cuda {

class HostMachine {
 public:
  class Buffer {
   public:
    explicit Buffer(std::size_t bytes) : data_(bytes == 0 ? nullptr : new std::byte[bytes]), bytes_(bytes) {}
    std::size_t bytes() const noexcept { return bytes_; }
    template <class T>
    T* as() const noexcept {
      return reinterpret_cast<T*>(data_.get());
    }

   private:
    std::unique_ptr<std::byte[]> data_;
    std::size_t bytes_;
  };

  explicit HostMachine(RunOrder order = RunOrder::ascending) : order_(order) {}

  /// in: at most the bytes that the buffer has
  void upload(Buffer& to, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to.as<std::byte>(), from, bytes);
  }
  void download(void* to, const Buffer& from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from.as<std::byte>(), bytes);
  }
  template <Kernel K>
  void run(const K& kernel) {
    emulate(kernel, order_);
  }
  void wait() {}

 private:
  RunOrder order_;
};

/// errors: all throw Error as device.h says.
class DeviceMachine {
 public:
  using Buffer = DeviceBuffer;

  void upload(Buffer& to, const void* from, std::size_t bytes) { to.upload(from, bytes, stream_); }
  void download(void* to, const Buffer& from, std::size_t bytes) { from.download(to, bytes, stream_); }
  template <Kernel K>
  void run(const K& kernel) {
    launch(kernel, stream_);
  }
  void wait() { stream_.wait(); }

 private:
  Stream stream_;
};

template <class Machine, class T>
typename Machine::Buffer copied_to(Machine& machine, std::span<const T> numbers) {
  typename Machine::Buffer buffer(numbers.size_bytes());
  machine.upload(buffer, numbers.data(), numbers.size_bytes());
  return buffer;
}

}  // namespace halfulp::cuda
