#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "formats/lane.h"
#include "formats/platform.h"
#include "formats/rounding.h"

namespace halfulp {

/// Which statistic of the gradient a state holds; plans store first and second moments in different formats,
/// since a second moment spans twice the binades of a first one.
enum class Moment : std::uint8_t {
  first,
  second,
  none,  ///< no moment but an integer that has to stay one: kept in the number type of the rule, whatever the plan
};

struct StateSlot {
  std::string_view name;
  Moment moment;
};

/// What a rule may know of a whole tensor, fixed before the first step.
struct TensorConstants {
  double initial_rms;  ///< root mean square of the initial weights
};

/// What a rule knows of time.
struct StepInfo {
  std::uint64_t step;  ///< 1, 2, ...: the t of bias corrections
  double
      schedule;  ///< multiplies every learning rate of the rule, but for a multiplicative branch beside another
  std::uint64_t seed;  ///< of rounding and sampling
  double schedule_m;   ///< multiplies the learning rate of that branch

  StepInfo(std::uint64_t t, double both, std::uint64_t random_seed) noexcept
      : StepInfo(t, both, random_seed, both) {}
  StepInfo(std::uint64_t t, double additive, std::uint64_t random_seed, double multiplicative) noexcept
      : step(t), schedule(additive), seed(random_seed), schedule_m(multiplicative) {}
};

/// How far a step of a rule usually moves a weight w: absolute + relative |w|. What it should be compared with: half a
/// gap, for a prediction; ten times itself, for a step that explodes.
struct TypicalStep {
  double absolute = 0, relative = 0;

  double at(double w) const noexcept { return absolute + relative * std::fabs(w); }
};

/// 1 / (1 - beta^t): the bias correction, in double; beta is never rounded to a storage format.
inline double bias_correction(double beta, std::uint64_t step) noexcept {
  double power = 1;
  double base = beta;
  for (std::uint64_t t = step; t != 0; t >>= 1) {
    if (t & 1) power *= base;
    base *= base;
  }
  return 1 / (1 - power);
}

/// The largest double below 1: a beta of 1 would make every bias correction infinite.
inline constexpr double below_one = 0x1.fffffffffffffp-1;

/// 1, -1, or x itself if it is a zero or a NaN.
template <class R>
HALFULP_LANES constexpr R sign_of(R x) noexcept {
  return select(x > R(0), R(1), select(x < R(0), R(-1), x));
}

/// x limited to [-bound, bound]; a NaN becomes 0 (0/0 where a gradient and its moment are both zero).
template <class R>
HALFULP_LANES constexpr R clip(R x, R bound) noexcept {
  const R limited = select(x > bound, bound, select(x < R(-bound), R(-bound), x));
  return select(x == x, limited, R(0));
}

/// The increment u, bounded so that |w + u| <= w_max (infinite: unbounded). As an increment it leads to +-w_max exactly
/// for |w| <= 2 w_max (Sterbenz), else within half an ulp of w, and exactly in the next step.
template <class R>
HALFULP_LANES constexpr R bounded(R w, R u, R w_max) noexcept {
  const R moved = w + u;
  return select(moved > w_max, R(w_max - w), select(moved < R(-w_max), R(-w_max - w), u));
}

/// A computed NaN as the one quiet NaN: its sign and payload differ between processors, and both would be stored.
template <class R>
HALFULP_LANES constexpr R canonical(R x) noexcept {
  return select(x == x, x, R(std::numeric_limits<float>::quiet_NaN()));
}

/// from + by; without an update the weight stays as it is, -0 included (-0 + 0 is +0).
template <class R>
HALFULP_LANES constexpr R moved_by(R from, R by) noexcept {
  return select(by == R(0), canonical(from), canonical(R(from + by)));
}

/// The gradient of loss + (lambda / 2) w^2: coupled weight decay. lambda = 0 leaves g as it is, -0 and w = Inf included.
template <class R>
HALFULP_LANES constexpr R with_l2(R g, R w, R lambda) noexcept {
  return select(lambda == R(0), g, g + lambda * w);
}

// A rule is a struct with
//   name, weight_slots, state_slots      what is stored for each parameter
//   default_rounding                     of stored weights, where the plan does not say
//   Config                               numbers and modes of the rule, learning rates included, as double
//   settings(Config, see)                calls see(name, number, smallest, largest) or see(name, mode, names of the
//                                        modes) for each of them
//   Scalars<R>                           what one step uses, computed in double and converted once
//   scalars<R>(Config, TensorConstants, StepInfo)
//   initialize(Config, w0, TensorConstants, random)   initial value of each weight slot, in double; random: one integer
//                                        of 32 bits for the element
//   initial_state(Config, w0, TensorConstants, random)   the same of each state
//   samples(Config)                      noise samples per step; 0 for a rule without sampling
//   noise(Scalars, z, z_tensor)          the noise factor of a standard normal deviate of the element and one that the
//                                        whole tensor shares; 1 means no noise
//   view(Scalars, w, e)                  the weight that the model sees, under noise factors e
//   view_scale(Config, amax)             optional: a factor of all the weights that the model sees, from their amax
//   pull_back(Scalars, w, e, d)          the gradient of each weight slot, given d = dL/dview
//   advance(Scalars, w, g, state)        the new state
//   increment(Scalars, w, g, old, state) the increment of each weight slot, from the state before and after advance()
//   decay(Config, StepInfo)              what decoupled weight decay takes of a weight in this step, relative to it
//   typical_step(Config, StepInfo)
// all of them pure, those on elements generic in the number type R. increment() is kept apart from advance() so that a
// plan can put the rounding of the states between them. Most rules store one weight and view it as it is:

/// View and gradient of a rule whose one weight slot is the weight; states that start at zero; no weight decay.
struct PlainWeight {
  static constexpr std::array<std::string_view, 1> weight_slots{"w"};
  static constexpr Rounding default_rounding = nearest_even;

