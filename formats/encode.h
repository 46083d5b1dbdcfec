#pragma once
#include "formats/overflow.h"
#include "formats/round_once.h"

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

/// The NaN code of a converted NaN x, with the sign asked for.
/// in: x a NaN
HALFULP_HD constexpr std::uint32_t converted_nan_code(const ScalarFormat& f, NanPayload payload, double x,
                                                      bool negative) noexcept {
  if (f.nan != NanEncoding::ieee) return nan_code(f, negative);
  switch (payload) {
    case NanPayload::canonical:
      return nan_code(f, negative);
    case NanPayload::keep_top: {
      const std::uint64_t top = (bits_of(x) & 0x000f'ffff'ffff'ffffu) >> (52 - f.fraction_bits);
      return nan_code(f, negative) | static_cast<std::uint32_t>(top);
    }
    case NanPayload::all_ones:
      return nan_code(f, negative) | ((std::uint32_t{1} << f.fraction_bits) - 1);
  }
  return nan_code(f, negative);
}

/// Position of a value in a table.
/// in: value one of its numbers, +-0 included
HALFULP_HD constexpr std::uint32_t table_code(const ScalarFormat& f, double value) noexcept {
  std::uint32_t low = 0, high = f.table_size;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (f.table[middle] <= value ? low : high) = middle;
  }
  return low;
}

/// Magnitude code of a rounded number, also where double cannot hold it; top_magnitude() + 2 for whatever lies further
/// out.
/// in: x finite, a multiple of the step at x.
HALFULP_HD constexpr std::uint64_t magnitude_code(const ScalarFormat& f, const Dyadic& x) noexcept {
  if (x.significand == 0) return 0;
  const int leading = leading_exponent(x);
  const auto shifted = [](std::uint64_t n, int by) { return by >= 0 ? n << by : n >> -by; };  // exact here
  if (leading > f.max_exponent() + 1) return f.top_magnitude() + 2;
  if (leading < f.min_exponent())
    return shifted(x.significand, x.exponent - (f.min_exponent() - f.fraction_bits));
  const std::uint64_t significand = shifted(x.significand, x.exponent - (leading - f.fraction_bits));
  return (static_cast<std::uint64_t>(leading + f.bias - 1) << f.fraction_bits) + significand;
}

/// Magnitude code of a positive finite value of f: its exponent field rebased, or its number of subnormal
/// steps.
HALFULP_HD constexpr std::uint32_t magnitude_code(const ScalarFormat& f, double value) noexcept {
  const std::uint64_t bits = bits_of(value);
  const int exponent = static_cast<int>(bits >> 52) - 1023;
  const int shift = 52 - f.fraction_bits;
  // At the ends of double's range a normal number of f may be a subnormal double, or the anchor below no double.
  if (f.min_exponent() < -1022 || f.min_exponent() + shift > 1023)
    return static_cast<std::uint32_t>(magnitude_code(f, dyadic_of(value)));
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
/// in: v a value of f, an infinity f has, or a NaN; f.has_double_view().
/// errors: none.
HALFULP_HD constexpr std::uint32_t encode(const ScalarFormat& f, double value) noexcept {
  if (f.is_table()) return table_code(f, value);
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

/// Code of x in f, one rounding, in integers: for every format that is no table, those beyond double's range included.
/// in:     random in [0, 2^rounding.random_bits), used by the stochastic modes alone.
/// errors: none (total function).
HALFULP_HD_RARE constexpr std::uint32_t convert_dyadic(Dyadic x, const ScalarFormat& f, Rounding rounding,
                                                       const SpecialValues& special,
                                                       std::uint32_t random) noexcept {
  const std::uint32_t sign = f.is_signed ? std::uint32_t{1} << f.magnitude_bits() : 0;
  const auto nan = [&](bool negative) {
    if (f.has_nan()) return nan_code(f, negative && f.is_signed);
    const bool minus = negative && f.is_signed;
    switch (special.nan_without_code) {
      case NanWithoutCode::max_finite_signed:
      case NanWithoutCode::max_finite_positive:
        return f.top_magnitude() |
               (minus && special.nan_without_code == NanWithoutCode::max_finite_signed ? sign : 0);
      case NanWithoutCode::zero:
        return 0u;
      case NanWithoutCode::negative_zero:
        return keeps_minus_zero(f, special) ? sign : 0u;
    }
    return 0u;
  };
  if (x.kind == NumberClass::not_a_number) return nan(x.negative && special.nan_sign == NanSign::keep);
  // As source_of().
  if (!f.is_signed && special.negative_in_unsigned == NegativeInUnsigned::magnitude) x.negative = false;
  const auto is_zero = [&] { return x.kind == NumberClass::finite && x.significand == 0; };
  if (special.subnormals == Subnormals::flush_sources && x.kind == NumberClass::finite && !is_zero() &&
      leading_exponent(x) < -126)
    x.significand = 0;
  if (is_zero() && special.negative_zero == NegativeZero::drop_source) x.negative = false;

  const bool infinite = x.kind == NumberClass::infinite;
  const Dyadic rounded = round_dyadic(x, f, rounding, random);
  // Fixed point reaches one step further below zero; its codes are two's complement.
  const std::uint64_t largest =
      f.top_magnitude() + (f.is_fixed_point && x.negative && !special.symmetric_fixed_point ? 1u : 0u);
  const std::uint64_t magnitude = infinite ? largest + 1 : magnitude_code(f, rounded);
  // Without a zero, code 0 is a number, and what rounds to zero lies below it.
  const bool at_zero = !infinite && rounded.significand == 0;
  const bool flushed = special.subnormals == Subnormals::flush_results && f.has_zero && !f.is_fixed_point &&
                       !infinite && !at_zero && leading_exponent(rounded) < f.min_exponent();
  const Place place = magnitude > largest ? Place::beyond : at_zero || flushed ? Place::zero : Place::number;
  const auto with_sign = [&](std::uint64_t code) {
    const auto bits = static_cast<std::uint32_t>(code);
    if (!x.negative || !f.is_signed) return bits;
    return f.is_fixed_point ? (2 * sign - bits) & (2 * sign - 1) : sign | bits;
  };
  switch (outcome(f, special, rounding.mode, x.negative, infinite, is_zero(), place)) {
    case Outcome::number:
      return with_sign(magnitude);
    case Outcome::zero:
      return x.negative && keeps_minus_zero(f, special) && !f.is_fixed_point ? sign : 0u;
    case Outcome::smallest:
      return 0u;  // no zero: the first code
    case Outcome::largest:
      return with_sign(largest);
    case Outcome::infinity:
      return with_sign(f.top_magnitude() + 1);
    case Outcome::nan:
      return nan(x.negative);
  }
  return 0;
}

/// Code of x in f: encode(overflow(round(x))), one rounding from double (a float converts exactly).
/// in:     random in [0, 2^rounding.random_bits), used by the stochastic modes alone.
/// errors: none (total function).
HALFULP_HD constexpr std::uint32_t convert(double x, const ScalarFormat& f, Rounding rounding,
                                           const SpecialValues& special, std::uint32_t random) noexcept {
  if (x != x && f.has_nan()) {
    const bool negative = sign_bit_of(x) != 0 && special.nan_sign == NanSign::keep;
    return converted_nan_code(f, special.nan_payload, x, negative);
  }
  if (!f.has_double_view()) return convert_dyadic(dyadic_of(x), f, rounding, special, random);
  const double source = source_of(x, f, special);
  return encode(f, overflow(source, round(source, f, rounding, random), f, special, rounding.mode));
}

}  // namespace halfulp
