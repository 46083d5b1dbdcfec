#pragma once
#include "emulation/elementary.h"
#include "optimizers/rule.h"

namespace halfulp {

/// Madam (Bernstein et al. 2020, "Learning compositional functions via multiplicative weight updates"):
///   v = beta2 v + (1 - beta2) g^2
///   n = clip(g / sqrt(v c2), g_bound),  c2 = 1 / (1 - beta2^t)      no epsilon; NaN (0/0) counts as 0
///   u = w expm1((-eta n) sign(w)), bounded so that |w + u| <= w_scale rms(w0)
/// Stated by the official codes: all of it; beta2 fixed at 0.999, no first moment, no weight decay. They differ in
/// w_scale: 3 in the PyTorch version (the default here; 1 to 3 in its scripts), 1 in the JAX version. Derived:
/// sign(0) = 0 and exp > 0, so zero is a fixed point and no sign ever changes; a tensor that starts at zero has
/// w_max = 0 and stays there. Ours: w exp(x) as the increment w expm1(x).
struct Madam : PlainWeight {
  static constexpr std::string_view name = "madam";
  static constexpr std::array<StateSlot, 1> state_slots{{{"v", Moment::second}}};

  struct Config {
    double eta = 1e-2;
    double beta2 = 0.999;
    double g_bound = 10;
    double w_scale = 3;
  };

  template <class C, class See>
  static void settings(C& c, See&& see) {
    see("eta", c.eta, 0.0, 1e6);
    see("beta2", c.beta2, 0.0, below_one);
    see("g_bound", c.g_bound, 0.0, 1e300);
    see("w_scale", c.w_scale, 0.0, 1e300);
  }

  template <class R>
  struct Scalars {
    R eta, beta2, one_minus_beta2, v_correction, g_bound, w_max;
  };

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants& tensor, const StepInfo& now) {
    return {R(c.eta * now.schedule),
            R(c.beta2),
            R(1 - c.beta2),
            R(bias_correction(c.beta2, now.step)),
            R(c.g_bound),
            R(c.w_scale * tensor.initial_rms)};
  }

  static TypicalStep typical_step(const Config& c, const StepInfo& now) noexcept {
    return {0, c.eta * now.schedule};
  }

  template <class R>
  HALFULP_HD static std::array<R, 1> advance(const Scalars<R>& c, const std::array<R, 1>&,
                                             const std::array<R, 1>& g,
                                             const std::array<R, 1>& state) noexcept {
    return {c.beta2 * state[0] + c.one_minus_beta2 * (g[0] * g[0])};
  }

  template <class R>
  HALFULP_HD static std::array<R, 1> increment(const Scalars<R>& c, const std::array<R, 1>& w,
                                               const std::array<R, 1>& g, const std::array<R, 1>&,
                                               const std::array<R, 1>& state) noexcept {
    using std::sqrt;
    const R n = clip(g[0] / sqrt(state[0] * c.v_correction), c.g_bound);
    return {bounded(w[0], w[0] * elementary::expm1(-c.eta * n * sign_of(w[0])), c.w_max)};
  }
};

}  // namespace halfulp
