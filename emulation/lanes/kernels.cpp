// Compiled once for each instruction set, with its flags: see vector.h.
#include "emulation/lanes/kernels.h"

#include <algorithm>

#include "emulation/lanes/convert_kernel.h"
#include "emulation/lanes/decode_kernel.h"
#include "emulation/lanes/function_kernels.h"
#include "emulation/lanes/random_kernel.h"
#include "emulation/lanes/run_kernels.h"

#define HALFULP_JOIN_NAMES(a, b) a##b
#define HALFULP_KERNELS_OF(target) HALFULP_JOIN_NAMES(lane_kernels_, target)
#if HWY_ARCH_X86
#  define HALFULP_TARGET HWY_NAMESPACE
#else
#  define HALFULP_TARGET baseline
#endif

namespace halfulp {

extern const LaneKernels HALFULP_KERNELS_OF(HALFULP_TARGET);
const LaneKernels HALFULP_KERNELS_OF(HALFULP_TARGET) = {
    hwy::TargetName(HWY_TARGET), HWY_NAMESPACE::lane_count,   HWY_NAMESPACE::is_fused,
    HWY_NAMESPACE::convert,      HWY_NAMESPACE::decode,       HWY_NAMESPACE::random_words,
    HWY_NAMESPACE::amax_of_runs, HWY_NAMESPACE::pack_nibbles, HWY_NAMESPACE::unpack_nibbles,
    HWY_NAMESPACE::divisors,     HWY_NAMESPACE::apply,        HWY_NAMESPACE::normals,
    HWY_NAMESPACE::sum,
};

}  // namespace halfulp
