// Compiled once for each instruction set, with its flags: see vector.h.
#include "emulation/lanes/kernels.h"

#include <algorithm>

#include "emulation/lanes/convert_kernel.h"
#include "emulation/lanes/decode_kernel.h"
#include "emulation/lanes/function_kernels.h"
#include "emulation/lanes/random_kernel.h"
#include "emulation/lanes/run_kernels.h"

namespace halfulp {

extern const LaneKernels HALFULP_OF_TARGET(lane_kernels_);
const LaneKernels HALFULP_OF_TARGET(lane_kernels_) = {
    hwy::TargetName(HWY_TARGET), HWY_NAMESPACE::lane_count,   HWY_NAMESPACE::is_fused,
    HWY_NAMESPACE::convert,      HWY_NAMESPACE::decode,       HWY_NAMESPACE::random_words,
    HWY_NAMESPACE::amax_of_runs, HWY_NAMESPACE::pack_nibbles, HWY_NAMESPACE::unpack_nibbles,
    HWY_NAMESPACE::apply,        HWY_NAMESPACE::normals,      HWY_NAMESPACE::sum,
};

}  // namespace halfulp
