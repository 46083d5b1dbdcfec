#pragma once
#include "formats/block.h"
#include "optimizers/scale_policy.h"

// The lazy policy on the scales of a slot: powers of two that are kept while the amax fits them (lazy_multiplier()).
namespace halfulp {

/// A multiplier below every amax: with it the lazy rule chooses afresh.
inline constexpr double no_multiplier = 0x1p-500;

/// Whether an amax, or a multiplier, is a number that a scale can follow.
HALFULP_HD constexpr bool is_usable(double amax) noexcept {
  return amax > 0 && amax < std::numeric_limits<double>::infinity();
}

/// The lazy second scale, of a tensor or row whose blocks have scales of their own: those are powers of two too, the
/// largest 2^max_exponent, so this leaves every block its choice. Kept within the powers of two that are floats; one
/// that has nothing to follow stays.
HALFULP_HD inline TensorMultiplier lazy_second_scale(const BlockFormat& f, TensorMultiplier current,
                                                     double amax, int headroom) noexcept {
  if (!is_usable(amax)) return current;
  const double largest = f.element.max_finite() * power_of_two(f.scale.max_exponent());
  const double next = lazy_multiplier(static_cast<double>(current.decode), amax, largest, headroom);
  return static_cast<float>(std::fmin(std::fmax(next, 0x1p-149), 0x1p127));
}

/// The first one.
HALFULP_HD inline TensorMultiplier first_lazy_second_scale(const BlockFormat& f, double amax,
                                                           int headroom) noexcept {
  // A float of 0 is below every amax, too.
  return is_usable(amax) ? lazy_second_scale(f, {0.0f, 0.0f}, amax, headroom) : choose_tensor_scale(f, amax);
}

/// The scale code of a block under the second scale t.
/// in: amax by the conventions; multiplier_before: what the block is read with now
HALFULP_HD inline std::uint32_t lazy_scale_code(const BlockFormat& f, double multiplier_before, double amax,
                                                TensorMultiplier t, int headroom) noexcept {
  if (amax != 0 && !is_usable(amax)) return choose_scale(f, amax, t, 0);
  const double before = is_usable(multiplier_before) ? multiplier_before : no_multiplier;
  const double next = amax == 0 ? before : lazy_multiplier(before, amax, f.element.max_finite(), headroom);
  return power_of_two_code(f, floor_log2(next / t.decode));
}

/// The first one: zeros start under 1.
HALFULP_HD inline std::uint32_t first_lazy_scale_code(const BlockFormat& f, double amax, TensorMultiplier t,
                                                      int headroom) noexcept {
  return lazy_scale_code(f, amax == 0 ? 1.0 : no_multiplier, amax, t, headroom);
}

}  // namespace halfulp
