#pragma once
#include "formats/encode.h"

namespace halfulp {

/// A number for each sign.
template <class T>
struct BySign {
  T positive, negative;
};

/// What a conversion makes of numbers that a format does not have: overflow(), asked once for each kind of them.
template <class T>
struct Outcomes {
  BySign<T> zero;    ///< of +-0
  BySign<T> tiny;    ///< of other numbers that round to zero or are flushed to it
  BySign<T> number;  ///< of a number, where its sign has none (the negative ones of unsigned formats)
  BySign<T> beyond;  ///< of finite numbers that round beyond the largest
  BySign<T> infinite;
  BySign<T> nan;
};

/// Everything that lanes need to know of a format under one rounding and one set of conventions. Lane-wise numbers of a
/// vector type are those of float or double in every lane: as<Vector>().
template <class Real>
struct ElementLanes {
  using Bits = typename Lane<Real>::Bits;

  Grid<Real> grid;
  BySign<Real> largest;  ///< beyond which a rounded magnitude overflows
  Real smallest;         ///< below which a rounded magnitude counts as zero
  Outcomes<Real> values;
  Outcomes<Bits> codes;

  // Of codes, as bits of a lane:
  Bits rebias;           ///< code of a normal magnitude: (its bits >> code_shift) - rebias
  Real smallest_normal;  ///< of smaller ones: the low bits of magnitude + code_anchor
  Real code_anchor;
  Bits code_count;       ///< of two's complement
  Bits top_magnitude;    ///< the code of the largest number
  Bits subnormal_codes;  ///< magnitude codes below it are subnormal
  Bits infinity_code;    ///< magnitude code, where there is one, else ~0
  Bits nan_at;           ///< the one code that is a NaN, or else ~0
  Bits nan_above;        ///< magnitude codes above it are NaN (~0: none)

  int fraction_bits, random_bits, magnitude_bits;
  bool in_bits;  ///< rounded by round_in_bits
  bool is_signed, is_fixed_point;
  bool zeros_are_regular;  ///< zeros come out right by rounding alone
  bool has_subnormals, has_codes_above_top, nan_is_negative_zero;

