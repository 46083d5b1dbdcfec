#pragma once
#include <algorithm>
#include <span>

#include "formats/block_format.h"
#include "formats/converter.h"
#include "formats/quotient.h"

namespace halfulp {

/// The second scale of a tensor or row: what elements are multiplied by when they are read, and the factor that
/// reciprocal arithmetic scales them up with.
struct TensorMultiplier {
  static constexpr float largest_float = std::numeric_limits<float>::max();

  float decode;
  float encode;

  /// A given decode multiplier; the factor stays finite.
  // NOLINTNEXTLINE(google-explicit-constructor): a plain number is what users have
  HALFULP_HD constexpr TensorMultiplier(float given) noexcept
      : decode(given),
        encode(1.0f / given < largest_float ? 1.0f / given
               : given != given             ? given
                                            : largest_float) {}
  HALFULP_HD constexpr TensorMultiplier(float read, float written) noexcept : decode(read), encode(written) {}

  friend constexpr bool operator==(const TensorMultiplier&, const TensorMultiplier&) = default;
};

/// x as a float, total: beyond the largest float's upper midpoint it is an infinity, where a cast would be undefined.
HALFULP_HD constexpr float to_float(double x) noexcept {
  constexpr double beyond = 0x1.ffffffp127;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return x >= beyond ? infinity : x <= -beyond ? -infinity : static_cast<float>(x);
}

/// What the conventions make of the largest magnitude of a block: NaN poisons it, infinity asks for the largest scale.
/// in: amax as reduce.h gives it for the block: NaN if it holds one, else an infinity if it holds one.
template <class Real>
HALFULP_HD double amax_by_conventions(double amax, std::span<const Real> block,
                                      const ScaleConventions& conventions) noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  if (amax < infinity) return amax;
  double largest = 0;
  for (const Real number : block) {
    const double magnitude = std::fabs(static_cast<double>(number));
    if (magnitude < infinity) {
      largest = std::max(largest, magnitude);
      continue;
    }
    if (magnitude != magnitude) {
      if (conventions.nan == NanInBlock::poison) return nan;
      continue;
    }
    switch (conventions.infinity) {
      case InfinityInBlock::poison:
        return nan;
      case InfinityInBlock::saturate:
        largest = infinity;
        break;
      case InfinityInBlock::ignore:
        break;
    }
  }
  return largest;
}

/// Whether an amax means that everything under it is NaN: one that is NaN, or the infinity of conventions that treat it
/// so.
HALFULP_HD constexpr bool is_poison(const BlockFormat& f, double amax) noexcept {
  const bool infinite = amax == std::numeric_limits<double>::infinity();
  return amax != amax || (infinite && f.conventions.infinity == InfinityInBlock::poison);
}

/// Whether the conventions make a block of this amax all zero.
HALFULP_HD constexpr bool is_flushed(const BlockFormat& f, double amax) noexcept {
  return f.conventions.subnormal_block == SubnormalBlock::flush && amax < 0x1p-126;
}

/// The scale that the block of the tensor's amax gets.
HALFULP_HD constexpr double largest_scale(const BlockFormat& f) noexcept {
  return f.conventions.largest > 0 ? f.conventions.largest : f.scale.max_finite();
}

/// The element that the largest number of a block becomes.
HALFULP_HD constexpr double largest_target(const BlockFormat& f) noexcept {
  return f.conventions.four_over_six == FourOverSix::always_four ? 4.0 : f.element.max_finite();
}

/// The fp32 scale of a tensor or row: its amax over (largest element * largest scale), as a decode multiplier; 1 for
/// zeros, NaN for NaN (a poisoned tensor), the largest float for an infinity.
/// in: amax by the conventions
HALFULP_HD inline TensorMultiplier choose_tensor_scale(const BlockFormat& f, double amax) noexcept {
  constexpr float largest_float = TensorMultiplier::largest_float;
  if (!f.has_tensor_scale() || amax == 0) return {1.0f, 1.0f};
  if (is_poison(f, amax)) return {std::numeric_limits<float>::quiet_NaN()};
  const double range = largest_target(f) * largest_scale(f);
  // Rounding to odd first makes this conversion the single rounding of the exact quotient.
  const TensorMultiplier exact{to_float(std::fmin(quotient_to_odd(amax, range), largest_float))};
  switch (f.conventions.arithmetic) {
    case ScaleArithmetic::exact:
    case ScaleArithmetic::quotients:
    case ScaleArithmetic::mixed:
      return exact;
    case ScaleArithmetic::reciprocal: {
      const float up = std::fmin(static_cast<float>(range) / to_float(amax), largest_float);
      return up == 0 ? TensorMultiplier{1.0f, 1.0f} : TensorMultiplier{exact.decode, up};
    }
  }
  return exact;
}

