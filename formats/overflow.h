#pragma once
#include <array>
#include <limits>
#include <string_view>

#include "formats/lane.h"
#include "formats/rounding.h"
#include "formats/scalar_format.h"

namespace halfulp {

/// What becomes of infinities and of numbers that round beyond the largest finite one.
enum class OverflowPolicy : std::uint8_t {
  saturate,  ///< both to max finite
  ieee,      ///< overflow to Inf, else NaN, else max; modes that point inward, and odd, stop at max finite
  ocp,       ///< to Inf, else NaN, else max, in every mode (OFP8 non-saturating)
  p3109_finite,     ///< P3109 SatFinite: everything into [lowest, max finite], negatives of unsigned to 0
  p3109_propagate,  ///< P3109 SatPropagate: the same, but Inf stays where it exists
  p3109_none,       ///< P3109 SatNone: extended formats as the mode points, finite formats to max finite
  onnx,             ///< ONNX Cast, saturate = 1: max finite, but Inf to NaN in FNUZ formats
};

/// What a NaN becomes in a format without a NaN code.
enum class NanWithoutCode : std::uint8_t { max_finite_signed, max_finite_positive, zero, negative_zero };

/// What becomes of the sign of a NaN that is converted. A NaN made by overflow has the number's sign in any case.
enum class NanSign : std::uint8_t { keep, drop };

/// What becomes of the payload of a NaN in formats with more than one NaN code: the quiet bit alone; its top bits kept;
/// all ones (CUDA's FP8 conversions from float).
enum class NanPayload : std::uint8_t { canonical, keep_top, all_ones };

/// What becomes of -0, the number itself and what rounds to it.
enum class NegativeZero : std::uint8_t {
  keep,         ///< where the format has it
  drop_source,  ///< a source of -0 is +0; negative numbers still underflow to -0
  drop,
};

/// Flushing of subnormal numbers, as hardware modes do it.
enum class Subnormals : std::uint8_t {
  keep,
  flush_results,  ///< a rounded floating-point number below the smallest normal one becomes zero of its sign
  flush_sources,  ///< a source below 2^-126 (an fp32 subnormal) becomes zero of its sign
};

/// What zero becomes in a format without one (E8M0), and what tiny numbers that round to zero become there.
enum class ZeroWithoutCode : std::uint8_t { smallest, nan };

/// What a negative number becomes in an unsigned format; P3109's finite and propagate clamp it to 0 in any case.
enum class NegativeInUnsigned : std::uint8_t {
  nan,
  zero,       ///< or the smallest number, or what ZeroWithoutCode says
  magnitude,  ///< its sign is ignored
};

/// Everything that a conversion decides about values that a format does not have.
struct SpecialValues {
  OverflowPolicy overflow;
  NanWithoutCode nan_without_code = NanWithoutCode::max_finite_signed;
  NanSign nan_sign = NanSign::keep;
  bool symmetric_fixed_point = false;  ///< two's complement: whether the lowest code (-128) is avoided
  NanPayload nan_payload = NanPayload::canonical;
  NegativeZero negative_zero = NegativeZero::keep;
  Subnormals subnormals = Subnormals::keep;
  ZeroWithoutCode zero_without_code = ZeroWithoutCode::smallest;
  NegativeInUnsigned negative_in_unsigned = NegativeInUnsigned::nan;

