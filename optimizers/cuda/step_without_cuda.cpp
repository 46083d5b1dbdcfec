#include "emulation/cuda/launch_without_cuda.h"
#include "optimizers/cuda/step_list.h"

namespace halfulp::cuda {

#define HALFULP_COMPILE(Rule)                                               \
  template void launch<StepKernel<Rule>>(const StepKernel<Rule>&, Stream&); \
  template void launch<StepAmaxKernel<Rule>>(const StepAmaxKernel<Rule>&, Stream&);
HALFULP_COMPILE(AdamW)
HALFULP_COMPILE(Madam)
HALFULP_COMPILE(MAdam)
HALFULP_COMPILE(Lmd)
#undef HALFULP_COMPILE
template void launch<CountSumKernel>(const CountSumKernel&, Stream&);

}  // namespace halfulp::cuda
