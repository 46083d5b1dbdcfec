#pragma once
#include <cstdint>

#include "formats/platform.h"

namespace halfulp {

/// x rounded to an integer, ties to even, whatever the rounding mode of the machine; exact. NaN, infinities and numbers
/// from 2^62 on (integers already in float and double) stay as they are; what rounds to zero is +0.
template <class R>
HALFULP_HD constexpr R nearest_integer(R x) noexcept {
  if (!(x > R(-0x1p62)) || !(x < R(0x1p62))) return x;
  const auto toward_zero = static_cast<std::int64_t>(x);
  const R rest = x - R(toward_zero);  // exact: it has no more bits than x
  const bool odd = toward_zero % 2 != 0;
  if (rest > R(0.5) || (rest == R(0.5) && odd)) return R(toward_zero + 1);
  if (rest < R(-0.5) || (rest == R(-0.5) && odd)) return R(toward_zero - 1);
  return R(toward_zero);
}

}  // namespace halfulp
