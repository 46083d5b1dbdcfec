#pragma once
#include <array>
#include <limits>
#include <string_view>

#include "formats/round.h"

namespace halfulp {

/// What becomes of infinities and of numbers that round beyond the largest finite one.
enum class OverflowPolicy : std::uint8_t {
  saturate,  ///< both to max finite
  ieee,      ///< overflow to Inf, else NaN, else max; modes that point inward, and odd, stop at max finite
  ocp,       ///< to Inf, else NaN, else max, in every mode (OFP8 non-saturating)
  p3109_finite,     ///< P3109 SatFinite: both to max finite
  p3109_propagate,  ///< P3109 SatPropagate: overflow to max finite, Inf stays where it exists
  p3109_none,       ///< P3109 SatNone: extended formats as the mode points, finite formats to max finite
  onnx,             ///< ONNX Cast, saturate = 1: max finite, but Inf to NaN in FNUZ formats
};

/// What a NaN becomes in a format without a NaN code.
enum class NanWithoutCode : std::uint8_t { max_finite_signed, max_finite_positive, zero, negative_zero };

/// What becomes of the sign of a NaN.
enum class NanSign : std::uint8_t { keep, drop };

/// Everything a conversion decides about values that a format does not have.
struct SpecialValues {
  OverflowPolicy overflow;
  NanWithoutCode nan_without_code;
  NanSign nan_sign;
  bool symmetric_fixed_point;  ///< two's complement: whether the lowest code (-128) is avoided

  friend constexpr bool operator==(const SpecialValues&, const SpecialValues&) = default;
};

/// The conventions this library uses where nothing else is asked: NaN to signed max finite where there is no
/// code, its sign kept, -128 allowed.
HALFULP_HD constexpr SpecialValues special_values(OverflowPolicy overflow) noexcept {
  return {overflow, NanWithoutCode::max_finite_signed, NanSign::keep, false};
}

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

/// Magnitude that stands for an overflow: max_finite, infinity or NaN.
/// was_infinite: the source was an infinity. largest: the largest magnitude of this sign.
HALFULP_HD constexpr double overflow_magnitude(const ScalarFormat& f, OverflowPolicy policy,
                                               RoundingMode mode, bool negative, bool was_infinite,
                                               double largest) noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double beyond = f.has_infinity() ? infinity : f.has_nan() ? nan : largest;
  const bool inward = !was_infinite && points_inward(mode, negative);
  switch (policy) {
    case OverflowPolicy::saturate:
    case OverflowPolicy::p3109_finite:
      return largest;
    case OverflowPolicy::ieee:
      return inward || (!was_infinite && mode == RoundingMode::odd) ? largest : beyond;
    case OverflowPolicy::ocp:
      return beyond;
    case OverflowPolicy::p3109_propagate:
      return was_infinite && f.has_infinity() ? infinity : largest;
    case OverflowPolicy::p3109_none: {
      // To odd, the neighbour with the odd code wins: Inf in signed formats (2^(K-1) - 1), max finite in
      // unsigned ones (2^K - 3, beside Inf = 2^K - 2).
      const bool odd_stops = !was_infinite && mode == RoundingMode::odd && !f.is_signed;
      return !f.has_infinity() || inward || odd_stops ? largest : infinity;
    }
    case OverflowPolicy::onnx:
      return was_infinite && f.nan == NanEncoding::negative_zero && !f.has_infinity() ? nan : largest;
  }
  return largest;
}

/// The value that stands for a NaN of this sign: a NaN where the format has one.
HALFULP_HD constexpr double nan_value(const ScalarFormat& f, const SpecialValues& special,
                                      bool negative) noexcept {
  const bool minus = negative && special.nan_sign == NanSign::keep && f.is_signed;
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
      return f.is_signed && f.has_negative_zero ? -0.0 : 0.0;
  }
  return 0.0;
}

/// The value of format f that `rounded` (x rounded to f's precision) becomes: a finite value of f, an
/// infinity or a NaN, always one that f has a code for; -0 only where f has it. Unsigned formats: a negative
/// number is NaN (max finite where there is none) unless it rounds to an existing zero. Formats without zero
/// (E8M0): zero and underflow become the smallest number.
HALFULP_HD constexpr double overflow(double x, double rounded, const ScalarFormat& f,
                                     const SpecialValues& special, RoundingMode mode) noexcept {
  const bool negative = sign_bit_of(x) != 0;
  if (x != x) return nan_value(f, special, negative);
  if (!f.is_signed && negative && (f.has_zero ? rounded != 0 : x != 0)) return nan_value(f, special, false);
  const double magnitude = negative ? -rounded : rounded;
  const double largest =
      negative && !special.symmetric_fixed_point && f.is_signed ? -f.lowest() : f.max_finite();
  if (magnitude > largest) {
    const bool was_infinite = real_of(bits_of(x) ^ sign_bit_of(x)) == std::numeric_limits<double>::infinity();
    const double beyond = overflow_magnitude(f, special.overflow, mode, negative, was_infinite, largest);
    if (beyond != beyond) return nan_value(f, special, negative);
    return negative ? -beyond : beyond;
  }
  if (magnitude == 0) {
    if (!f.has_zero) return f.min_positive();
    return negative && f.is_signed && f.has_negative_zero ? -0.0 : 0.0;
  }
  return !f.has_zero && magnitude < f.min_positive() ? f.min_positive() : rounded;
}

}  // namespace halfulp
