#pragma once
#include <limits>

#include "emulation/elementary.h"
#include "optimizers/rule.h"

namespace halfulp {

/// M+Adam (Liang, Loeschcke, Toftrup, Anandkumar 2026):
///   g_e = (ln2 w) g, clipped to +-g_e_bound unless that is 0          gradient by the exponent of w = +-2^e
///   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,  v_e = beta2 v_e + (1 - beta2) g_e^2
///   u_a = -((eta_a (m c1)) / (sqrt(v c2) + eps)),  c = 1 / (1 - beta^t) in double
///   n = clip(g_e / (sqrt(v_e c2) + eps), g_bound)         eps_placement added; floor: g_e / max(sqrt(v_e c2), eps)
///   raw gradient: this branch has no first moment
///   w' - w = w (-eta_m n) + u_a                           relative
///            w exp2m1(-eta_m n - k) + u_a                 exp2
///            w (-eta_m n / max(|w|, tau)) + u_a           rho_unsigned
///            w exp2m1(d - k) + u_a,                       log1p_capped
///              d = clip(log1p(clip(-eta_m n / max(|w|, tau), u_m_cap)) / ln2, de_cap)
///   k = eta_m exponent_decay e, with |w| = f 2^e and f in [0.5, 1)       decay of the exponent towards 0
///   tau = max(tau, tau_relative rms(w0));  bounded so that |w'| <= p_scale rms(w0) unless p_scale is 0
///   decay of the weight: eta_a lambda, added after all this
/// Stated in public abstracts: the two branches and w' = w + w u_m + u_a, u_m a relative update; so relative is the
/// default. From two third-party transcriptions, of the paper's algorithm (A) and of its official code (B): three
/// moments, all bias-corrected, decay by eta_a; both divide u_m by |w|, which makes the step of that branch
/// independent of |w|: rho_unsigned. A divides by max(|w|, tau) with the sign of w, which ascends for every w < 0
/// and is only a test here. B: eps as a floor, tau 1e-8 and 1e-6 rms(w) (of the initial weights here: a rule knows
/// no later ones), g_bound 20, g_e_bound 1e19, caps 0.75 and 0.5, exponent_decay, p_scale 3 (off by default there
/// too) and log1p_capped. B also rounds g 2^e, moments and v_e to the weight's type: a plan's choice here. exp2 is
/// Madam's form, ours. Derived: in log1p_capped one step lies in 2^+-0.5, and is rho_unsigned's to first order
/// where |w| is large. After escaping zero, v_e has seen zeros for t steps, so n can reach 1/sqrt(1 - beta2):
/// g_bound acts there.
struct MAdam : PlainWeight {
  static constexpr std::string_view name = "m_adam";
  static constexpr std::array<StateSlot, 3> state_slots{
      {{"m", Moment::first}, {"v", Moment::second}, {"v_e", Moment::second}}};

  enum class MultMode : std::uint8_t { relative, exp2, rho_unsigned, log1p_capped };
  static constexpr std::array<std::string_view, 4> mult_mode_names{"relative", "exp2", "rho_unsigned",
                                                                   "log1p_capped"};
  enum class EpsPlacement : std::uint8_t { added, floor };
  static constexpr std::array<std::string_view, 2> eps_placement_names{"added", "floor"};

  struct Config {
    double eta_a = 1e-3, eta_m = 3e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
    double g_bound = 3;
    double weight_decay = 0;  ///< lambda
    MultMode mult_mode = MultMode::relative;
    EpsPlacement eps_placement = EpsPlacement::added;
    double tau = 1e-6, tau_relative = 0;
    double u_m_cap = 0.75, de_cap = 0.5;
    double exponent_decay = 0;
    double g_e_bound = 0, p_scale = 0;  ///< 0: none
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
    see("mult_mode", c.mult_mode, mult_mode_names);
    see("eps_placement", c.eps_placement, eps_placement_names);
    see("tau", c.tau, 0.0, 1e6);
    see("tau_relative", c.tau_relative, 0.0, 1e6);
    see("u_m_cap", c.u_m_cap, 0.0, 1e6);
    see("de_cap", c.de_cap, 0.0, 1e6);
    see("exponent_decay", c.exponent_decay, 0.0, 1e6);
    see("g_e_bound", c.g_e_bound, 0.0, 1e300);
    see("p_scale", c.p_scale, 0.0, 1e300);
  }

