#pragma once
#include "optimizers/rule.h"

namespace halfulp {

/// Stochastic gradient descent with momentum:
///   g' = g + lambda w                                   decay coupled, else g' = g
///   b = g' in the first step, then b = mu b + (1 - dampening) g'
///   d = b                                               heavy_ball
///   d = g' + mu b                                       nesterov
///   u = -eta d;   decay eta lambda                      where decoupled
/// With mu = 0: b = g' and d = g', dampening ignored. Stated by PyTorch's documentation of torch.optim.SGD: all of
/// it but the decoupled decay, also that the first buffer is the gradient itself, not dampened. Decoupled decay:
/// Loshchilov & Hutter 2019, Alg. 1. PyTorch refuses nesterov with dampening; here the equations answer. Without a
/// normalisation |u| is whatever the gradient is, so no typical step is known.
struct Sgd : PlainWeight {
  static constexpr std::string_view name = "sgd";
  static constexpr std::array<StateSlot, 1> state_slots{{{"b", Moment::first}}};

  enum class Momentum : std::uint8_t { heavy_ball, nesterov };
  static constexpr std::array<std::string_view, 2> momentum_names{"heavy_ball", "nesterov"};
  enum class Decay : std::uint8_t { decoupled, coupled };
  static constexpr std::array<std::string_view, 2> decay_names{"decoupled", "coupled"};

  struct Config {
    double eta = 1e-1;
    double mu = 0.9, dampening = 0;
    double weight_decay = 0;  ///< lambda
    Momentum momentum = Momentum::heavy_ball;
    Decay decay = Decay::decoupled;
  };

  template <class C, class See>
  static void settings(C& c, See&& see) {
    see("eta", c.eta, 0.0, 1e6);
    see("mu", c.mu, 0.0, below_one);
    see("dampening", c.dampening, 0.0, 1.0);
    see("weight_decay", c.weight_decay, 0.0, 1e6);
    see("momentum", c.momentum, momentum_names);
    see("decay", c.decay, decay_names);
  }

  template <class R>
  struct Scalars {
    R eta, mu, added, lambda;
    bool buffer_is_gradient;
    Momentum momentum;
  };

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants&, const StepInfo& now) {
    return {R(c.eta * now.schedule),    R(c.mu),
            R(1 - c.dampening),         R(c.decay == Decay::coupled ? c.weight_decay : 0),
            now.step <= 1 || c.mu == 0, c.momentum};
  }
  static double decay(const Config& c, const StepInfo& now) noexcept {
    return c.decay == Decay::decoupled ? c.eta * now.schedule * c.weight_decay : 0;
  }
  static TypicalStep typical_step(const Config&, const StepInfo&) noexcept { return {}; }

  template <class R>
  HALFULP_HD static std::array<R, 1> advance(const Scalars<R>& c, const std::array<R, 1>& w,
                                             const std::array<R, 1>& g,
                                             const std::array<R, 1>& state) noexcept {
    const R gradient = with_l2(g[0], w[0], c.lambda);
    return {c.buffer_is_gradient ? gradient : c.mu * state[0] + c.added * gradient};
  }

  template <class R>
  HALFULP_HD static std::array<R, 1> increment(const Scalars<R>& c, const std::array<R, 1>& w,
                                               const std::array<R, 1>& g, const std::array<R, 1>&,
                                               const std::array<R, 1>& state) noexcept {
    if (c.momentum == Momentum::heavy_ball) return {-(c.eta * state[0])};
    return {-(c.eta * (with_l2(g[0], w[0], c.lambda) + c.mu * state[0]))};
  }
};

}  // namespace halfulp
