// Highway 1.0.3 stops where -march has all of AVX3_DL (native, on Zen 4 or Sapphire Rapids), a target not used here.
#define HWY_DISABLED_TARGETS HWY_AVX3_DL
#include <hwy/targets.h>

#include <array>
#include <cstdint>

#include "emulation/lanes/kernels.h"

namespace halfulp {

#if HWY_ARCH_X86
extern const LaneKernels lane_kernels_N_AVX3, lane_kernels_N_AVX2, lane_kernels_N_SSE4;
#else
extern const LaneKernels lane_kernels_baseline;
#endif

namespace {

struct Compiled {
  const LaneKernels* kernels;
  std::int64_t target;
};

/// The last is what every CPU that runs this library has: on x86 SSE4.2, which the matrix kernels are compiled for too.
constexpr std::array compiled {
#if HWY_ARCH_X86
  Compiled{&lane_kernels_N_AVX3, HWY_AVX3}, Compiled{&lane_kernels_N_AVX2, HWY_AVX2},
      Compiled{&lane_kernels_N_SSE4, HWY_SSE4},
#else
  Compiled{&lane_kernels_baseline, 0},
#endif
};

constexpr std::array kernels = [] {
  std::array<const LaneKernels*, compiled.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = compiled[i].kernels;
  return all;
}();

}  // namespace

std::span<const LaneKernels* const> compiled_lane_kernels() noexcept { return kernels; }

std::span<const LaneKernels* const> supported_lane_kernels() noexcept {
  // Asked once: under a hypervisor each cpuid traps, some 10 microseconds a question.
  static const std::size_t best = [] {
    const std::int64_t supported = hwy::SupportedTargets();
    std::size_t first = 0;
    while (first + 1 < compiled.size() && (supported & compiled[first].target) == 0) ++first;
    return first;
  }();
  return compiled_lane_kernels().subspan(best);
}

}  // namespace halfulp
