#pragma once
#include "formats/block.h"
#include "formats/lane_scale.h"

namespace halfulp::cuda {

/// What the elements of a block are divided by when they are stored and multiplied by when they are read: exactly in
/// double, and in float where it can be.
struct BlockScale {
  bool in_floats;  ///< floats divide and multiply as exactly
  LaneScale<float> lanes;
  BlockDivisor divisor;
  double multiplier;

  HALFULP_HD bool is_scaled() const noexcept { return lanes.scaling != Scaling::none; }
};

/// Of formats without a scale.
HALFULP_HD constexpr BlockScale no_scale() noexcept {
  return {true, {{1, 0, 1}, Scaling::none}, {ScaleArithmetic::exact, 1}, 1};
}

/// in: divisor: what numbers stored under the multiplier are divided by
HALFULP_HD_RARE inline BlockScale block_scale(double multiplier, BlockDivisor divisor) noexcept {
  BlockScale scale{false, {{1, 0, 1}, Scaling::quotient}, divisor, multiplier};
  // Floats divide by the multiplier alone, not by a rounded factor, and not by the 0 of a block of zeros.
  if (divisor.arithmetic != ScaleArithmetic::exact || divisor.value != multiplier) return scale;
  if (const auto numbers = lane_scale(multiplier)) {
    scale.in_floats = true;
    scale.lanes = {{numbers->high, numbers->low, numbers->inverse},
                   numbers->is_exact() ? Scaling::exact : Scaling::quotient};
  }
  return scale;
}

}  // namespace halfulp::cuda