  friend constexpr bool operator==(const SpecialValues&, const SpecialValues&) = default;
};

/// The conventions this library uses where nothing else is asked: NaN to signed max finite where there is no
/// code, its sign kept, -128 allowed, -0 and subnormals kept, zero without a code to the smallest number, negatives of
/// unsigned formats to NaN.
HALFULP_HD constexpr SpecialValues special_values(OverflowPolicy overflow) noexcept { return {overflow}; }

struct NamedOverflowPolicy {
  std::string_view name;
  OverflowPolicy policy;
};

inline constexpr std::array all_overflow_policies{
    NamedOverflowPolicy{"saturate", OverflowPolicy::saturate},
    NamedOverflowPolicy{"ieee", OverflowPolicy::ieee},
    NamedOverflowPolicy{"ocp", OverflowPolicy::ocp},
    NamedOverflowPolicy{"p3109_finite", OverflowPolicy::p3109_finite},
    NamedOverflowPolicy{"p3109_propagate", OverflowPolicy::p3109_propagate},
    NamedOverflowPolicy{"p3109_none", OverflowPolicy::p3109_none},
    NamedOverflowPolicy{"onnx", OverflowPolicy::onnx},
};

/// errors: throws Error naming the policies.
OverflowPolicy parse_overflow(std::string_view text);
std::string_view to_string(OverflowPolicy policy) noexcept;

/// Whether a mode, asked to round a finite number of this sign beyond max finite, stops at max finite.
HALFULP_HD constexpr bool points_inward(RoundingMode mode, bool negative) noexcept {
  return mode == RoundingMode::toward_zero || (mode == RoundingMode::up && negative) ||
         (mode == RoundingMode::down && !negative);
}

/// What a conversion returns instead of, or as, a number of the format.
enum class Outcome : std::uint8_t { number, zero, smallest, largest, infinity, nan };

/// Where the rounded magnitude stands: at 0, at a number of the format, or beyond its largest of that sign.
enum class Place : std::uint8_t { zero, number, beyond };

/// Outcome for a magnitude beyond the largest number.
HALFULP_HD constexpr Outcome outcome_beyond(const ScalarFormat& f, OverflowPolicy policy, RoundingMode mode,
                                            bool negative, bool was_infinite) noexcept {
  const Outcome beyond = f.has_infinity() ? Outcome::infinity : f.has_nan() ? Outcome::nan : Outcome::largest;
  const bool inward = !was_infinite && points_inward(mode, negative);
  switch (policy) {
    case OverflowPolicy::saturate:
    case OverflowPolicy::p3109_finite:
      return Outcome::largest;
    case OverflowPolicy::ieee:
      return inward || (!was_infinite && mode == RoundingMode::odd) ? Outcome::largest : beyond;
    case OverflowPolicy::ocp:
      return beyond;
    case OverflowPolicy::p3109_propagate:
      return was_infinite && f.has_infinity() ? Outcome::infinity : Outcome::largest;
    case OverflowPolicy::p3109_none: {
      // To odd, the neighbour with the odd code wins: Inf in signed formats (2^(K-1) - 1), max finite in
      // unsigned ones (2^K - 3, beside Inf = 2^K - 2).
      const bool odd_stops = !was_infinite && mode == RoundingMode::odd && !f.is_signed;
      return !f.has_infinity() || inward || odd_stops ? Outcome::largest : Outcome::infinity;
    }
    case OverflowPolicy::onnx:
      return was_infinite && f.nan == NanEncoding::negative_zero && !f.has_infinity() ? Outcome::nan
                                                                                      : Outcome::largest;
  }
  return Outcome::largest;
}

/// Outcome for zero, exact or by underflow.
HALFULP_HD constexpr Outcome outcome_at_zero(const ScalarFormat& f, const SpecialValues& special) noexcept {
  if (f.has_zero) return Outcome::zero;
  return special.zero_without_code == ZeroWithoutCode::nan ? Outcome::nan : Outcome::smallest;
}

/// The one judgement over everything a format does not have, for numbers of every kind (double, Dyadic).
/// in: source no NaN; negative: its sign bit; source_is_zero: it was +-0; place of the rounded magnitude.
HALFULP_HD constexpr Outcome outcome(const ScalarFormat& f, const SpecialValues& special, RoundingMode mode,
                                     bool negative, bool was_infinite, bool source_is_zero,
                                     Place place) noexcept {
  if (!f.is_signed && negative && !(f.has_zero ? place == Place::zero : source_is_zero)) {
    const bool clamps = special.overflow == OverflowPolicy::p3109_finite ||
                        special.overflow == OverflowPolicy::p3109_propagate;
    if (clamps || special.negative_in_unsigned == NegativeInUnsigned::zero)
      return outcome_at_zero(f, special);
    return Outcome::nan;
  }
  switch (place) {
    case Place::zero:
      return outcome_at_zero(f, special);
    case Place::number:
      return Outcome::number;
    case Place::beyond:
      return outcome_beyond(f, special.overflow, mode, negative, was_infinite);
  }
  return Outcome::number;
}

/// Whether a zero keeps its minus sign.
HALFULP_HD constexpr bool keeps_minus_zero(const ScalarFormat& f, const SpecialValues& special) noexcept {
  return f.is_signed && f.has_negative_zero && !f.is_table() && special.negative_zero != NegativeZero::drop;
}

/// The value that stands for a NaN: a NaN where the format has one.
HALFULP_HD constexpr double nan_value(const ScalarFormat& f, const SpecialValues& special,
                                      bool negative) noexcept {
  const bool minus = negative && f.is_signed;
  if (f.is_table()) {
    if (special.nan_without_code == NanWithoutCode::max_finite_signed && minus) return f.lowest();
    const bool to_zero = special.nan_without_code == NanWithoutCode::zero ||
                         special.nan_without_code == NanWithoutCode::negative_zero;
    return !to_zero ? f.max_finite() : f.has_zero ? 0.0 : f.min_positive();
  }
  if (f.has_nan()) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return minus && f.nan != NanEncoding::negative_zero ? -nan : nan;
  }
  switch (special.nan_without_code) {
    case NanWithoutCode::max_finite_signed:
      return minus ? -f.max_finite() : f.max_finite();
    case NanWithoutCode::max_finite_positive:
      return f.max_finite();
    case NanWithoutCode::zero:
      return 0.0;
    case NanWithoutCode::negative_zero:
      return keeps_minus_zero(f, special) ? -0.0 : 0.0;
  }
  return 0.0;
}

