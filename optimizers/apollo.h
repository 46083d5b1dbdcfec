#pragma once
#include "optimizers/channel_scaling.h"
#include "optimizers/norm_growth_limiter.h"
#include "optimizers/rule.h"

namespace halfulp {

/// APOLLO (Zhu et al. 2024): Adam in a low-rank projection of a matrix G says how fast its channels move.
///   H = P G (rows < columns) or G P',   P normal with variance 1/rank, drawn anew every projection_gap steps
///   M = beta1 M + (1 - beta1) H,  V = beta2 V + (1 - beta2) H^2     kept when P changes
///   H~ = M / (sqrt(V) + eps)
///   s_j = |H~_j| / (|H_j| + 1e-8)   along the rank axis, one for each index of the longer side;
///                                   scale_type tensor: one ratio of all of it
///   U = G s_j;  U sqrt(scale) if scale_front;  limiter (norm_growth_limiter.h);  U sqrt(scale) if not
///   u = -(eta_t U),  eta_t = eta sqrt(1 - beta2^t) / (1 - beta1^t) in double;   decay eta lambda
/// A vector has no low rank: U = M / (sqrt(V) + eps) with H = G, neither scale nor limiter. Stated by the
/// official code: all of it, but there decay is taken from the weight already moved, which differs by eta
/// lambda u. Derived: with H_j of norm about |G_j| and |H~_j| about sqrt(rank), an element moves by about eta
/// sqrt(scale rank / shorter side), which the choices of scale are to make eta. M and V are rank numbers for
/// each index of the longer side. Updates use M and V before they are rounded, also where the plan computes
/// those of other rules from stored states.
struct Apollo : PlainWeight {
  static constexpr std::string_view name = "apollo";
  static constexpr std::array<StateSlot, 0> state_slots{};
  static constexpr std::array<StateSlot, 2> auxiliary_slots{{{"m", Moment::first}, {"v", Moment::second}}};

  enum class ScaleFront : std::uint8_t { no, yes };
  static constexpr std::array<std::string_view, 2> scale_front_names{"no", "yes"};

  struct Config {
    double eta = 1e-2;
    int rank = 256;  ///< at most the shorter side
    double scale = 1;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-6;
    double weight_decay = 0;   ///< lambda
    int projection_gap = 200;  ///< steps
    ScaleType scale_type = ScaleType::channel;
    NormLimiter limiter = NormLimiter::on;
    ScaleFront scale_front = ScaleFront::no;
  };

  template <class C, class See>
  static void settings(C& c, See&& see) {
    see("eta", c.eta, 0.0, 1e6);
    see("rank", c.rank, 1, 1 << 20);
    see("scale", c.scale, 0.0, 1e6);
    see("beta1", c.beta1, 0.0, below_one);
    see("beta2", c.beta2, 0.0, below_one);
    see("eps", c.eps, 0.0, 1e6);
    see("weight_decay", c.weight_decay, 0.0, 1e6);
    see("projection_gap", c.projection_gap, 1, 1 << 30);
    see("scale_type", c.scale_type, scale_type_names);
    see("limiter", c.limiter, norm_limiter_names);
    see("scale_front", c.scale_front, scale_front_names);
  }

  template <class R>
  struct Scalars {
    R eta_t, beta1, one_minus_beta1, beta2, one_minus_beta2, eps, root_of_scale;
  };

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants&, const StepInfo& now) {
    const double eta_t = c.eta * now.schedule * bias_correction(c.beta1, now.step) /
                         std::sqrt(bias_correction(c.beta2, now.step));
    return {R(eta_t),       R(c.beta1), R(1 - c.beta1),       R(c.beta2),
            R(1 - c.beta2), R(c.eps),   R(std::sqrt(c.scale))};
  }
  static double decay(const Config& c, const StepInfo& now) noexcept {
    return c.eta * now.schedule * c.weight_decay;
  }
  static TypicalStep typical_step(const Config& c, const StepInfo& now) noexcept {
    return {c.eta * now.schedule, 0};
  }

  static std::vector<std::size_t> auxiliary_shape(const Config& c, const TensorInfo& info) {
    return ProjectedShape(info, static_cast<std::size_t>(c.rank)).projected();
  }

  /// U of each element. last_norm: of the limiter.
  template <class R>
  static std::vector<R> guide(const Config& config, const Scalars<R>& c, const TensorInfo& info,
                              const StepInfo& now, const std::array<std::vector<R>, 1>&,
                              const std::array<std::vector<R>, 1>& gradients,
                              std::array<std::vector<R>, 2>& moments, double& last_norm) {
    const ProjectedShape shape(info, static_cast<std::size_t>(config.rank));
    const std::vector<R> h =
        project(shape, gradients[0], now.seed, info.id,
                projection_interval(now.step, static_cast<std::uint64_t>(config.projection_gap)));
    auto& [m, v] = moments;
    std::vector<R> adapted(h.size());
    for (std::size_t i = 0; i < h.size(); ++i) {
      m[i] = c.beta1 * m[i] + c.one_minus_beta1 * h[i];
      v[i] = c.beta2 * v[i] + c.one_minus_beta2 * (h[i] * h[i]);
      adapted[i] = m[i] / (std::sqrt(v[i]) + c.eps);
    }
    if (shape.is_vector) return adapted;
    std::vector<R> update =
        scaled_by_channel(shape, scaling_factors(shape, config.scale_type, adapted, h, 1e-8), gradients[0]);
    const auto apply_scale = [&] {
      for (R& u : update) u *= c.root_of_scale;
    };
    if (config.scale_front == ScaleFront::yes) apply_scale();
    if (config.limiter == NormLimiter::on) limit_norm_growth(update, now.step <= 1, last_norm);
    if (config.scale_front == ScaleFront::no) apply_scale();
    return update;
  }

  template <class R>
  HALFULP_HD static std::array<R, 0> advance(const Scalars<R>&, const std::array<R, 1>&,
                                             const std::array<R, 1>&, const std::array<R, 0>&) noexcept {
    return {};
  }

  template <class R>
  HALFULP_HD static std::array<R, 1> increment(const Scalars<R>& c, const std::array<R, 1>&,
                                               const std::array<R, 1>&, const std::array<R, 0>&,
                                               const std::array<R, 0>&, R update) noexcept {
    return {-(c.eta_t * update)};
  }
};

/// APOLLO-Mini (the same paper): rank 1 and one factor for the whole tensor, which scale 128 then lengthens.
struct ApolloMini : Apollo {
  static constexpr std::string_view name = "apollo_mini";

  struct Config : Apollo::Config {
    Config() {
      rank = 1;
      scale = 128;
      scale_type = ScaleType::tensor;
    }
  };
};

}  // namespace halfulp
