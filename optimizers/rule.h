#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "formats/platform.h"
#include "formats/rounding.h"

namespace halfulp {

/// Which statistic of the gradient a state holds; plans store first and second moments in different formats,
/// since a second moment spans twice the binades of a first one.
enum class Moment : std::uint8_t { first, second };

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
  double schedule;     ///< multiplies every learning rate of the rule
  std::uint64_t seed;  ///< of rounding and sampling
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
HALFULP_HD constexpr R sign_of(R x) noexcept {
  return x > R(0) ? R(1) : x < R(0) ? R(-1) : x;
}

/// x limited to [-bound, bound]; a NaN becomes 0 (0/0 where a gradient and its moment are both zero).
template <class R>
HALFULP_HD constexpr R clip(R x, R bound) noexcept {
  return x > bound ? bound : x < -bound ? -bound : x == x ? x : R(0);
}

// A rule is a struct with
//   name, weight_slots, state_slots                what is stored for each parameter
//   Config                                         numbers of the rule, learning rates included, as double
//   settings(Config, see)                          calls see(name, number, smallest, largest) for each of
//   them default_rounding                               of stored weights, where the plan does not say
//   Scalars<R>                                     what one step uses, computed in double and converted once
//   scalars<R>(Config, TensorConstants, StepInfo)
//   initialize(w0, TensorConstants)                initial value of each weight slot, in double
//   samples(Config)                                noise samples per step; 0 for a rule without sampling
//   noise(Scalars, z)                              the noise factor of a standard normal deviate; 1 means no noise
//   view(w, e)                                     the weight that the model sees, under noise factors e
//   pull_back(w, e, d)                             the gradient of each weight slot, given d = dL/dview
//   update(Scalars, w, g, state)                   the increment of each weight slot; state becomes the new one
// all of them pure and generic in the number type R. Most rules store one weight and view it as it is:

/// View and gradient of a rule whose one weight slot is the weight.
struct PlainWeight {
  static constexpr std::array<std::string_view, 1> weight_slots{"w"};
  static constexpr Rounding default_rounding = nearest_even;

  static std::array<double, 1> initialize(double w0, const TensorConstants&) noexcept { return {w0}; }
  template <class Config>
  static constexpr int samples(const Config&) noexcept {
    return 0;
  }
  template <class Scalars, class R>
  HALFULP_HD static constexpr R noise(const Scalars&, R) noexcept {
    return R(1);
  }
  template <class R>
  HALFULP_HD static constexpr R view(const std::array<R, 1>& w, const std::array<R, 1>&) noexcept {
    return w[0];
  }
  template <class R>
  HALFULP_HD static constexpr std::array<R, 1> pull_back(const std::array<R, 1>&, const std::array<R, 1>&,
                                                         R d) noexcept {
    return {d};
  }
};

}  // namespace halfulp
