#include <array>

#include "emulation/lanes/kernels.h"
#include "optimizers/lanes/rule_lanes.h"

namespace halfulp {

#if defined(__x86_64__) || defined(__i386__)
extern const RuleKernels rule_kernels_N_AVX3, rule_kernels_N_AVX2, rule_kernels_N_SSE4;
#else
extern const RuleKernels rule_kernels_baseline;
#endif

namespace {

constexpr std::array kernels {
#if defined(__x86_64__) || defined(__i386__)
  &rule_kernels_N_AVX3, &rule_kernels_N_AVX2, &rule_kernels_N_SSE4,
#else
  &rule_kernels_baseline,
#endif
};

}  // namespace

std::span<const RuleKernels* const> compiled_rule_kernels() noexcept { return kernels; }

const RuleKernels& rule_kernels() noexcept {
  return *kernels[kernels.size() - supported_lane_kernels().size()];
}

}  // namespace halfulp
