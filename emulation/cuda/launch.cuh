#pragma once
#include <cuda_runtime.h>

#include <limits>
#include <string>
#include <utility>

#include "emulation/cuda/device.h"
#include "formats/error.h"

namespace halfulp::cuda {

/// errors: throws Error naming the call and what CUDA says of it.
inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw Error("CUDA", std::string(call) + " failed", cudaGetErrorString(status), "cudaSuccess");
}

/// All phases of a kernel, a barrier after each.
template <Kernel K>
__global__ void __launch_bounds__(K::threads) run_kernel(const __grid_constant__ K kernel) {
  __shared__ typename K::Shared shared;
  typename K::Registers registers;
  const Block block{blockIdx.x, gridDim.x};
  const Thread thread{threadIdx.x, K::threads};
  const std::size_t rounds = kernel.rounds();
  for (std::size_t round = 0; round < rounds; ++round)
    [&]<int... phase>(std::integer_sequence<int, phase...>) {
      ((kernel.template run<phase>(block, thread, round, shared, registers), __syncthreads()), ...);
    }
  (std::make_integer_sequence<int, K::phases>{});
}

template <Kernel K>
void launch(const K& kernel, Stream& stream) {
  const std::size_t blocks = kernel.blocks();
  if (blocks == 0) return;
  if (blocks > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error("CUDA", "too many blocks for one launch", std::to_string(blocks), "at most 2147483647");
  run_kernel<<<static_cast<unsigned>(blocks), K::threads, 0, static_cast<cudaStream_t>(stream.handle())>>>(
      kernel);
  check(cudaGetLastError(), "launching a kernel");
}

}  // namespace halfulp::cuda
