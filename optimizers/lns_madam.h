#pragma once
#include "emulation/elementary.h"
#include "optimizers/nearest_integer.h"
#include "optimizers/rule.h"

namespace halfulp {

/// LNS-Madam (Zhao et al. 2022, Madam for weights in a logarithmic number system):
///   v = beta2 v + (1 - beta2) g^2
///   n = nearest_integer(clip(g / sqrt(v c2), g_bound)),  c2 = 1 / (1 - beta2^t)    ties to even; NaN (0/0) counts as 0
///   x = (-eta n) sign(w)
///   u = w exp2m1(x)                                     lambda = 0
///   u = w expm1(x - eta lambda)                         lambda > 0, decay in the natural_base
///   u = w exp2m1(x - eta lambda)                        lambda > 0, decay in the same_base
///   bounded so that |w + u| <= w_scale rms(w0)
/// Stated by the authors' code: all of it but same_base. Its path with decay has another base than the path
/// without: the smallest lambda > 0 makes every gradient step ln 2 = 0.69 times as long. same_base is ours, without
/// that jump. Derived: with eta = 1/128 and no schedule, log2 |w| moves on a grid of 1/128. The gradient side
/// stagnates by itself: where |g| < sqrt(v c2) / 2, n = 0 and nothing moves whatever w is stored in; g_bound < 1/2
/// stops everything.
struct LnsMadam : PlainWeight {
  static constexpr std::string_view name = "lns_madam";
  static constexpr std::array<StateSlot, 1> state_slots{{{"v", Moment::second}}};

  enum class DecayBase : std::uint8_t { natural_base, same_base };
  static constexpr std::array<std::string_view, 2> decay_base_names{"natural_base", "same_base"};

  struct Config {
    double eta = 0x1p-7;
    double beta2 = 0.999;
    double g_bound = 10;
    double w_scale = 3;
    double weight_decay = 0;  ///< lambda
    DecayBase decay_base = DecayBase::natural_base;
  };

  template <class C, class See>
  static void settings(C& c, See&& see) {
    see("eta", c.eta, 0.0, 1e6);
    see("beta2", c.beta2, 0.0, below_one);
    see("g_bound", c.g_bound, 0.0, 1e300);
    see("w_scale", c.w_scale, 0.0, 1e300);
    see("weight_decay", c.weight_decay, 0.0, 1e6);
    see("decay_base", c.decay_base, decay_base_names);
  }

  template <class R>
  struct Scalars {
    R eta, beta2, one_minus_beta2, v_correction, g_bound, w_max, decay;
    bool natural;
  };

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants& tensor, const StepInfo& now) {
    return {R(c.eta * now.schedule),
            R(c.beta2),
            R(1 - c.beta2),
            R(bias_correction(c.beta2, now.step)),
            R(c.g_bound),
            R(c.w_scale * tensor.initial_rms),
            R(c.eta * now.schedule * c.weight_decay),
            c.weight_decay != 0 && c.decay_base == DecayBase::natural_base};
  }
  static TypicalStep typical_step(const Config& c, const StepInfo& now) noexcept {
    return {0, 0x1.62e42fefa39efp-1 * c.eta * now.schedule};  // ln 2: the exponent is one of 2
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
    const R n = nearest_integer(clip(g[0] / sqrt(state[0] * c.v_correction), c.g_bound));
    const R exponent = -c.eta * n * sign_of(w[0]) - c.decay;
    const R u = w[0] * (c.natural ? elementary::expm1(exponent) : elementary::exp2m1(exponent));
    return {bounded(w[0], u, c.w_max)};
  }
};

}  // namespace halfulp
