#pragma once
#include <limits>

#include "emulation/elementary.h"
#include "optimizers/rule.h"

namespace halfulp {

/// M+Adam as its authors showed it at a workshop before the paper (OPT 2025): mantissa and exponent are two
/// parameters.
///   view:   w = m 2^e, clamped to +-w_scale rms(w0) unless w_scale is 0
///   g_m = 2^e d,  g_e = (ln2 w) d                          d = dL/dw
///   M = beta1 M + (1 - beta1) g,  V = beta2 V + (1 - beta2) g^2       for each of the two
///   u_m = -clip(eta_m (M_m / (sqrt(V_m) + eps)), eta_m_max),  u_e likewise with eta_e and eta_e_max
///   start:  |w0| = |m| 2^e with |m| in [0.5, 1); m = e = 0 for zero
/// Stated by a third party's summary of the workshop paper: the pair, both gradients, a first and a second moment for
/// each, no bias correction, the clamps (there as eta clamp(., +-eta_max / eta), the same without dividing by eta)
/// and the clamp of w. Unknown: every value, and what w_max is made of; the defaults are ours. Ours also: the clamp
/// of w has derivative 1. Derived: without bias correction the first step is (1 - beta1) / sqrt(1 - beta2) = 3.2
/// eta. m can leave [0.5, 1) and cross zero, and while m = 0 the exponent does not move. A plan stores both in the
/// weights' format: bf16 holds every integer exponent up to 256, but moves of e below half an ulp of e are lost.
struct MAdamWorkshop {
  static constexpr std::string_view name = "m_adam_workshop";
  static constexpr std::array<std::string_view, 2> weight_slots{"mantissa", "exponent"};
  static constexpr std::array<StateSlot, 4> state_slots{{{"m_mantissa", Moment::first},
                                                         {"v_mantissa", Moment::second},
                                                         {"m_exponent", Moment::first},
                                                         {"v_exponent", Moment::second}}};
  static constexpr Rounding default_rounding = nearest_even;

  struct Config {
    double eta_m = 1e-3, eta_e = 3e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
    double eta_m_max = 1e-2, eta_e_max = 3e-2;
    double w_scale = 0;  ///< 0: no clamp
  };

  template <class C, class See>
  static void settings(C& c, See&& see) {
    see("eta_m", c.eta_m, 0.0, 1e6);
    see("eta_e", c.eta_e, 0.0, 1e6);
    see("beta1", c.beta1, 0.0, below_one);
    see("beta2", c.beta2, 0.0, below_one);
    see("eps", c.eps, 0.0, 1e6);
    see("eta_m_max", c.eta_m_max, 0.0, 1e300);
    see("eta_e_max", c.eta_e_max, 0.0, 1e300);
    see("w_scale", c.w_scale, 0.0, 1e300);
  }

  template <class R>
  struct Scalars {
    std::array<R, 2> eta, eta_max;  // mantissa, exponent
    R beta1, one_minus_beta1, beta2, one_minus_beta2, eps, w_max, ln2;
  };

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants& tensor, const StepInfo& now) {
    return {{R(c.eta_m * now.schedule), R(c.eta_e * now.schedule_m)},
            {R(c.eta_m_max), R(c.eta_e_max)},
            R(c.beta1),
            R(1 - c.beta1),
            R(c.beta2),
            R(1 - c.beta2),
            R(c.eps),
            c.w_scale == 0 ? std::numeric_limits<R>::infinity() : R(c.w_scale * tensor.initial_rms),
            R(0x1.62e42fefa39efp-1)};
  }

  static int samples(const Config&) noexcept { return 0; }
  /// None is stated, and the shared one would pull exponents towards 0, weights towards 1.
  static double decay(const Config&, const StepInfo&) noexcept { return 0; }
  /// Of the part that moves further.
  static TypicalStep typical_step(const Config& c, const StepInfo& now) noexcept {
    const double m = c.eta_m * now.schedule, e = c.eta_e * now.schedule_m;
    return {m > e ? m : e, 0};
  }

  static std::array<double, 2> initialize(const Config&, double w0, const TensorConstants&,
                                          std::uint32_t) noexcept {
    int e = 0;
    const double m = std::frexp(w0, &e);
    return {m, m - m == 0 ? e : 0.0};  // of NaN and infinities frexp says no exponent
  }

  template <class R>
  HALFULP_HD static R noise(const Scalars<R>&, R, R) noexcept {
    return R(1);
  }

  template <class R>
  HALFULP_HD static R view(const Scalars<R>& c, const std::array<R, 2>& w, const std::array<R, 2>&) noexcept {
    const R made = w[0] * elementary::exp2(w[1]);
    return made > c.w_max ? c.w_max : made < -c.w_max ? -c.w_max : made;
  }

  template <class R>
  HALFULP_HD static std::array<R, 2> pull_back(const Scalars<R>& c, const std::array<R, 2>& w,
                                               const std::array<R, 2>& e, R d) noexcept {
    return {elementary::exp2(w[1]) * d, c.ln2 * view(c, w, e) * d};
  }

  template <class R>
  HALFULP_HD static std::array<R, 4> advance(const Scalars<R>& c, const std::array<R, 2>&,
                                             const std::array<R, 2>& g,
                                             const std::array<R, 4>& state) noexcept {
    std::array<R, 4> next{};
    for (int part = 0; part < 2; ++part) {
      next[2 * part] = c.beta1 * state[2 * part] + c.one_minus_beta1 * g[part];
      next[2 * part + 1] = c.beta2 * state[2 * part + 1] + c.one_minus_beta2 * (g[part] * g[part]);
    }
    return next;
  }

  template <class R>
  HALFULP_HD static std::array<R, 2> increment(const Scalars<R>& c, const std::array<R, 2>&,
                                               const std::array<R, 2>&, const std::array<R, 4>&,
                                               const std::array<R, 4>& state) noexcept {
    using std::sqrt;
    std::array<R, 2> u{};
    for (int part = 0; part < 2; ++part)
      u[part] = -clip(c.eta[part] * (state[2 * part] / (sqrt(state[2 * part + 1]) + c.eps)), c.eta_max[part]);
    return u;
  }
};

}  // namespace halfulp
