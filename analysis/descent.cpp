#include "analysis/descent.h"

#include <string>

#include "emulation/fp_environment.h"
#include "emulation/reduce.h"
#include "formats/error.h"

namespace halfulp {
namespace {

/// Bound on the relative error of a sum of n products in the order of reduce.h, and of a few operations after it: no
/// term passes through more than n/32 + 6 roundings; doubled for the second order and for the bound's own.
double error_of_sum(std::size_t n) noexcept { return (static_cast<double>(n / 32) + 16) * 0x1p-52; }

void require_same_size(std::size_t a, std::size_t b) {
  if (a != b) throw Error("descent condition", "sizes differ", std::to_string(b), std::to_string(a));
}

}  // namespace

double guaranteed_decrease(std::span<const double> gradient, std::span<const double> increment, double beta) {
  require_same_size(gradient.size(), increment.size());
  const FpEnvironment environment;
  const std::size_t n = gradient.size();
  const double magnitudes = detail::ordered_sum<double>(
      n, [&](std::size_t i) { return std::fabs(gradient[i]) * std::fabs(increment[i]); });
  const double curvature = beta / 2 * sum_of_squares(increment);
  return -dot(gradient, increment) - curvature - error_of_sum(n) * (magnitudes + curvature);
}

double guaranteed_decrease(std::span<const double> gradient, std::span<const double> increment,
                           std::span<const double> rounding_error, double beta) {
  require_same_size(gradient.size(), rounding_error.size());
  const double without = guaranteed_decrease(gradient, increment, beta);
  const FpEnvironment environment;
  const double r = std::sqrt(sum_of_squares(rounding_error)), u = std::sqrt(sum_of_squares(increment)),
               g = std::sqrt(sum_of_squares(gradient));
  const double error = g * r + beta * u * r + beta / 2 * r * r;
  return without - error * (1 + error_of_sum(gradient.size()));
}

UnnormalisedDescent unnormalised_descent(double eta_a, double eta_m, std::span<const double> weights,
                                         double beta) {
  constexpr double ln2 = 0x1.62e42fefa39efp-1;
  const double largest = amax(weights);
  return {eta_a + eta_m * ln2 * (largest * largest), 2 / beta};
}

}  // namespace halfulp
