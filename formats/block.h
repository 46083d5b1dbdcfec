#pragma once
#include <cmath>

#include "formats/block_format.h"
#include "formats/converter.h"

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

/// Nearest representable E8M0 code of 2^exponent, saturating at both ends.
HALFULP_HD constexpr std::uint32_t power_of_two_code(const ScalarFormat& scale, int exponent) noexcept {
  const int clamped = exponent < scale.min_exponent()   ? scale.min_exponent()
                      : exponent > scale.max_exponent() ? scale.max_exponent()
                                                        : exponent;
  return magnitude_code(scale, power_of_two(clamped));
}

/// The fp32 tensor scale of NVFP4-like formats: amax over (largest element * largest scale), a decode
/// multiplier; 1 for a tensor of zeros. A tensor with a NaN or an infinity gets NaN.
inline float choose_tensor_scale(const BlockFormat& f, double amax) noexcept {
  if (!f.tensor_scale || amax == 0) return 1.0f;
  if (!(amax < std::numeric_limits<double>::infinity())) return std::numeric_limits<float>::quiet_NaN();
  const double quotient = quotient_to_odd(amax, f.element.max_finite() * f.scale.max_finite());
  // Rounding to odd first makes this conversion the single rounding of the exact quotient.
  return static_cast<float>(std::fmin(quotient, std::numeric_limits<float>::max()));
}

/// Scale code of a block with this amax.
/// in:     amax >= 0, an infinity or NaN if the block holds one: the whole block is then poisoned (scale
/// NaN).
/// errors: none.
inline std::uint32_t choose_scale(const BlockFormat& f, double amax, float tensor_scale) noexcept {
  if (!(amax < std::numeric_limits<double>::infinity())) return nan_code(f.scale, false);
  const double largest = f.element.max_finite();
  switch (f.rule) {
    case ScaleRule::none:
      return 0;
    case ScaleRule::ocp_floor:
      return amax == 0 ? 0 : power_of_two_code(f.scale, floor_log2(amax) - f.element.max_exponent());
    case ScaleRule::rceil:
      return floor_log2(amax) < -1000 ? 0 : power_of_two_code(f.scale, ceil_log2_ratio(amax, largest));
    case ScaleRule::amax: {
      // largest * tensor_scale is exact: at most 4 + 24 bits.
      if (amax == 0 && !f.tensor_scale) return encode(f.scale, 1.0);
      return convert(quotient_to_odd(amax, largest * tensor_scale), f.scale, nearest_even,
                     special_values(OverflowPolicy::saturate), 0);
    }
  }
  return 0;
}

/// The multiplier that elements of a block are divided by: scale * tensor scale, exact in double.
HALFULP_HD constexpr double scale_value(const BlockFormat& f, std::uint32_t scale_code,
                                        float tensor_scale) noexcept {
  if (!f.has_scale()) return 1.0;
  const double scale = decode(f.scale, scale_code);
  return f.tensor_scale ? scale * tensor_scale : scale;
}

/// What of x is rounded to an element: the exact quotient x / multiplier, to odd. A multiplier of zero (an underflowed
/// scale) leaves only the sign; NaN makes NaN.
inline double quotient_in_block(double x, double multiplier) noexcept {
  if (multiplier == 0) return x != x ? x : std::copysign(0.0, x);
  return quotient_to_odd(x, multiplier);
}

/// Element value of x in a block: the exact quotient rounded once; x itself rounded without a scale.
inline double element_in_block(double x, bool has_scale, double multiplier, const Converter& convert,
                               std::uint32_t random) noexcept {
  return convert.value(has_scale ? quotient_in_block(x, multiplier) : x, random);
}

/// Element code of x in a block, as element_in_block.
inline std::uint32_t convert_in_block(double x, const BlockFormat& f, double multiplier, Rounding rounding,
                                      const SpecialValues& special, std::uint32_t random) noexcept {
  const Converter converter(f.element, rounding, special);
  return encode(f.element, element_in_block(x, f.has_scale(), multiplier, converter, random));
}

/// Value of an element code in a block: fl32((q * s) * t). q * s is exact in double; the product with t has
/// at most 4 + 4 + 24 bits, exact as well, so one rounding to fp32 remains. Without a scale the element's
/// value.
HALFULP_HD constexpr double decode_in_block(const BlockFormat& f, std::uint32_t code,
                                            std::uint32_t scale_code, float tensor_scale) noexcept {
  const double element = decode(f.element, code);
  if (!f.has_scale()) return element;
  return static_cast<float>(element * scale_value(f, scale_code, tensor_scale));
}

}  // namespace halfulp