  template <class R>
  struct Scalars {
    R eta_a, eta_m, beta1, one_minus_beta1, beta2, one_minus_beta2, m_correction, v_correction, eps, g_bound,
        ln2;
    R tau, u_m_cap, de_cap, exponent_decay, g_e_bound, w_max;
    MultMode mult_mode;
    EpsPlacement eps_placement;
    bool bounds_g_e, forgets;
  };

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants& tensor, const StepInfo& now) {
    const double tau_of_tensor = c.tau_relative * tensor.initial_rms;
    return {R(c.eta_a * now.schedule),
            R(c.eta_m * now.schedule_m),
            R(c.beta1),
            R(1 - c.beta1),
            R(c.beta2),
            R(1 - c.beta2),
            R(bias_correction(c.beta1, now.step)),
            R(bias_correction(c.beta2, now.step)),
            R(c.eps),
            R(c.g_bound),
            R(0x1.62e42fefa39efp-1),
            R(tau_of_tensor > c.tau ? tau_of_tensor : c.tau),
            R(c.u_m_cap),
            R(c.de_cap),
            R(c.eta_m * now.schedule_m * c.exponent_decay),
            R(c.g_e_bound),
            R(c.p_scale == 0 ? std::numeric_limits<double>::infinity() : c.p_scale * tensor.initial_rms),
            c.mult_mode,
            c.eps_placement,
            c.g_e_bound != 0,
            c.exponent_decay != 0};
  }
  static double decay(const Config& c, const StepInfo& now) noexcept {
    return c.eta_a * now.schedule * c.weight_decay;
  }
  static TypicalStep typical_step(const Config& c, const StepInfo& now) noexcept {
    const double a = c.eta_a * now.schedule, m = c.eta_m * now.schedule_m;
    if (c.mult_mode == MultMode::relative) return {a, m};
    if (c.mult_mode == MultMode::exp2) return {a, 0x1.62e42fefa39efp-1 * m};
    return {a + m, 0};
  }

  template <class R>
  HALFULP_HD static std::array<R, 3> advance(const Scalars<R>& c, const std::array<R, 1>& w,
                                             const std::array<R, 1>& g,
                                             const std::array<R, 3>& state) noexcept {
    const R g_e = exponent_gradient(c, w[0], g[0]);
    return {c.beta1 * state[0] + c.one_minus_beta1 * g[0],
            c.beta2 * state[1] + c.one_minus_beta2 * (g[0] * g[0]),
            c.beta2 * state[2] + c.one_minus_beta2 * (g_e * g_e)};
  }

  template <class R>
  HALFULP_HD static std::array<R, 1> increment(const Scalars<R>& c, const std::array<R, 1>& w,
                                               const std::array<R, 1>& g, const std::array<R, 3>&,
                                               const std::array<R, 3>& state) noexcept {
    using std::sqrt;
    const auto& [m, v, v_e] = state;
    const R g_e = exponent_gradient(c, w[0], g[0]);
    const R u_a = -(c.eta_a * (m * c.m_correction) / (sqrt(v * c.v_correction) + c.eps));
    const R root = sqrt(v_e * c.v_correction);
    const R denominator =
        c.eps_placement == EpsPlacement::added ? R(root + c.eps) : select(root < c.eps, c.eps, root);
    const R step = -c.eta_m * clip(g_e / denominator, c.g_bound);
    return {bounded(w[0], w[0] * relative_step(c, w[0], step) + u_a, c.w_max)};
  }

 private:
  template <class R>
  HALFULP_HD static R exponent_gradient(const Scalars<R>& c, R w, R g) noexcept {
    const R g_e = c.ln2 * w * g;
    return c.bounds_g_e ? clip(g_e, c.g_e_bound) : g_e;
  }

  /// What the multiplicative branch adds to w, relative to w.
  template <class R>
  HALFULP_HD static R relative_step(const Scalars<R>& c, R w, R step) noexcept {
    if (c.mult_mode == MultMode::relative) return step;
    const R forgotten = c.forgets ? R(c.exponent_decay * exponent_of(w)) : R(0);
    if (c.mult_mode == MultMode::exp2) return elementary::exp2m1(step - forgotten);
    const R magnitude = select(w < R(0), R(-w), w);
    const R ratio = step / select(magnitude < c.tau, c.tau, magnitude);
    if (c.mult_mode == MultMode::rho_unsigned) return ratio;
    const R exponent = clip(elementary::log1p(clip(ratio, c.u_m_cap)) / c.ln2, c.de_cap);
    return elementary::exp2m1(exponent - forgotten);
  }

  /// e of |w| = f 2^e with f in [0.5, 1); 0 where there is none: NaN, infinities, zeros.
  template <class R>
  HALFULP_HD static R exponent_of(R w) noexcept {
    if constexpr (elementary::detail::HasLane<R>) {
      const auto has_none = (w - w != R(0)) | (w == R(0));
      const auto reduced = elementary::detail::reduce_any(select(w < R(0), R(-w), w));
      // There 1 + f starts at sqrt(1/2), hence is below 1 where f is negative.
      return select(has_none, R(0), reduced.exponent + select(reduced.f < R(0), R(0), R(1)));
    } else {
      using std::frexp;
      if (!(w - w == R(0)) || w == R(0)) return R(0);
      int e = 0;
      frexp(w, &e);
      return R(e);
    }
  }
};

}  // namespace halfulp
