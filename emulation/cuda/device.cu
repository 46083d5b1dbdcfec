#include "emulation/cuda/launch.cuh"

namespace halfulp::cuda {
namespace {

cudaStream_t stream_of(const Stream& stream) { return static_cast<cudaStream_t>(stream.handle()); }

/// What stands between this process and a device; empty if nothing does.
std::string obstacle() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return {};
  cudaGetLastError();  // an error that was looked at is not the next call's
  if (status == cudaErrorInsufficientDriver)
    return "no CUDA driver, or one older than the CUDA runtime that halfulp was built with";
  if (status == cudaSuccess || status == cudaErrorNoDevice) return "a CUDA driver, but no device";
  return std::string("CUDA cannot be used: ") + cudaGetErrorString(status);
}

}  // namespace

std::optional<DeviceInfo> find_device() {
  if (!obstacle().empty()) return std::nullopt;
  int device = 0;
  cudaDeviceProp properties{};
  DeviceInfo info{};
  const bool known = cudaGetDevice(&device) == cudaSuccess &&
                     cudaGetDeviceProperties(&properties, device) == cudaSuccess &&
                     cudaDriverGetVersion(&info.driver_version) == cudaSuccess &&
                     cudaRuntimeGetVersion(&info.runtime_version) == cudaSuccess;
  if (!known) return std::nullopt;
  info.name = properties.name;
  info.major = properties.major;
  info.minor = properties.minor;
  info.memory_bytes = properties.totalGlobalMem;
  info.multiprocessors = properties.multiProcessorCount;
  return info;
}

std::string why_no_device() { return obstacle(); }

Stream::Stream() {
  if (const std::string why = obstacle(); !why.empty())
    throw Error("CUDA", "no device to run on", why, "a device");
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  handle_ = made;
}
Stream::~Stream() {
  if (handle_ != nullptr) cudaStreamDestroy(stream_of(*this));
}
void Stream::wait() { check(cudaStreamSynchronize(stream_of(*this)), "a kernel or copy"); }

DeviceBuffer::DeviceBuffer(std::size_t bytes) : bytes_(bytes) {
  if (const std::string why = obstacle(); !why.empty())
    throw Error("CUDA", "no device memory", why, "a device");
  if (bytes != 0) check(cudaMalloc(&data_, bytes), "cudaMalloc");
}
DeviceBuffer::~DeviceBuffer() {
  if (data_ != nullptr) cudaFree(data_);
}

void DeviceBuffer::require(std::size_t bytes, const char* what) const {
  if (bytes > bytes_)
    throw Error("device buffer", std::string(what) + " beyond its end", std::to_string(bytes) + " bytes",
                "at most " + std::to_string(bytes_));
}
void DeviceBuffer::upload(const void* from, std::size_t bytes, Stream& stream) {
  require(bytes, "an upload");
  if (bytes != 0)
    check(cudaMemcpyAsync(data_, from, bytes, cudaMemcpyHostToDevice, stream_of(stream)),
          "a copy to the device");
}
void DeviceBuffer::download(void* to, std::size_t bytes, Stream& stream) const {
  require(bytes, "a download");
  if (bytes != 0)
    check(cudaMemcpyAsync(to, data_, bytes, cudaMemcpyDeviceToHost, stream_of(stream)), "a copy to the host");
}
void DeviceBuffer::copy(const DeviceBuffer& from, std::size_t bytes, Stream& stream) {
  require(bytes, "a copy");
  from.require(bytes, "a copy");
  if (bytes != 0)
    check(cudaMemcpyAsync(data_, from.data_, bytes, cudaMemcpyDeviceToDevice, stream_of(stream)),
          "a copy on the device");
}

}  // namespace halfulp::cuda
