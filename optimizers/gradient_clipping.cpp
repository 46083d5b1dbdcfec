#include "optimizers/gradient_clipping.h"

#include <cmath>
#include <limits>

#include "emulation/elementary.h"
#include "emulation/fp_environment.h"
#include "emulation/reduce.h"

namespace halfulp {
namespace {

constexpr double clip_grad_norm_epsilon = 1e-6;

template <class R>
double norm_of_all(std::span<const std::vector<R>> gradients) noexcept {
  const FpEnvironment environment;
  double total = 0;
  for (const std::vector<R>& gradient : gradients)
    total += detail::sum_of_squares_in_double(std::span<const R>(gradient));
  return std::sqrt(total);
}

template <class R>
double clip_all(const GradientClipping& clipping, std::uint64_t step,
                std::span<std::vector<R>> gradients) noexcept {
  if (clipping.kind == ClippingKind::none) return 1;
  const FpEnvironment environment;
  const double factor = clipping_factor(clipping_limit(clipping, step),
                                        norm_of_all<R>(std::span<const std::vector<R>>(gradients)));
  if (factor == 1) return 1;
  for (std::vector<R>& gradient : gradients)
    for (R& g : gradient) g = static_cast<R>(static_cast<double>(g) * factor);
  return factor;
}

}  // namespace

double clipping_limit(const GradientClipping& clipping, std::uint64_t step) noexcept {
  switch (clipping.kind) {
    case ClippingKind::none:
      break;
    case ClippingKind::norm:
      return clipping.max_norm;
    case ClippingKind::growing:
      return clipping.max_norm * (1 + elementary::log1p<double>(static_cast<double>(step) / 1000));
  }
  return std::numeric_limits<double>::infinity();
}

double clipping_factor(double limit, double norm) noexcept {
  const bool finite = norm <= std::numeric_limits<double>::max();
  return finite && norm > limit ? limit / (norm + clip_grad_norm_epsilon) : 1;
}

double global_norm(std::span<const std::vector<float>> gradients) noexcept {
  return norm_of_all<float>(gradients);
}
double global_norm(std::span<const std::vector<double>> gradients) noexcept {
  return norm_of_all<double>(gradients);
}

double clip_gradients(const GradientClipping& clipping, std::uint64_t step,
                      std::span<std::vector<float>> gradients) noexcept {
  return clip_all<float>(clipping, step, gradients);
}
double clip_gradients(const GradientClipping& clipping, std::uint64_t step,
                      std::span<std::vector<double>> gradients) noexcept {
  return clip_all<double>(clipping, step, gradients);
}

}  // namespace halfulp
