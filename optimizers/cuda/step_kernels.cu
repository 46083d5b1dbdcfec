#include "emulation/cuda/launch.cuh"
#include "optimizers/cuda/step_list.h"

// Compiled once for each rule, HALFULP_RULE, and once without for what all of them share.
namespace halfulp::cuda {

#if defined(HALFULP_RULE)
template void launch<StepKernel<HALFULP_RULE>>(const StepKernel<HALFULP_RULE>&, Stream&);
template void launch<StepAmaxKernel<HALFULP_RULE>>(const StepAmaxKernel<HALFULP_RULE>&, Stream&);
#else
template void launch<CountSumKernel>(const CountSumKernel&, Stream&);
#endif

}  // namespace halfulp::cuda
