#pragma once
#include <span>

namespace halfulp {

// When a step must lower the loss, for a loss whose gradient is Lipschitz with constant beta (beta-smooth): then
//   L(w + u) <= L(w) + g.u + (beta/2) |u|^2                                                                     (1)
// with g the gradient at w. Nothing here covers momentum or normalisation by second moments otherwise than through
// the increment u they lead to.

/// What is certain to be won by an increment u: -g.u - (beta/2)|u|^2 by (1), less a bound on the rounding errors of its
/// own evaluation. Positive: L(w + u) < L(w), by at least this. Otherwise nothing is known; NaN counts as nothing.
/// in: g and u of one size (else throws Error), beta >= 0
double guaranteed_decrease(std::span<const double> gradient, std::span<const double> increment, double beta);

/// The same where what is stored is w + u + r, with r the rounding error: by (1) on u + r and Cauchy-Schwarz, less
/// |g||r| + beta |u||r| + (beta/2)|r|^2. It needs the size of r alone; where r itself is known, guaranteed_decrease of
/// the stored movement u + r wins more.
/// in: all of one size (else throws Error), beta >= 0
double guaranteed_decrease(std::span<const double> gradient, std::span<const double> increment,
                           std::span<const double> rounding_error, double beta);

/// Of un-normalised branches u = -eta_a g - eta_m ln2 w (w g), element by element: u = -D g with
/// D = eta_a + eta_m ln2 w^2, so (1) gives L(w + u) <= L(w) - sum D_i (1 - beta D_i / 2) g_i^2. Every term is positive
/// where max D < 2 / beta.
struct UnnormalisedDescent {
  double largest_rate;  ///< eta_a + eta_m ln2 max w^2, within 4 2^-53 of itself
  double limit;         ///< 2 / beta
  /// Strict descent, unless the gradient is zero; with a margin for the error of largest_rate.
  bool is_guaranteed() const noexcept { return largest_rate * (1 + 0x1p-50) < limit; }
};
/// in: eta_a, eta_m >= 0; beta > 0
UnnormalisedDescent unnormalised_descent(double eta_a, double eta_m, std::span<const double> weights,
                                         double beta);

}  // namespace halfulp
