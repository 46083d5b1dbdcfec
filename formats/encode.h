#pragma once
#include "formats/decode.h"
#include "formats/overflow.h"

namespace halfulp {

/// The canonical NaN code: quiet (top fraction bit) in IEEE-like formats, with the sign asked for.
HALFULP_HD constexpr std::uint32_t nan_code(const ScalarFormat& f, bool negative) noexcept {
  const std::uint32_t sign = f.is_signed && negative ? std::uint32_t{1} << f.magnitude_bits() : 0;
  switch (f.nan) {
    case NanEncoding::none:
      return sign | f.top_magnitude();
    case NanEncoding::ieee:
      return sign | (f.top_magnitude() + 1) |
             (std::uint32_t{1} << (f.fraction_bits > 0 ? f.fraction_bits - 1 : 0));
    case NanEncoding::all_ones:
      return sign | static_cast<std::uint32_t>((std::uint64_t{1} << f.magnitude_bits()) - 1);
    case NanEncoding::negative_zero:
      return std::uint32_t{1} << f.magnitude_bits();
  }
  return 0;
}

/// Magnitude code of a positive finite value of f: its exponent field rebased, or its number of subnormal
/// steps.
HALFULP_HD constexpr std::uint32_t magnitude_code(const ScalarFormat& f, double value) noexcept {
  const std::uint64_t bits = bits_of(value);
  const int exponent = static_cast<int>(bits >> 52) - 1023;
  const int shift = 52 - f.fraction_bits;
  // Below the smallest normal the value is an integer number of steps: added to 2^52 steps, the low bits hold
  // it.
  if (exponent < f.min_exponent()) {
    const double anchor = power_of_two(f.min_exponent() + shift);
    return static_cast<std::uint32_t>(bits_of(value + anchor) - bits_of(anchor));
  }
  const std::uint64_t rebased =
      (bits >> shift) - (static_cast<std::uint64_t>(1023 - f.bias) << f.fraction_bits);
  return static_cast<std::uint32_t>(rebased);
}

/// Code of a value of f, as overflow() returns it; decode(encode(v)) is v.
/// in: v a value of f, an infinity f has, or a NaN.
/// errors: none.
HALFULP_HD constexpr std::uint32_t encode(const ScalarFormat& f, double value) noexcept {
  const bool negative = sign_bit_of(value) != 0;
  if (value != value) return nan_code(f, negative);
  const double magnitude = negative ? -value : value;
  const bool infinite = magnitude == std::numeric_limits<double>::infinity();
  const std::uint32_t code = infinite         ? f.top_magnitude() + 1
                             : magnitude == 0 ? 0
                                              : magnitude_code(f, magnitude);
  if (!negative || !f.is_signed) return code;
  const std::uint32_t sign = std::uint32_t{1} << f.magnitude_bits();
  return f.is_fixed_point ? (2 * sign - code) & (2 * sign - 1) : sign | code;
}

/// Code of x in f: encode(overflow(round(x))), one rounding from double (a float converts exactly).
/// in:     random in [0, 2^rounding.random_bits), used by the stochastic modes alone.
/// errors: none (total function).
HALFULP_HD constexpr std::uint32_t convert(double x, const ScalarFormat& f, Rounding rounding,
                                           const SpecialValues& special, std::uint32_t random) noexcept {
  return encode(f, overflow(x, round(x, f, rounding, random), f, special, rounding.mode));
}

}  // namespace halfulp
