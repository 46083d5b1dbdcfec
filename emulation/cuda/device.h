#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "emulation/cuda/kernel.h"

// The device side, without a CUDA type. All of it links and loads where there is no driver, no device, or no CUDA in the
// build: then find_device() is empty, why_no_device() says why, and the caller goes on on the host.
namespace halfulp::cuda {

struct DeviceInfo {
  std::string name;
  int major, minor;  ///< compute capability
  std::size_t memory_bytes;
  int multiprocessors;
  int driver_version, runtime_version;  ///< 1000 major + 10 minor
};

/// The device that kernels will run on, if there is one.
/// errors: none; whatever goes wrong counts as no device.
std::optional<DeviceInfo> find_device();
/// Why there is none, as a sentence; empty where there is one.
std::string why_no_device();

/// An order of work: kernels and copies of one stream run one after the other, beside those of others.
class Stream {
 public:
  /// errors: throws Error without a device.
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Returns when everything given to the stream is done.
  /// errors: throws Error for whatever failed since the last wait.
  void wait();
  /// CUDA's own handle.
  void* handle() const noexcept { return handle_; }

 private:
  void* handle_ = nullptr;
};

/// Memory of the device; its bytes are undefined at first.
class DeviceBuffer {
 public:
  /// errors: throws Error without a device or memory. 0 bytes are a buffer, with a null pointer.
  explicit DeviceBuffer(std::size_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::size_t bytes() const noexcept { return bytes_; }
  /// What kernels are given.
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

  /// Copies `bytes` from the host, to the host, from another buffer, in the order of the stream. The host's memory has to
  /// stay until the stream has been waited for.
  /// errors: throws Error for more bytes than the buffer has, and on a failed copy.
  void upload(const void* from, std::size_t bytes, Stream& stream);
  void download(void* to, std::size_t bytes, Stream& stream) const;
  void copy(const DeviceBuffer& from, std::size_t bytes, Stream& stream);

 private:
  void require(std::size_t bytes, const char* what) const;

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

template <class T>
DeviceBuffer on_device(std::span<const T> numbers, Stream& stream) {
  DeviceBuffer buffer(numbers.size_bytes());
  buffer.upload(numbers.data(), numbers.size_bytes(), stream);
  return buffer;
}

/// Gives a kernel, whose pointers are those of device memory, to a stream and returns at once. Compiled for the kernels
/// of kernel_list.h; launch.cuh compiles it for others.
/// errors: throws Error without a device, on a failed launch, and for more than 2^31 - 1 blocks. What fails while the
///         kernel runs is reported by Stream::wait().
template <Kernel K>
void launch(const K& kernel, Stream& stream);

}  // namespace halfulp::cuda
