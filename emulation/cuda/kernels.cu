#include "emulation/cuda/kernel_list.h"
#include "emulation/cuda/launch.cuh"

namespace halfulp::cuda {

#define HALFULP_COMPILE(kernel) template void launch<kernel>(const kernel&, Stream&);
HALFULP_CUDA_KERNELS(HALFULP_COMPILE)
#undef HALFULP_COMPILE

}  // namespace halfulp::cuda
