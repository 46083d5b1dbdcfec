#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace halfulp {

enum class ClippingKind : std::uint8_t {
  none,
  norm,     ///< the same limit in every step
  growing,  ///< a limit that rises with the logarithm of the step
};

/// Clipping of all gradients together by their global Euclidean norm, as torch.nn.utils.clip_grad_norm_ does it.
struct GradientClipping {
  ClippingKind kind = ClippingKind::none;
  double max_norm = 1;  ///< of norm, and of growing at step 0; positive and finite

  friend constexpr bool operator==(const GradientClipping&, const GradientClipping&) = default;
};

/// The norm that gradients keep at step t = 0, 1, ...:
///   none: +Inf,   norm: max_norm,   growing: max_norm (1 + log(1 + t / 1000)), natural logarithm
/// source of growing: the LMD article's advice max_norm = 1.0 * (1 + math.log(1 + step/1000)) for clip_grad_norm_. It
///   does not say where step starts; counting from 0, so that the limit starts at max_norm, is our reading.
double clipping_limit(const GradientClipping& clipping, std::uint64_t step) noexcept;

/// Square root of the sum of all squares, in double: each tensor's squares by the fixed-order reduction, the tensors'
/// sums added in registry order from 0. No tensor, or none with elements: 0.
/// out: squares of floats are exact and cannot overflow here; doubles from about 1e154 make the norm infinite
double global_norm(std::span<const std::vector<float>> gradients) noexcept;
double global_norm(std::span<const std::vector<double>> gradients) noexcept;

/// What every gradient is multiplied by, given their norm:
///   1                       norm <= limit
///   limit / (norm + 1e-6)   norm > limit, finite; below 1. The 1e-6 is clip_grad_norm_'s, which lets it count between
///                           limit - 1e-6 and limit too, where we leave the gradients as they are
///   1                       norm infinite or NaN: the gradients pass unchanged and the divergence is seen, where a
///                           factor of 0 would turn it into zeros and NaNs
/// in: limit > 0
double clipping_factor(double limit, double norm) noexcept;

/// Multiplies every gradient by the step's factor, the product taken in double and rounded to the gradients' type, and
/// returns the factor. A factor of 1 touches nothing.
double clip_gradients(const GradientClipping& clipping, std::uint64_t step,
                      std::span<std::vector<float>> gradients) noexcept;
double clip_gradients(const GradientClipping& clipping, std::uint64_t step,
                      std::span<std::vector<double>> gradients) noexcept;

}  // namespace halfulp
