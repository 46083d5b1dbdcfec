#pragma once
#include "formats/block.h"

namespace halfulp {

/// What the numbers of one block are stored under, before a step and from it on.
struct BlockState {
  double multiplier_before, multiplier;
  BlockDivisor divisor_before, divisor;  ///< differ where conventions force elements to zero

  HALFULP_HD constexpr bool is_unchanged() const noexcept {
    return multiplier == multiplier_before && divisor.value == divisor_before.value;
  }
  /// A number that is not to move keeps its code where its scale did not change: under a scale that is no power of two
  /// fl32(q s) may lie a hair below q s, where a directed mode would step down every time.
  template <class R>
  HALFULP_HD constexpr bool keeps_code(R before, R wanted) const noexcept {
    return wanted == before && is_unchanged();
  }
};

/// Of formats without a scale.
inline constexpr BlockState unscaled_block{1, 1, {ScaleArithmetic::exact, 1}, {ScaleArithmetic::exact, 1}};

}  // namespace halfulp
