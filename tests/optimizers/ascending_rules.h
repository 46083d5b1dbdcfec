#pragma once
#include "optimizers/m_adam.h"

// Readings of published update rules that climb for some weights. They are no rules of this library; tests show why.
namespace halfulp::test {

/// M+Adam with the multiplicative step divided by sgn(w) max(|w|, tau), sgn(0) = 1, as one transcription has it: w
/// u_m = -eta_m n for |w| > tau, where n has the sign of w g.
struct SignedRho : MAdam {
  static constexpr std::string_view name = "signed_rho";

  template <class R>
  static std::array<R, 1> increment(const Scalars<R>& c, const std::array<R, 1>& w, const std::array<R, 1>& g,
                                    const std::array<R, 3>&, const std::array<R, 3>& state) noexcept {
    const R additive = c.eta_a * (state[0] * c.m_correction) / (std::sqrt(state[1] * c.v_correction) + c.eps);
    const R n = c.ln2 * w[0] * g[0] / (std::sqrt(state[2] * c.v_correction) + c.eps);
    const R magnitude = std::max(std::fabs(w[0]), c.tau), rho = w[0] < 0 ? -magnitude : magnitude;
    return {w[0] * (-c.eta_m * n / rho) - additive};
  }
};

/// w exp(sign eta g noise) on the weight itself, as a popular article writes LMD (its sign is +1).
template <int sign>
struct ExponentOfGradient : PlainWeight {
  static constexpr std::string_view name = "exponent_of_gradient";
  static constexpr std::array<StateSlot, 0> state_slots{};
  struct Config {
    double eta = 1e-2;
    double noise = 1;  ///< exp(sigma z), the same in every step: positive, so that it turns no sign
  };
  template <class R>
  struct Scalars {
    R exponent;
  };
  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants&, const StepInfo& now) {
    return {R(sign * c.eta * now.schedule * c.noise)};
  }
  static TypicalStep typical_step(const Config&, const StepInfo&) noexcept { return {}; }
  template <class R>
  static std::array<R, 0> advance(const Scalars<R>&, const std::array<R, 1>&, const std::array<R, 1>&,
                                  const std::array<R, 0>&) noexcept {
    return {};
  }
  template <class R>
  static std::array<R, 1> increment(const Scalars<R>& c, const std::array<R, 1>& w, const std::array<R, 1>& g,
                                    const std::array<R, 0>&, const std::array<R, 0>&) noexcept {
    return {w[0] * elementary::expm1(c.exponent * g[0])};
  }
};

}  // namespace halfulp::test
