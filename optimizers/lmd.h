#pragma once
#include "emulation/elementary.h"
#include "optimizers/rule.h"

namespace halfulp {

/// LMD (Nishida et al. 2026, log-normal multiplicative dynamics), reconstruction:
///   view:   w = m+ e+ - m- e-,  e+- = exp(sigma z+-),  z standard normal          EG+- with log-normal noise
///   U+ = m+ e+ d,  U- = -m- e- d                          d = dL/dw; U = dL/dlog m, mean over the samples
///   u+- = m+- expm1(-alpha (sign(beta1 v+- + (1 - beta1) U+-) + lambda))
///   v+- = beta2 v+- + (1 - beta2) U+-
/// Stated in public material: the log-normal posterior, weights as a difference of two positive parts,
/// multiplicative update, noise and decay, the sign of the momentum with the regulariser outside it, one
/// vector more than Adam. Guessed: two betas and the constant form of the decay. The parts never cross zero;
/// their difference can. |step| is alpha relative to a part, so with nearest_even nothing moves where alpha
/// is below the relative half ulp.
struct Lmd {
  static constexpr std::string_view name = "lmd";
  static constexpr std::array<std::string_view, 2> weight_slots{"m_plus", "m_minus"};
  static constexpr std::array<StateSlot, 2> state_slots{
      {{"v_plus", Moment::first}, {"v_minus", Moment::first}}};

  static constexpr Rounding default_rounding = stochastic;

  struct Config {
    double alpha = 1e-2;
    double beta1 = 0.9, beta2 = 0.99;
    double sigma = 0.1;
    double decay = 0;  ///< lambda
    int samples = 1;
  };

  template <class C, class See>
  static void settings(C& c, See&& see) {
    see("alpha", c.alpha, 0.0, 1e6);
    see("beta1", c.beta1, 0.0, below_one);
    see("beta2", c.beta2, 0.0, below_one);
    see("sigma", c.sigma, 0.0, 10.0);
    see("decay", c.decay, 0.0, 1e6);
    see("samples", c.samples, 1, 16);
  }

  template <class R>
  struct Scalars {
    R alpha, beta1, one_minus_beta1, beta2, one_minus_beta2, sigma, decay;
  };

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants&, const StepInfo& now) {
    return {R(c.alpha * now.schedule),
            R(c.beta1),
            R(1 - c.beta1),
            R(c.beta2),
            R(1 - c.beta2),
            R(c.sigma),
            R(c.decay)};
  }

  static int samples(const Config& c) noexcept { return c.sigma == 0 ? 0 : c.samples; }

  /// m+- = (hypot(w, s) +- w) / 2 with s the rms of the tensor (0.01 if that is 0): both parts positive,
  /// their difference w. The smaller part is s^2 / (4 larger): the difference of two close numbers is never
  /// formed.
  static std::array<double, 2> initialize(double w0, const TensorConstants& tensor) noexcept {
    const double s = tensor.initial_rms > 0 ? tensor.initial_rms : 0.01;
    const double larger = (std::sqrt(w0 * w0 + s * s) + std::fabs(w0)) / 2;
    const double smaller = s * s / (4 * larger);
    return w0 < 0 ? std::array{smaller, larger} : std::array{larger, smaller};
  }

  template <class R>
  HALFULP_HD static R noise(const Scalars<R>& c, R z) noexcept {
    return elementary::exp(c.sigma * z);
  }

  template <class R>
  HALFULP_HD static R view(const std::array<R, 2>& w, const std::array<R, 2>& e) noexcept {
    return w[0] * e[0] - w[1] * e[1];
  }

  template <class R>
  HALFULP_HD static std::array<R, 2> pull_back(const std::array<R, 2>& w, const std::array<R, 2>& e,
                                               R d) noexcept {
    return {w[0] * e[0] * d, -(w[1] * e[1] * d)};
  }

  template <class R>
  HALFULP_HD static std::array<R, 2> update(const Scalars<R>& c, const std::array<R, 2>& w,
                                            const std::array<R, 2>& g, std::array<R, 2>& state) noexcept {
    std::array<R, 2> u{};
    for (int part = 0; part < 2; ++part) {
      const R momentum = c.beta1 * state[part] + c.one_minus_beta1 * g[part];
      u[part] = w[part] * elementary::expm1(-c.alpha * (sign_of(momentum) + c.decay));
      state[part] = c.beta2 * state[part] + c.one_minus_beta2 * g[part];
    }
    return u;
  }
};

}  // namespace halfulp
