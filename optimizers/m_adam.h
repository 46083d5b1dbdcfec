#pragma once
#include "optimizers/rule.h"

namespace halfulp {

/// M+Adam (Liang, Loeschcke, Toftrup, Anandkumar 2026), relative mode:
///   g_e = (ln2 w) g                                        gradient with respect to the exponent of w =
///   +-2^e m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,  v_e = beta2 v_e + (1 - beta2) g_e^2
///   u_a = -((eta_a (m c1)) / (sqrt(v c2) + eps)),  c = 1 / (1 - beta^t) in double
///   u_m = -eta_m clip(g_e / (sqrt(v_e c2) + eps), g_bound)   raw gradient: this branch has no first moment
///   u = (w u_m + u_a) - (eta_a lambda) w
/// Stated in public abstracts: the two branches and w' = w + w u_m + u_a. From third-party transcriptions of
/// the paper's algorithm: three moments, all bias-corrected, decay by eta_a. Their further division of u_m by
/// |w| (which makes the step of that branch independent of |w|) is not part of the published equation and not
/// done here. Derived: after escaping zero, v_e has seen zeros for t steps, so n can reach 1/sqrt(1 - beta2);
/// g_bound acts there.
struct MAdam : PlainWeight {
  static constexpr std::string_view name = "m_adam";
  static constexpr std::array<StateSlot, 3> state_slots{
      {{"m", Moment::first}, {"v", Moment::second}, {"v_e", Moment::second}}};

  struct Config {
    double eta_a = 1e-3, eta_m = 3e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
    double g_bound = 3;
    double weight_decay = 0;
  };

  template <class C, class See>
  static void settings(C& c, See&& see) {
    see("eta_a", c.eta_a, 0.0, 1e6);
    see("eta_m", c.eta_m, 0.0, 1e6);
    see("beta1", c.beta1, 0.0, below_one);
    see("beta2", c.beta2, 0.0, below_one);
    see("eps", c.eps, 0.0, 1e6);
    see("g_bound", c.g_bound, 0.0, 1e300);
    see("weight_decay", c.weight_decay, 0.0, 1e6);
  }

  template <class R>
  struct Scalars {
    R eta_a, eta_m, beta1, one_minus_beta1, beta2, one_minus_beta2, m_correction, v_correction, eps, g_bound,
        decay;
    R ln2;
  };

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants&, const StepInfo& now) {
    const double eta_a = c.eta_a * now.schedule;
    return {R(eta_a),
            R(c.eta_m * now.schedule),
            R(c.beta1),
            R(1 - c.beta1),
            R(c.beta2),
            R(1 - c.beta2),
            R(bias_correction(c.beta1, now.step)),
            R(bias_correction(c.beta2, now.step)),
            R(c.eps),
            R(c.g_bound),
            R(eta_a * c.weight_decay),
            R(0x1.62e42fefa39efp-1)};
  }

  template <class R>
  HALFULP_HD static std::array<R, 1> update(const Scalars<R>& c, const std::array<R, 1>& w,
                                            const std::array<R, 1>& g, std::array<R, 3>& state) noexcept {
    using std::sqrt;
    auto& [m, v, v_e] = state;
    const R g_e = c.ln2 * w[0] * g[0];
    m = c.beta1 * m + c.one_minus_beta1 * g[0];
    v = c.beta2 * v + c.one_minus_beta2 * (g[0] * g[0]);
    v_e = c.beta2 * v_e + c.one_minus_beta2 * (g_e * g_e);
    const R u_a = -(c.eta_a * (m * c.m_correction) / (sqrt(v * c.v_correction) + c.eps));
    const R u_m = -c.eta_m * clip(g_e / (sqrt(v_e * c.v_correction) + c.eps), c.g_bound);
    return {w[0] * u_m + u_a - c.decay * w[0]};
  }
};

}  // namespace halfulp
