#pragma once
#include <optional>

#include "formats/quotient.h"
#include "formats/round.h"

namespace halfulp {

/// What elements are divided by when they are stored and multiplied by when they are read.
enum class Scaling : std::uint8_t { none, exact, quotient };  ///< exact: by powers of two

/// A scale in every lane.
template <class Real>
struct LaneScale {
  LaneDivisor<Real> divisor;
  Scaling scaling;
};

/// A scale as float lanes divide by it: high + low is the number itself. Not for what they cannot divide by exactly
/// (numbers outside [2^-60, 2^60]), nor multiply with: low times an element has to be a float, hence at most 8 bits of
/// low and 16 of an element.
struct LaneScaleNumbers {
  float high, low, inverse;

  /// Whether the scale is a power of two.
  HALFULP_HD constexpr bool is_exact() const noexcept { return low == 0 && (bits_of(high) & 0x7fffffu) == 0; }
};
HALFULP_HD constexpr std::optional<LaneScaleNumbers> lane_scale(double multiplier) noexcept {
  if (!(multiplier >= 0x1p-60 && multiplier <= 0x1p60)) return std::nullopt;
  const auto high = static_cast<float>(multiplier);
  const double rest = multiplier - static_cast<double>(high);
  const auto low = static_cast<float>(rest);
  if (static_cast<double>(low) != rest || (bits_of(low) & 0xffffu) != 0) return std::nullopt;
  return LaneScaleNumbers{high, low, 1.0f / high};
}

/// Whether float lanes round scaled numbers to f as exactly as others: quotients have bits enough for every decision,
/// and what underflows, where a product with a power of two is not exact any more, lies below all of them.
HALFULP_HD constexpr bool scaled_lanes_fit(const ScalarFormat& f, int guard) noexcept {
  return !f.is_table() && lanes_fit<float>(f, guard) && f.fraction_bits < 16 &&
         f.min_exponent() - f.fraction_bits - guard > -120;
}

/// Whether a mode asks if anything is left below the guarded integer.
HALFULP_HD constexpr bool asks_for_remainder(RoundingMode mode) noexcept {
  return !decides_from_nearest(mode);
}

/// What of x is rounded: its quotient by the scale. A product with a power of two is exact, or lies beyond every
/// decision; where it underflows to zero something must be left for the modes that ask whether anything is.
template <RoundingMode mode, class Real>
HALFULP_LANES inline Real divided(Real x, const LaneScale<Real>& scale) noexcept {
  using Bits = typename Lane<Real>::Bits;
  if (scale.scaling == Scaling::none) return x;
  if (scale.scaling == Scaling::exact && !asks_for_remainder(mode)) return x * scale.divisor.inverse;
  const Bits sign = sign_bit_of(x);
  const Real magnitude = real_of(bits_of(x) ^ sign);
  Real quotient;
  if (scale.scaling == Scaling::exact) {
    quotient = magnitude * scale.divisor.inverse;
    quotient = select(quotient == Real{0}, lane_min(magnitude, real_of(Bits{1})), quotient);
  } else {
    quotient = lane_quotient_to_odd(magnitude, scale.divisor);
  }
  return real_of(bits_of(quotient) | sign);
}

/// The number that a stored element stands for: fl32(element * scale), one rounding of the exact product.
template <class Real>
HALFULP_LANES inline Real multiplied(Real element, const LaneScale<Real>& scale) noexcept {
  using std::fma;
  if (scale.scaling == Scaling::none) return element;
  if (scale.scaling == Scaling::exact) return element * scale.divisor.high;
  // The sign is the element's: -0 high + -0 low would be +0 for a negative low. Of an infinity the sum may be a NaN.
  const Real product = fma(element, scale.divisor.high, element * scale.divisor.low);
  return select(product == product, real_of(bits_of(product) | sign_bit_of(element)),
                element * scale.divisor.high);
}

}  // namespace halfulp