  template <class Config>
  static std::array<double, 1> initialize(const Config&, double w0, const TensorConstants&,
                                          std::uint32_t) noexcept {
    return {w0};
  }
  template <class Config>
  static constexpr int samples(const Config&) noexcept {
    return 0;
  }
  template <class Scalars, class R>
  HALFULP_HD static constexpr R noise(const Scalars&, R, R) noexcept {
    return R(1);
  }
  template <class Scalars, class R>
  HALFULP_HD static constexpr R view(const Scalars&, const std::array<R, 1>& w,
                                     const std::array<R, 1>&) noexcept {
    return w[0];
  }
  template <class Scalars, class R>
  HALFULP_HD static constexpr std::array<R, 1> pull_back(const Scalars&, const std::array<R, 1>&,
                                                         const std::array<R, 1>&, R d) noexcept {
    return {d};
  }
  template <class Config>
  static double decay(const Config&, const StepInfo&) noexcept {
    return 0;
  }
};

/// Initial states of a rule: zero, where it does not say.
template <class Rule>
std::array<double, Rule::state_slots.size()> initial_state_of(const typename Rule::Config& config, double w0,
                                                              const TensorConstants& tensor,
                                                              std::uint32_t random) {
  if constexpr (requires { Rule::initial_state(config, w0, tensor, random); })
    return Rule::initial_state(config, w0, tensor, random);
  else
    return {};
}

/// One update without storage: state becomes the new one, the increment is returned, weight decay not included.
template <class Rule, class Scalars, class R, std::size_t weights, std::size_t states>
HALFULP_HD std::array<R, weights> update_of(const Scalars& c, const std::array<R, weights>& w,
                                            const std::array<R, weights>& g,
                                            std::array<R, states>& state) noexcept {
  const std::array<R, states> old = state;
  state = Rule::advance(c, w, g, old);
  return Rule::increment(c, w, g, old, state);
}

}  // namespace halfulp
