#pragma once
#include "optimizers/rule.h"

namespace halfulp {

/// AdamW (Loshchilov & Hutter 2019, Alg. 2; Adam with weight_decay = 0):
///   m = beta1 m + (1 - beta1) g
///   v = beta2 v + (1 - beta2) g^2
///   u = -((eta (m c1)) / (sqrt(v c2) + eps)),   c = 1 / (1 - beta^t);   decay eta lambda
/// c is computed in double (beta^t by squaring); every operation then rounds once in R. Additive: |u| is about eta whatever |w| is, hence rounded
/// away where eta is below half a gap.
struct AdamW : PlainWeight {
  static constexpr std::string_view name = "adamw";
  static constexpr std::array<StateSlot, 2> state_slots{{{"m", Moment::first}, {"v", Moment::second}}};

  struct Config {
    double eta = 1e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
  };

  template <class C, class See>
  static void settings(C& c, See&& see) {
    see("eta", c.eta, 0.0, 1e6);
    see("beta1", c.beta1, 0.0, below_one);
    see("beta2", c.beta2, 0.0, below_one);
    see("eps", c.eps, 0.0, 1e6);
    see("weight_decay", c.weight_decay, 0.0, 1e6);
  }

  template <class R>
  struct Scalars {
    R eta, beta1, one_minus_beta1, beta2, one_minus_beta2, m_correction, v_correction, eps;
  };

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants&, const StepInfo& now) {
    return {R(c.eta * now.schedule),
            R(c.beta1),
            R(1 - c.beta1),
            R(c.beta2),
            R(1 - c.beta2),
            R(bias_correction(c.beta1, now.step)),
            R(bias_correction(c.beta2, now.step)),
            R(c.eps)};
  }
  static double decay(const Config& c, const StepInfo& now) noexcept {
    return c.eta * now.schedule * c.weight_decay;
  }
  static TypicalStep typical_step(const Config& c, const StepInfo& now) noexcept { return {c.eta * now.schedule, 0}; }

  template <class R>
  HALFULP_HD static std::array<R, 2> advance(const Scalars<R>& c, const std::array<R, 1>&, const std::array<R, 1>& g,
                                             const std::array<R, 2>& state) noexcept {
    return {c.beta1 * state[0] + c.one_minus_beta1 * g[0], c.beta2 * state[1] + c.one_minus_beta2 * (g[0] * g[0])};
  }

  template <class R>
  HALFULP_HD static std::array<R, 1> increment(const Scalars<R>& c, const std::array<R, 1>&, const std::array<R, 1>&,
                                               const std::array<R, 2>&, const std::array<R, 2>& state) noexcept {
    using std::sqrt;
    const auto& [m, v] = state;
    return {-(c.eta * (m * c.m_correction) / (sqrt(v * c.v_correction) + c.eps))};
  }
};

}  // namespace halfulp
