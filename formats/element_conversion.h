#pragma once
#include "formats/element_lanes.h"

// The conversion of elements on numbers and lanes of any width: round, look whether the format has such a number, else
// take the outcome that overflow() has for it; and the codes of numbers both ways.
namespace halfulp {

/// x rounded to the precision of the format; NaN and infinities become magnitudes beyond its largest.
template <RoundingMode mode, class Real>
HALFULP_LANES constexpr Real round_element(const ElementLanes<Real>& e, Real x,
                                           typename Lane<Real>::Bits random) noexcept {
  return e.in_bits ? round_in_bits<mode>(x, e.fraction_bits, e.random_bits, random)
                   : round_number_to_grid<mode>(x, e.grid, e.random_bits, random);
}

/// Where a rounded number is what the format stores, whatever the conventions: nearly everywhere.
template <class Real>
HALFULP_LANES constexpr typename Lane<Real>::Mask is_regular(const ElementLanes<Real>& e,
                                                             Real rounded) noexcept {
  // Unsigned formats: with the sign bit left in it no negative number passes.
  const Real magnitude = e.is_signed ? real_of(bits_of(rounded) ^ sign_bit_of(rounded)) : rounded;
  const typename Lane<Real>::Mask below = magnitude <= e.largest.positive;
  return e.zeros_are_regular ? below : below & (magnitude >= e.smallest);
}

/// Whether all that rounds beyond the largest number becomes that number, on both sides of zero, and everything else but
/// infinities and NaN is regular: then a minimum serves for it, where overflow is usual.
template <class Real>
constexpr bool saturates_at_ends(const ElementLanes<Real>& e) noexcept {
  return e.is_signed && e.zeros_are_regular && e.largest.positive == e.largest.negative &&
         e.values.beyond.positive == e.largest.positive && e.values.beyond.negative == -e.largest.negative;
}

/// Whether all that rounds to zero becomes +0, as in two's complement: then adding +0 serves for it.
template <class Real>
constexpr bool zeros_become_positive(const ElementLanes<Real>& e) noexcept {
  const auto is_plain = [](const auto& values, const auto& codes) {
    return bits_of(values.positive) == 0 && bits_of(values.negative) == 0 && codes.positive == 0 &&
           codes.negative == 0;
  };
  return is_plain(e.values.zero, e.codes.zero) && is_plain(e.values.tiny, e.codes.tiny);
}

/// What a finite x becomes. The sign is that of x: of a quotient that overflowed the rounded number may have lost it.
/// in: saturates_at_ends()
template <class Real>
HALFULP_LANES constexpr Real saturated(const ElementLanes<Real>& e, Real x, Real rounded) noexcept {
  const Real magnitude = real_of(bits_of(rounded) ^ sign_bit_of(rounded));
  return real_of(bits_of(lane_min(magnitude, e.largest.positive)) | sign_bit_of(x));
}

/// What the others become: one of the outcomes, or `regular`.
/// in: outcomes of values or of codes; rounded as round_element() gave it for x
template <class Real, class T>
HALFULP_LANES constexpr T settle(const ElementLanes<Real>& e, const Outcomes<T>& outcomes, Real x,
                                 Real rounded, T regular) noexcept {
  using Bits = typename Lane<Real>::Bits;
  const Bits sign = sign_bit_of(x);
  const Real magnitude = real_of(bits_of(rounded) ^ sign_bit_of(rounded)),
             source = real_of(bits_of(x) ^ sign);
  const Real infinity = Real(std::numeric_limits<float>::infinity());
  const typename Lane<Real>::Mask positive = sign == Bits{0};
  const auto of = [&](const BySign<T>& each) { return select(positive, each.positive, each.negative); };
  T result = e.is_signed ? regular : select(positive, regular, outcomes.number.negative);
  result = select(magnitude < e.smallest, of(outcomes.tiny), result);
  result = select(source == Real{0}, of(outcomes.zero), result);
  result = select(magnitude > select(positive, e.largest.positive, e.largest.negative), of(outcomes.beyond),
                  result);
  result = select(source == infinity, of(outcomes.infinite), result);
  return select(x != x, of(outcomes.nan), result);
}

/// Code of a regular number.
template <class Real>
HALFULP_LANES constexpr typename Lane<Real>::Bits code_of(const ElementLanes<Real>& e, Real number) noexcept {
  using Bits = typename Lane<Real>::Bits;
  const Bits sign = sign_bit_of(number);
  const Real magnitude = real_of(static_cast<Bits>(bits_of(number) ^ sign));
  Bits code = (bits_of(magnitude) >> (Lane<Real>::fraction_bits - e.fraction_bits)) - e.rebias;
  if (!e.in_bits)
    code = select(magnitude < e.smallest_normal, bits_of(magnitude + e.code_anchor) - bits_of(e.code_anchor),
                  code);
  if (!e.is_signed) return code;
  if (e.is_fixed_point)
    return select(sign == Bits{0}, code, (e.code_count - code) & (e.code_count - Bits{1}));
  return code | (sign >> (Lane<Real>::bits - 1 - e.magnitude_bits));
}

/// Number of a code, as decode(); NaN is the quiet NaN with the code's sign.
/// in: code in [0, code_count())
template <class Real>
HALFULP_LANES constexpr Real number_of(const ElementLanes<Real>& e, typename Lane<Real>::Bits code) noexcept {
  using Bits = typename Lane<Real>::Bits;
  constexpr int F = Lane<Real>::fraction_bits;
  const Bits zero{0};
  Bits sign = zero, magnitude = code;
  if (e.is_signed) {
    sign = code >> e.magnitude_bits;  // 0 or 1
    magnitude = e.is_fixed_point ? select(sign == zero, code, e.code_count - code)
                                 : code ^ static_cast<Bits>(sign << e.magnitude_bits);
    sign = sign << (Lane<Real>::bits - 1);
  }
  Real number = real_of(static_cast<Bits>((magnitude + e.rebias) << (F - e.fraction_bits)));
  if (!e.in_bits) {
    Real subnormal = real_of(bits_of(e.code_anchor) + magnitude) - e.code_anchor;
    if (!e.has_subnormals) subnormal = Real{0};
    number = select(magnitude < e.subnormal_codes, subnormal, number);
  }
  const Real infinity = Real(std::numeric_limits<float>::infinity()),
             nan = Real(std::numeric_limits<float>::quiet_NaN());
  if (e.has_codes_above_top && !all_of(magnitude <= e.top_magnitude)) {
    number = select(magnitude == e.infinity_code, infinity, number);
    number = select(magnitude > e.nan_above, nan, number);
  }
  if (e.nan_is_negative_zero)
    number = select(code == e.nan_at, real_of(static_cast<Bits>(bits_of(nan) ^ sign)), number);
  return real_of(static_cast<Bits>(bits_of(number) ^ sign));
}

}  // namespace halfulp
