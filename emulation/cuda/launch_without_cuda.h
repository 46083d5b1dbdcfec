#pragma once
#include "emulation/cuda/device.h"
#include "formats/error.h"

namespace halfulp::cuda {

inline constexpr const char* built_without_cuda =
    "halfulp was built without CUDA: no nvcc was found, or it was not wanted";

template <Kernel K>
void launch(const K&, Stream&) {
  throw Error("CUDA", "no device to run on", built_without_cuda, "a build with nvcc");
}

}  // namespace halfulp::cuda
