#pragma once
#include "emulation/elementary.h"
#include "optimizers/nearest_integer.h"
#include "optimizers/rule.h"

namespace halfulp {

/// IntegerMadam (Bernstein et al. 2020): the magnitude of a weight is one of `levels` geometric steps below w_max.
///   v = beta2 v + (1 - beta2) g^2
///   n = clip(g / sqrt(v c2), g_bound),  c2 = 1 / (1 - beta2^t)      no epsilon; NaN (0/0) counts as 0
///   k = k + nearest_integer(lr_factor n) sign(w), kept in [0, levels - 1]
///   w' = sign(w) (w_max exp(-base_lr k)),  w_max = w_scale rms(w0);   u = w' - w
/// Stated by the official code: all of it, k uniform at random at the start, 4096 levels (12 bits), base_lr 0.001 and
/// lr_factor 10 (16 in its CIFAR script). Derived: the first step redraws every magnitude from exp(-base_lr k), which
/// spans exp(-4.095); there is no code for zero, but a weight that starts at zero or is stored as zero has no sign
/// and stays. lr_factor is the rate that schedules multiply; where lr_factor |n| < 1/2 nothing moves.
/// w + u is w' to half an ulp of the larger of w and w', and exactly from the second step at that level on. Ours:
/// initial_k nearest, the level nearest to |w0| (of two equally near the larger magnitude), and that k stays if w
/// is NaN.
struct IntegerMadam : PlainWeight {
  static constexpr std::string_view name = "integer_madam";
  static constexpr std::array<StateSlot, 2> state_slots{{{"k", Moment::none}, {"v", Moment::second}}};

  enum class InitialK : std::uint8_t { random, nearest };
  static constexpr std::array<std::string_view, 2> initial_k_names{"random", "nearest"};

  struct Config {
    int levels = 4096;
    double base_lr = 1e-3, lr_factor = 10;
    double g_bound = 10;
    double beta2 = 0.999;
    double w_scale = 3;
    InitialK initial_k = InitialK::random;
  };

  template <class C, class See>
  static void settings(C& c, See&& see) {
    see("levels", c.levels, 1, 1 << 24);  // every level is an integer that float holds
    see("base_lr", c.base_lr, 0.0, 1e6);
    see("lr_factor", c.lr_factor, 0.0, 1e6);
    see("g_bound", c.g_bound, 0.0, 1e300);
    see("beta2", c.beta2, 0.0, below_one);
    see("w_scale", c.w_scale, 0.0, 1e300);
    see("initial_k", c.initial_k, initial_k_names);
  }

  template <class R>
  struct Scalars {
    R beta2, one_minus_beta2, v_correction, g_bound, lr_factor, base_lr, last_level, w_max;
  };

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants& tensor, const StepInfo& now) {
    return {R(c.beta2),
            R(1 - c.beta2),
            R(bias_correction(c.beta2, now.step)),
            R(c.g_bound),
            R(c.lr_factor * now.schedule),
            R(c.base_lr),
            R(c.levels - 1),
            R(c.w_scale * tensor.initial_rms)};
  }
  static TypicalStep typical_step(const Config& c, const StepInfo& now) noexcept {
    return {0, c.base_lr * c.lr_factor * now.schedule};
  }

  static std::array<double, 2> initial_state(const Config& c, double w0, const TensorConstants& tensor,
                                             std::uint32_t random) noexcept {
    if (c.initial_k == InitialK::nearest)
      return {nearest_level(c, std::fabs(w0), c.w_scale * tensor.initial_rms), 0};
    return {
        static_cast<double>(static_cast<std::uint64_t>(random) * static_cast<std::uint64_t>(c.levels) >> 32),
        0};
  }

  template <class R>
  HALFULP_HD static std::array<R, 2> advance(const Scalars<R>& c, const std::array<R, 1>& w,
                                             const std::array<R, 1>& g,
                                             const std::array<R, 2>& state) noexcept {
    using std::sqrt;
    const R v = c.beta2 * state[1] + c.one_minus_beta2 * (g[0] * g[0]);
    const R n = clip(g[0] / sqrt(v * c.v_correction), c.g_bound);
    const R k = state[0] + nearest_integer(c.lr_factor * n) * sign_of(w[0]);
    return {k < R(0) ? R(0) : k > c.last_level ? c.last_level : k == k ? k : state[0], v};
  }

  template <class R>
  HALFULP_HD static std::array<R, 1> increment(const Scalars<R>& c, const std::array<R, 1>& w,
                                               const std::array<R, 1>&, const std::array<R, 2>&,
                                               const std::array<R, 2>& state) noexcept {
    return {sign_of(w[0]) * (c.w_max * elementary::exp(-c.base_lr * state[0])) - w[0]};
  }

 private:
  /// Zero, for which every level is too large, has the last; so has everything where all levels are alike.
  static double nearest_level(const Config& c, double magnitude, double w_max) noexcept {
    const double last = c.levels - 1;
    if (!(magnitude > 0) || !(w_max > 0) || !(c.base_lr > 0)) return last;
    const double exact = elementary::log(w_max / magnitude) / c.base_lr;
    if (!(exact > 0)) return 0;
    if (!(exact < last)) return last;
    const double above = std::floor(exact);
    const auto distance = [&](double k) {
      return std::fabs(w_max * elementary::exp(-c.base_lr * k) - magnitude);
    };
    return distance(above + 1) < distance(above) ? above + 1 : above;
  }
};

}  // namespace halfulp