  /// The same in every lane of a vector.
  template <class Vector>
  HALFULP_HD constexpr ElementLanes<Vector> as() const noexcept;
};

/// Whether Real lanes serve a format: all but tables, formats beyond the lane's range, switches that change what is read,
/// and payloads of NaN.
template <class Real>
HALFULP_HD constexpr bool element_lanes_fit(const ScalarFormat& f, Rounding rounding,
                                            const SpecialValues& special) noexcept {
  const int guard = guard_bits(rounding.mode, rounding.random_bits);
  return !f.is_table() && f.has_zero && (lanes_fit<Real>(f, guard) || bits_fit<Real>(f, guard)) &&
         special.negative_zero != NegativeZero::drop_source &&
         special.subnormals != Subnormals::flush_sources &&
         (f.is_signed || special.negative_in_unsigned != NegativeInUnsigned::magnitude) &&
         (f.nan != NanEncoding::ieee || special.nan_payload != NanPayload::keep_top);
}

/// in: element_lanes_fit<Real>(f, rounding, special)
template <class Real>
HALFULP_HD constexpr ElementLanes<Real> make_element_lanes(const ScalarFormat& f, Rounding rounding,
                                                           const SpecialValues& special) noexcept {
  using Bits = typename Lane<Real>::Bits;
  constexpr int F = Lane<Real>::fraction_bits, bias = Lane<Real>::exponent_bias;
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   finite = std::numeric_limits<double>::max(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  constexpr Bits none = std::numeric_limits<Bits>::max();
  ElementLanes<Real> e{};
  e.in_bits = !lanes_fit<Real>(f, guard_bits(rounding.mode, rounding.random_bits));
  if (!e.in_bits) e.grid = make_grid<Real>(f);
  const bool flushes = special.subnormals == Subnormals::flush_results && !f.is_fixed_point;
  const double lowest = special.symmetric_fixed_point && f.is_fixed_point ? -f.max_finite() : f.lowest();
  e.largest = {static_cast<Real>(f.max_finite()), static_cast<Real>(f.is_signed ? -lowest : f.max_finite())};
  e.smallest = static_cast<Real>(flushes ? f.min_normal() : f.min_positive());

  const auto ask = [&](BySign<Real>& value, BySign<Bits>& code, double x, double rounded) {
    const auto one = [&](double from, double to, Real& v, Bits& c) {
      const double result = overflow(from, to, f, special, rounding.mode);
      v = static_cast<Real>(result);
      c = static_cast<Bits>(
          from != from && f.has_nan()
              ? converted_nan_code(f, special.nan_payload, from,
                                   sign_bit_of(from) != 0 && special.nan_sign == NanSign::keep)
              : encode(f, result));
    };
    one(x, rounded, value.positive, code.positive);
    one(-x, -rounded, value.negative, code.negative);
  };
  ask(e.values.zero, e.codes.zero, 0.0, 0.0);
  ask(e.values.tiny, e.codes.tiny, f.min_positive() / 8, 0.0);
  ask(e.values.number, e.codes.number, f.max_finite(), f.max_finite());
  ask(e.values.beyond, e.codes.beyond, finite, infinity);
  ask(e.values.infinite, e.codes.infinite, infinity, infinity);
  ask(e.values.nan, e.codes.nan, nan, nan);
  e.zeros_are_regular = f.is_signed && keeps_minus_zero(f, special) && !flushes;

  const auto exponent = [](int n) { return static_cast<Bits>(static_cast<Bits>(n) << F); };
  e.rebias = e.in_bits ? Bits{0} : static_cast<Bits>(bias - f.bias) << f.fraction_bits;
  const bool no_normals = f.is_fixed_point || f.max_exponent() < f.min_exponent();
  // In the lane's own bits a subnormal's code needs no anchor.
  e.smallest_normal = e.in_bits    ? Real{0}
                      : no_normals ? std::numeric_limits<Real>::infinity()
                                   : static_cast<Real>(f.min_normal());
  e.code_anchor = e.in_bits ? Real{0} : real_of(exponent(f.min_exponent() + F - f.fraction_bits + bias));
  e.code_count = static_cast<Bits>(f.code_count());
  e.top_magnitude = f.top_magnitude();
  e.subnormal_codes = e.in_bits    ? Bits{0}
                      : no_normals ? none >> 1
                                   : static_cast<Bits>(Bits{1} << f.fraction_bits);
  e.infinity_code = f.has_infinity() ? f.top_magnitude() + 1 : none;
  e.nan_at = f.nan == NanEncoding::negative_zero ? static_cast<Bits>(Bits{1} << f.magnitude_bits()) : none;
  e.nan_above = f.nan == NanEncoding::ieee || f.nan == NanEncoding::all_ones
                    ? f.top_magnitude() + (f.has_infinity() ? 1u : 0u)
                    : none >> 1;
  e.fraction_bits = f.fraction_bits;
  e.random_bits = rounding.random_bits;
  e.magnitude_bits = f.magnitude_bits();
  e.is_signed = f.is_signed;
  e.is_fixed_point = f.is_fixed_point;
  e.has_subnormals = f.has_subnormals;
  e.has_codes_above_top = f.has_infinity() || f.nan == NanEncoding::ieee || f.nan == NanEncoding::all_ones;
  e.nan_is_negative_zero = f.nan == NanEncoding::negative_zero;
  return e;
}

template <class Real>
template <class Vector>
HALFULP_LANES constexpr ElementLanes<Vector> ElementLanes<Real>::as() const noexcept {
  using Words = typename Lane<Vector>::Bits;
  const auto both = [](const BySign<Real>& x) {
    return BySign<Vector>{Vector(x.positive), Vector(x.negative)};
  };
  const auto both_codes = [](const BySign<Bits>& x) {
    return BySign<Words>{Words(x.positive), Words(x.negative)};
  };
  return {{Words(grid.smallest_binade), Words(grid.largest_binade), Words(grid.step_to_anchor),
           Words(grid.flush_to_anchor), Vector(grid.beyond), Words(grid.even_binade), grid.flushes,
           grid.parity_in_exponent},
          both(largest),
          Vector(smallest),
          {both(values.zero), both(values.tiny), both(values.number), both(values.beyond),
           both(values.infinite), both(values.nan)},
          {both_codes(codes.zero), both_codes(codes.tiny), both_codes(codes.number), both_codes(codes.beyond),
           both_codes(codes.infinite), both_codes(codes.nan)},
          Words(rebias),
          Vector(smallest_normal),
          Vector(code_anchor),
          Words(code_count),
          Words(top_magnitude),
          Words(subnormal_codes),
          Words(infinity_code),
          Words(nan_at),
          Words(nan_above),
          fraction_bits,
          random_bits,
          magnitude_bits,
          in_bits,
          is_signed,
          is_fixed_point,
          zeros_are_regular,
          has_subnormals,
          has_codes_above_top,
          nan_is_negative_zero};
}

}  // namespace halfulp