/// Code of 2^exponent in a scale format, clamped at the ends as the conventions say.
HALFULP_HD_RARE inline std::uint32_t power_of_two_code(const BlockFormat& f, int exponent) noexcept {
  const double floor = f.conventions.floor;
  const int smallest = floor_log2(f.scale.min_positive());
  const int highest = std::min(f.scale.max_exponent(), f.conventions.highest_exponent);
  const int lowest =
      std::min(floor > 0 ? std::max(smallest, ceil_log2_ratio(floor, 1.0)) : smallest, highest);
  if (exponent > highest && f.conventions.overflow == ScaleOverflow::nan) return nan_code(f.scale, false);
  return encode(f.scale, power_of_two(std::clamp(exponent, lowest, highest)));
}

/// How a number becomes a scale, by the conventions.
HALFULP_HD constexpr Rounding scale_rounding(const ScaleConventions& c) noexcept {
  return {c.rounds_up ? RoundingMode::up : RoundingMode::nearest_even, 0};
}
HALFULP_HD constexpr SpecialValues scale_special_values(const ScaleConventions& c) noexcept {
  return special_values(c.overflow == ScaleOverflow::nan ? OverflowPolicy::ocp : OverflowPolicy::saturate);
}

/// A positive number as a scale.
HALFULP_HD_RARE inline std::uint32_t rounded_scale_code(const BlockFormat& f, double scale) noexcept {
  const std::uint32_t code = convert(std::fmax(scale, f.conventions.floor), f.scale,
                                     scale_rounding(f.conventions), scale_special_values(f.conventions), 0);
  return is_infinity_code(f.scale, code) ? nan_code(f.scale, false) : code;
}

/// amax / M as a scale in the arithmetic of the conventions; `largest` is M, or 4 of four-over-six.
HALFULP_HD inline double amax_scale(const BlockFormat& f, double amax, double largest,
                                    TensorMultiplier t) noexcept {
  const float b = to_float(amax), m = static_cast<float>(largest);
  switch (f.conventions.arithmetic) {
    case ScaleArithmetic::exact:
      // largest * t is exact: at most 4 + 24 bits (rounded once for tables).
      return quotient_to_odd(amax, largest * t.decode);
    case ScaleArithmetic::reciprocal:
      return b * (t.encode * (1.0f / m));
    case ScaleArithmetic::quotients:
      return b / (m * t.decode);
    case ScaleArithmetic::mixed:
      return b / m / t.decode;
  }
  return 0;
}

