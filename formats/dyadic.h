#pragma once
#include "formats/decode.h"
#include "formats/round.h"

namespace halfulp {

enum class NumberClass : std::uint8_t { finite, infinite, not_a_number };

/// significand * 2^exponent with a sign, or an infinity or NaN: holds every double and every number of every format,
/// those beyond double's range included (P3109's binary16p1 reaches from 2^-16383 to 2^16382).
struct Dyadic {
  NumberClass kind;
  bool negative;
  std::uint64_t significand;  ///< finite numbers: below 2^53
  int exponent;

  friend constexpr bool operator==(const Dyadic&, const Dyadic&) = default;
};

/// Exact.
HALFULP_HD constexpr Dyadic dyadic_of(double x) noexcept {
  const std::uint64_t bits = bits_of(x), fraction = bits & 0x000f'ffff'ffff'ffffu;
  const bool negative = sign_bit_of(x) != 0;
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  if (field == 0x7ff)
    return {fraction != 0 ? NumberClass::not_a_number : NumberClass::infinite, negative, 0, 0};
  if (field == 0) return {NumberClass::finite, negative, fraction, -1074};
  return {NumberClass::finite, negative, fraction | std::uint64_t{1} << 52, field - 1075};
}

/// Exponent of the leading bit.
/// in: x finite and not zero
HALFULP_HD constexpr int leading_exponent(const Dyadic& x) noexcept {
  return x.exponent + static_cast<int>(std::bit_width(x.significand)) - 1;
}

/// The double with this value.
/// in: a number that is one (at most 53 significant bits, between 2^-1074 and 2^1024); NaN and infinities as they are.
HALFULP_HD constexpr double double_of(const Dyadic& x) noexcept {
  const auto sign = [&](double magnitude) { return x.negative ? -magnitude : magnitude; };
  switch (x.kind) {
    case NumberClass::not_a_number:
      return sign(std::numeric_limits<double>::quiet_NaN());
    case NumberClass::infinite:
      return sign(std::numeric_limits<double>::infinity());
    case NumberClass::finite:
      break;
  }
  if (x.significand == 0) return sign(0.0);
  // Every factor but the last keeps the number normal, and the last product exists by the requirement.
  double value = static_cast<double>(x.significand);
  int left = x.exponent;
  for (; left < -1000; left += 500) value *= power_of_two(-500);
  for (; left > 1000; left -= 500) value *= power_of_two(500);
  return sign(value * power_of_two(left));
}

/// Number of a code, exact, in every format; a NaN's sign as decode() has it.
/// in: code in [0, code_count()); higher bits are ignored.
HALFULP_HD constexpr Dyadic decode_dyadic(const ScalarFormat& f, std::uint32_t code) noexcept {
  if (f.is_table()) return dyadic_of(decode(f, code));
  code &= static_cast<std::uint32_t>(f.code_count() - 1);
  const auto [negative, magnitude] = split_code(f, code);
  if (is_nan_code(f, code))
    return {NumberClass::not_a_number, negative && f.nan != NanEncoding::negative_zero, 0, 0};
  if (is_infinity_code(f, code)) return {NumberClass::infinite, negative, 0, 0};
  const std::uint32_t hidden = std::uint32_t{1} << f.fraction_bits, fraction = magnitude & (hidden - 1);
  if (f.has_zero && magnitude < hidden)
    return {NumberClass::finite, negative, f.has_subnormals ? fraction : 0u,
            f.min_exponent() - f.fraction_bits};
  return {NumberClass::finite, negative, hidden | fraction,
          static_cast<int>(magnitude >> f.fraction_bits) - f.bias - f.fraction_bits};
}

/// x rounded to the precision of f with unbounded exponent above, in integers: the same decisions as
/// round_to_grid(), for formats that are too wide for lanes and for random bits beyond a double's. NaN and infinities
/// come back as they are.
/// in: f no table; random in [0, 2^random_bits).
HALFULP_HD_RARE constexpr Dyadic round_dyadic(const Dyadic& x, const ScalarFormat& f, Rounding rounding,
                                              std::uint32_t random) noexcept {
  if (x.kind != NumberClass::finite || x.significand == 0) return x;
  const int leading = leading_exponent(x);
  const bool below = leading < f.min_exponent();
  const int step = below && f.has_zero && !f.has_subnormals
                       ? f.min_exponent()
                       : (below ? f.min_exponent() : leading) - f.fraction_bits;
  const int shift = step - x.exponent;
  if (shift <= 0) return x;  // a multiple of the step
  const auto guard = static_cast<std::uint64_t>(guard_bits(rounding.mode, rounding.random_bits));

  // floor(|x| 2^(g+1) / q) has at most fraction_bits + 1 + g + 1 <= 58 bits, and what it leaves is sticky.
  const int cut = shift - static_cast<int>(guard) - 1;
  std::uint64_t finer = cut >= 64 ? 0 : cut >= 0 ? x.significand >> cut : x.significand << -cut;
  const bool rest = cut >= 64 || (cut > 0 && (x.significand & ((std::uint64_t{1} << cut) - 1)) != 0);
  // Without fraction bits the integer is 1 in every binade: one step more where the code of 2^leading is even.
  const bool code_is_even = !below && f.fraction_bits == 0 && ((leading + f.bias) & 1) == 0;
  const std::uint64_t offset = code_is_even ? 1 : 0;
  finer += offset << (guard + 1);

  const std::uint64_t kept = with_mode(rounding.mode, [&]<RoundingMode mode>() {
    return decide_in_integers<mode>(finer, rest, x.negative, guard, random);
  });
  return {NumberClass::finite, x.negative, (kept >> guard) - offset, step};
}

}  // namespace halfulp