/// What a conversion reads where x is written: sign, -0 and fp32 subnormals as the conventions have it.
HALFULP_HD constexpr double source_of(double x, const ScalarFormat& f,
                                      const SpecialValues& special) noexcept {
  if (!f.is_signed && special.negative_in_unsigned == NegativeInUnsigned::magnitude)
    x = real_of(bits_of(x) ^ sign_bit_of(x));
  const double magnitude = x < 0 ? -x : x;
  if (special.subnormals == Subnormals::flush_sources && magnitude < 0x1p-126)
    x = sign_bit_of(x) != 0 ? -0.0 : 0.0;
  if (special.negative_zero == NegativeZero::drop_source && x == 0) x = 0.0;
  return x;
}

/// The value of format f that `rounded` (source_of(x) rounded to f's precision) becomes: a finite value of f, an
/// infinity or a NaN, always one that f has a code for; -0 only where f has it. A table has nothing beyond its ends:
/// there every policy saturates.
/// in: f.has_double_view()
HALFULP_HD_RARE constexpr double overflow(double x, double rounded, const ScalarFormat& f,
                                          const SpecialValues& special, RoundingMode mode) noexcept {
  const bool negative = sign_bit_of(x) != 0;
  if (x != x) return nan_value(f, special, negative && special.nan_sign == NanSign::keep);
  if (f.is_table()) return lane_max(lane_min(rounded == 0 ? 0.0 : rounded, f.max_finite()), f.lowest());
  const double infinity = std::numeric_limits<double>::infinity();
  const double magnitude = sign_bit_of(rounded) != 0 ? -rounded : rounded;
  const double lower_end = special.symmetric_fixed_point && f.is_fixed_point ? -f.max_finite() : f.lowest();
  const double largest = negative && f.is_signed ? -lower_end : f.max_finite();
  const bool flushed = special.subnormals == Subnormals::flush_results && !f.is_fixed_point && f.has_zero &&
                       magnitude < f.min_normal();
  const Place place = magnitude > largest         ? Place::beyond
                      : magnitude == 0 || flushed ? Place::zero
                                                  : Place::number;
  switch (outcome(f, special, mode, negative, x == infinity || x == -infinity, x == 0, place)) {
    case Outcome::number:
      return rounded;
    case Outcome::zero:
      return negative && keeps_minus_zero(f, special) ? -0.0 : 0.0;
    case Outcome::smallest:
      return f.min_positive();
    case Outcome::largest:
      return negative ? -largest : largest;
    case Outcome::infinity:
      return negative ? -infinity : infinity;
    case Outcome::nan:
      return nan_value(f, special, negative && f.is_signed);
  }
  return rounded;
}

}  // namespace halfulp