/// Exponent of a power-of-two scale for a finite amax > 0; M, em and m as in ScaleRule.
HALFULP_HD inline int scale_exponent(const BlockFormat& f, double amax, TensorMultiplier t,
                                     std::uint32_t random) noexcept {
  // To odd, the quotient keeps which side of every short threshold it is on.
  const double a = f.has_tensor_scale() ? quotient_to_odd(amax, t.decode) : amax;
  const std::uint64_t fraction = bits_of(a) & 0x000f'ffff'ffff'ffffu;
  const int binade = floor_log2(a), em = f.element.max_exponent();
  const double largest = f.element.max_finite() * t.decode;
  const std::uint64_t half_ulp = std::uint64_t{1} << (51 - f.element.fraction_bits),
                      one = std::uint64_t{1} << 52;
  switch (f.rule) {
    case ScaleRule::ocp_floor:
      return binade - em;
    case ScaleRule::even:
      return binade + (fraction >= one - half_ulp ? 1 : 0) - em;
    case ScaleRule::even_tie_down:
      return binade + (fraction > one - half_ulp ? 1 : 0) - em;
    case ScaleRule::ceil:
      return binade + (fraction != 0 ? 1 : 0) - em;
    case ScaleRule::rceil:
      return ceil_log2_ratio(amax, largest);
    case ScaleRule::rfloor:
      return floor_log2_ratio(amax, largest);
    case ScaleRule::log2_nearest:
      return nearest_log2_ratio(amax, largest);
    case ScaleRule::log2_nearest_binade:
      return nearest_log2_ratio(amax, t.decode) - em;  // the odd bit of `a` could jump over sqrt 2
    case ScaleRule::stochastic_exponent:
      return binade - em +
             static_cast<int>(((fraction >> (52 - scale_random_bits)) + random) >> scale_random_bits);
    case ScaleRule::none:
    case ScaleRule::amax:
    case ScaleRule::p3109_maxabs:
      break;
  }
  return 0;
}

/// Scale code for elements up to `largest`.
HALFULP_HD_RARE inline std::uint32_t scale_code_for(const BlockFormat& f, double amax, double largest,
                                                    TensorMultiplier t, std::uint32_t random) noexcept {
  switch (f.rule) {
    case ScaleRule::none:
      return 0;
    case ScaleRule::amax:
      return rounded_scale_code(f, amax_scale(f, amax, largest, t));
    case ScaleRule::p3109_maxabs:
      return rounded_scale_code(f, quotient_to_odd(amax, t.decode));
    case ScaleRule::ocp_floor:
    case ScaleRule::even:
    case ScaleRule::even_tie_down:
    case ScaleRule::ceil:
    case ScaleRule::rceil:
    case ScaleRule::rfloor:
    case ScaleRule::log2_nearest:
    case ScaleRule::log2_nearest_binade:
    case ScaleRule::stochastic_exponent:
      // A double below 2^-1000 lies below every scale; beside a tensor scale of 0 or infinity every number is
      // infinitely large or small.
      if (!(t.decode > 0)) return power_of_two_code(f, 2000);
      if (floor_log2(amax) < -1000 || t.decode > TensorMultiplier::largest_float)
        return power_of_two_code(f, -2000);
      return power_of_two_code(f, scale_exponent(f, amax, t, random));
  }
  return 0;
}

/// Scale code of a block of zeros.
HALFULP_HD inline std::uint32_t zero_block_code(const BlockFormat& f, TensorMultiplier t) noexcept {
  switch (f.conventions.zero_block) {
    case ZeroBlock::smallest:
      return rounded_scale_code(f, 0);
    case ZeroBlock::one:
      return encode(f.scale, 1.0);
    case ZeroBlock::amax_one:
      return scale_code_for(f, 1.0, f.element.max_finite(), t, 0);
    case ZeroBlock::two_to_minus_23:
      return power_of_two_code(f, -23);
    case ZeroBlock::amax_min_normal:
      return scale_code_for(f, 0x1p-126, f.element.max_finite(), t, 0);
  }
  return 0;
}

/// Scale code of a block of which only the amax is looked at.
/// in:     amax by the conventions: finite, NaN for a poisoned block (scale NaN) or infinity for the largest scale;
///         random in [0, 2^scale_random_bits), used by stochastic_exponent alone.
/// errors: none.
HALFULP_HD inline std::uint32_t choose_scale(const BlockFormat& f, double amax, TensorMultiplier t,
                                             std::uint32_t random) noexcept {
  if (is_poison(f, amax) || t.decode != t.decode) return nan_code(f.scale, false);
  if (amax == std::numeric_limits<double>::infinity())
    return f.rule == ScaleRule::amax || f.rule == ScaleRule::p3109_maxabs
               ? encode(f.scale, f.scale.max_finite())
               : encode(f.scale,
                        power_of_two(std::min(f.scale.max_exponent(), f.conventions.highest_exponent)));
  if (amax == 0 || is_flushed(f, amax)) return zero_block_code(f, t);
  return scale_code_for(f, amax, largest_target(f), t, random);
}

}  // namespace halfulp
