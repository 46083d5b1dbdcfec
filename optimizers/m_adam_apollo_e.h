#pragma once
#include "optimizers/channel_scaling.h"
#include "optimizers/factored_moment.h"
#include "optimizers/norm_growth_limiter.h"
#include "optimizers/rule.h"

namespace halfulp {

/// M+Adam (m_adam.h, relative mode) whose v_e is kept in low rank, "Apollo-E":
///   g_e = (ln2 w) g;   m, v and u_a as in M+Adam, one of each for every element
///   projected:  H = P g_e or g_e P' (projection.h);  V = beta2 V + (1 - beta2) H^2
///               s_j = |H_j / (sqrt(V_j c2) + eps)| / |H_j|   along the rank axis, one for each index of
///                                                            the longer side (0 where H_j = 0);
///                                                            scale_type tensor: one ratio of all of it
///               n = s_j g_e
///   factored:   n = g_e / (sqrt(v_e c2) + eps),  v_e from its rows and columns (factored_moment.h)
///   a vector:   n = g_e / (sqrt(v_e c2) + eps),  v_e of every element, as in M+Adam
///   n through the norm-growth limiter, if that is on
///   u = w (-eta_m clip(n, g_bound)) + u_a;   decay eta_a lambda
/// Stated in public abstracts: that the state of the multiplicative branch is compressed by an approximation
/// of rank 4 with this name. Unknown: everything else of it; the paper's definition is not public. Derived:
/// projected is APOLLO (apollo.h) carried over to a branch that has a second moment only, with its factor,
/// gap and limiter open; the limiter is off here, since g_bound limits already. factored is another reading,
/// of "approximation of v_e", with Adafactor's rank 1, and ignores rank, scale_type and projection_gap.
/// Expected: in projected, n is proportional to |w g| within a channel, where M+Adam's n is about 1 for every
/// element: the multiplicative step of a small weight is quadratic in it. v_e is rank numbers for each index
/// of the longer side; updates use it before it is rounded.
struct MAdamApolloE : PlainWeight {
  static constexpr std::string_view name = "m_adam_apollo_e";
  static constexpr std::array<StateSlot, 2> state_slots{{{"m", Moment::first}, {"v", Moment::second}}};
  static constexpr std::array<StateSlot, 1> auxiliary_slots{{{"v_e", Moment::second}}};

  enum class LowRank : std::uint8_t { projected, factored };
  static constexpr std::array<std::string_view, 2> low_rank_names{"projected", "factored"};
  enum class Limiter : std::uint8_t { off, on };
  static constexpr std::array<std::string_view, 2> limiter_names{"off", "on"};

  struct Config {
    double eta_a = 1e-3, eta_m = 3e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
    double g_bound = 3;
    double weight_decay = 0;   ///< lambda
    int rank = 4;              ///< at most the shorter side
    int projection_gap = 200;  ///< steps
    LowRank low_rank = LowRank::projected;
    ScaleType scale_type = ScaleType::channel;
    Limiter limiter = Limiter::off;
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
    see("rank", c.rank, 1, 1 << 20);
    see("projection_gap", c.projection_gap, 1, 1 << 30);
    see("low_rank", c.low_rank, low_rank_names);
    see("scale_type", c.scale_type, scale_type_names);
    see("limiter", c.limiter, limiter_names);
  }

  template <class R>
  struct Scalars {
    R eta_a, eta_m, beta1, one_minus_beta1, beta2, one_minus_beta2, m_correction, v_correction, eps, g_bound,
        ln2;
  };

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants&, const StepInfo& now) {
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
            R(0x1.62e42fefa39efp-1)};
  }
  static double decay(const Config& c, const StepInfo& now) noexcept {
    return c.eta_a * now.schedule * c.weight_decay;
  }
  static TypicalStep typical_step(const Config& c, const StepInfo& now) noexcept {
    return {c.eta_a * now.schedule, c.eta_m * now.schedule_m};
  }

  static std::vector<std::size_t> auxiliary_shape(const Config& c, const TensorInfo& info) {
    const ProjectedShape shape(info, static_cast<std::size_t>(c.rank));
    if (c.low_rank == LowRank::factored && !shape.is_vector) return {shape.rows + shape.columns};
    return shape.projected();
  }

  /// n of each element, not yet clipped. last_norm: of the limiter.
  template <class R>
  static std::vector<R> guide(const Config& config, const Scalars<R>& c, const TensorInfo& info,
                              const StepInfo& now, const std::array<std::vector<R>, 1>& weights,
                              const std::array<std::vector<R>, 1>& gradients,
                              std::array<std::vector<R>, 1>& moments, double& last_norm) {
    const ProjectedShape shape(info, static_cast<std::size_t>(config.rank));
    std::vector<R> g_e(info.size());
    for (std::size_t i = 0; i < g_e.size(); ++i) g_e[i] = c.ln2 * weights[0][i] * gradients[0][i];
    const auto adapt = [&](const std::vector<R>& numbers, const std::vector<R>& squares) {
      std::vector<R> adapted(numbers.size());
      for (std::size_t i = 0; i < adapted.size(); ++i)
        adapted[i] = numbers[i] / (std::sqrt(squares[i] * c.v_correction) + c.eps);
      return adapted;
    };
    std::vector<R> n;
    if (config.low_rank == LowRank::factored && !shape.is_vector) {
      FactoredMoment<R> v_e{shape, moments[0]};
      v_e.advance(g_e, c.beta2, c.one_minus_beta2);
      n = adapt(g_e, v_e.expanded());
    } else {
      const std::vector<R> h =
          project(shape, g_e, now.seed, info.id,
                  projection_interval(now.step, static_cast<std::uint64_t>(config.projection_gap)));
      std::vector<R>& v_e = moments[0];
      for (std::size_t i = 0; i < h.size(); ++i)
        v_e[i] = c.beta2 * v_e[i] + c.one_minus_beta2 * (h[i] * h[i]);
      n = adapt(h, v_e);
      if (!shape.is_vector)
        n = scaled_by_channel(shape, scaling_factors(shape, config.scale_type, n, h, 0), std::move(g_e));
    }
    if (config.limiter == Limiter::on) limit_norm_growth(n, now.step <= 1, last_norm);
    return n;
  }

  template <class R>
  HALFULP_HD static std::array<R, 2> advance(const Scalars<R>& c, const std::array<R, 1>&,
                                             const std::array<R, 1>& g,
                                             const std::array<R, 2>& state) noexcept {
    return {c.beta1 * state[0] + c.one_minus_beta1 * g[0],
            c.beta2 * state[1] + c.one_minus_beta2 * (g[0] * g[0])};
  }

  template <class R>
  HALFULP_HD static std::array<R, 1> increment(const Scalars<R>& c, const std::array<R, 1>& w,
                                               const std::array<R, 1>&, const std::array<R, 2>&,
                                               const std::array<R, 2>& state, R n) noexcept {
    using std::sqrt;
    const auto& [m, v] = state;
    const R u_a = -(c.eta_a * (m * c.m_correction) / (sqrt(v * c.v_correction) + c.eps));
    return {w[0] * (-c.eta_m * clip(n, c.g_bound)) + u_a};
  }
};

}  // namespace halfulp
