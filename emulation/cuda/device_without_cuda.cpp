#include "emulation/cuda/kernel_list.h"
#include "emulation/cuda/launch_without_cuda.h"

// The device side of a build without CUDA: there is no device, and nobody can make a stream or a buffer.
namespace halfulp::cuda {

std::optional<DeviceInfo> find_device() { return std::nullopt; }
std::string why_no_device() { return built_without_cuda; }

Stream::Stream() { throw Error("CUDA", "no device to run on", built_without_cuda, "a build with nvcc"); }
Stream::~Stream() = default;
void Stream::wait() {}

DeviceBuffer::DeviceBuffer(std::size_t) {
  throw Error("CUDA", "no device memory", built_without_cuda, "a build with nvcc");
}
DeviceBuffer::~DeviceBuffer() = default;
void DeviceBuffer::upload(const void*, std::size_t, Stream&) {}
void DeviceBuffer::download(void*, std::size_t, Stream&) const {}
void DeviceBuffer::copy(const DeviceBuffer&, std::size_t, Stream&) {}

#define HALFULP_COMPILE(kernel) template void launch<kernel>(const kernel&, Stream&);
HALFULP_CUDA_KERNELS(HALFULP_COMPILE)
#undef HALFULP_COMPILE

}  // namespace halfulp::cuda
