#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "experiments/problems/linear_objective.h"
#include "formats/error.h"

namespace halfulp {

struct EmaStepResponseOptions {
  std::size_t size = 64;
  double start = 1;
  double first = 1;            ///< gradient of every element in the first half of the run
  double second = 0;           ///< and from there on
  std::uint64_t steps = 2000;  ///< of the whole run
};

/// A gradient without noise that jumps once: `first` in steps t < floor(steps / 2), `second` from there on, beyond
/// `steps` too. An exact average m += (1 - beta) (g - m) comes within a factor beta^k of the new level in k steps; one
/// stored in a narrow format stops where its increment is below half a gap of m, |g - m| < gap / (2 (1 - beta)), and
/// the weights keep moving although the gradient is gone.
template <class R>
class EmaStepResponse final : public LinearObjective<R> {
 public:
  /// errors: Error on a size of 0, a start or gradient that is not finite, or fewer than 2 steps
  explicit EmaStepResponse(const EmaStepResponseOptions& options)
      : LinearObjective<R>("ema_step_response", options.size, options.start),
        first_(options.first),
        second_(options.second),
        jump_(options.steps / 2) {
    this->check_finite("first", options.first);
    this->check_finite("second", options.second);
    if (options.steps < 2)
      throw Error("ema_step_response, steps", "no half way", std::to_string(options.steps), "at least 2");
  }

 protected:
  double gradient(std::uint64_t step) const override { return step < jump_ ? first_ : second_; }

 private:
  double first_, second_;
  std::uint64_t jump_;
};

}  // namespace halfulp
