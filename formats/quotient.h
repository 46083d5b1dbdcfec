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
inline double quotient_to_odd(double x, double divisor) noexcept {
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

/// floor(log2 x), from the bits.
/// in: x > 0 and finite; subnormal doubles count as 2^-1023 (below every scale).
HALFULP_HD constexpr int floor_log2(double x) noexcept { return static_cast<int>(bits_of(x) >> 52) - 1023; }

/// ceil(log2(x / y)), exact for finite positive x and y whose ratio is a normal double: with e the difference
/// of the exponents, x / y lies in (2^(e-1), 2^(e+1)), and x <= y 2^k is decided by exact products.
inline int ceil_log2_ratio(double x, double y) noexcept {
  int k = floor_log2(x) - floor_log2(y) - 1;
  while (x > std::ldexp(y, k)) ++k;
  return k;
}

/// floor(log2(x / y)), as exact.
inline int floor_log2_ratio(double x, double y) noexcept {
  int k = floor_log2(x) - floor_log2(y) + 1;
  while (x < std::ldexp(y, k)) --k;
  return k;
}

/// log2(x / y) rounded to the nearest integer, exact for normal doubles: with significands p and q it is the difference
/// of the exponents, one more where p^2 > 2 q^2 and one less where 2 p^2 < q^2. Never a tie: sqrt 2 is irrational.
inline int nearest_log2_ratio(double x, double y) noexcept {
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
