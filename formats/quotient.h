#pragma once
#include <cmath>
#include <limits>

#include "formats/lane.h"
#include "formats/scalar_format.h"

namespace halfulp {

/// x / divisor rounded to odd in double: toward zero, with the last bit set if inexact. A later rounding to
/// at most 51 bits then gives what rounding the exact quotient would give, in every mode: an odd last bit
/// below the guard bits is sticky and lies on no midpoint and on no grid point.
/// in: divisor > 0 or NaN.
/// errors: none.
HALFULP_HD inline double quotient_to_odd(double x, double divisor) noexcept {
  if (x == 0) return divisor != divisor ? divisor : x;  // 0 / 0 would be a NaN that no element has
  const double nearest = x / divisor;
  const double magnitude = std::fabs(nearest);
  if (x != x || divisor != divisor || std::isinf(x)) return nearest;
  // Finite over finite, but beyond the range where the remainder is exact: any value far outside every
  // format.
  if (divisor == 0 || magnitude > 0x1p1000) return std::copysign(0x1p1000, x);
  if (magnitude < 0x1p-700) return std::copysign(0x1p-700, x);
  // Division by a power of two is exact, here as always where no remainder is left.
  if ((bits_of(divisor) & 0x000f'ffff'ffff'ffffu) == 0) return nearest;
  const double remainder = std::fma(-magnitude, divisor, std::fabs(x));  // exact: |x| - magnitude * divisor
  if (remainder == 0) return nearest;
  const std::uint64_t truncated = bits_of(magnitude) - (remainder < 0 ? 1 : 0);
  return std::copysign(real_of(truncated | 1), x);
}

/// A divisor for lanes: high + low is exact, |low| within half an ulp of high, inverse = 1 / high rounded.
template <class Real>
struct LaneDivisor {
  Real high, low, inverse;
};

/// x / divisor rounded to odd, on lanes, for x >= 0: what a later rounding to at most F - 1 bits decides from, guard bits
/// included (F + 1 bits in all, of which the last is sticky).
///
/// The quotient q after one correction is within (1/2 + 2^-20) ulp of x / divisor. Decisions are made at numbers of at
/// most F bits, which are even as numbers of F + 1 bits. If q is such a number, x - q high needs at most F + 1 bits and
/// the remainder's sign is exact: below, at, or above. If it is not, an odd last bit is on its side of every such
/// number either way, since q is less than one ulp off. An overflow leaves NaN or infinity, an underflow something
/// below every decision, but zero only for x = 0.
/// in: 2^-60 <= divisor <= 2^60
template <class Real>
HALFULP_LANES inline Real lane_quotient_to_odd(Real x, const LaneDivisor<Real>& divisor) noexcept {
  using std::fma;
  using Bits = typename Lane<Real>::Bits;
  const auto remainder = [&](Real q) { return fma(-q, divisor.low, fma(-q, divisor.high, x)); };
  const Real first = x * divisor.inverse;
  const Real q = fma(remainder(first), divisor.inverse, first);
  const Real rest = remainder(q);
  const Bits truncated = bits_of(q) - select(rest < Real{0}, Bits{1}, Bits{0});
  return real_of(select(rest == Real{0}, bits_of(q), truncated | Bits{1}));
}

/// floor(log2 x), from the bits.
/// in: x > 0 and finite; subnormal doubles count as 2^-1023 (below every scale).
HALFULP_HD constexpr int floor_log2(double x) noexcept { return static_cast<int>(bits_of(x) >> 52) - 1023; }

/// Whether the significand of x is above that of y.
/// in: normal positive doubles
HALFULP_HD constexpr bool is_significand_above(double x, double y) noexcept {
  constexpr std::uint64_t fraction = 0x000f'ffff'ffff'ffffu;
  return (bits_of(x) & fraction) > (bits_of(y) & fraction);
}

/// ceil(log2(x / y)), exact for finite positive x and y that are normal doubles: with significands p and q and d the
/// difference of the exponents, x / y = 2^d p / q, and p / q lies in (1/2, 1] or in (1, 2).
HALFULP_HD constexpr int ceil_log2_ratio(double x, double y) noexcept {
  return floor_log2(x) - floor_log2(y) + (is_significand_above(x, y) ? 1 : 0);
}

/// floor(log2(x / y)), as exact.
HALFULP_HD constexpr int floor_log2_ratio(double x, double y) noexcept {
  return floor_log2(x) - floor_log2(y) - (is_significand_above(y, x) ? 1 : 0);
}

/// log2(x / y) rounded to the nearest integer, exact for normal doubles: with significands p and q it is the difference
/// of the exponents, one more where p^2 > 2 q^2 and one less where 2 p^2 < q^2. Never a tie: sqrt 2 is irrational.
HALFULP_HD inline int nearest_log2_ratio(double x, double y) noexcept {
  const auto significand = [](double v) { return std::ldexp(v, -floor_log2(v)); };
  // A product and its rounding error are the product: compared as the pair, the higher part first.
  const auto is_below = [](double a, double b) {  // 2 a^2 < b^2
    const double left = 2 * a * a, right = b * b;
    return left != right ? left < right : 2 * std::fma(a, a, -a * a) < std::fma(b, b, -right);
  };
  const double p = significand(x), q = significand(y);
  return floor_log2(x) - floor_log2(y) + (is_below(q, p) ? 1 : is_below(p, q) ? -1 : 0);
}

}  // namespace halfulp
