#pragma once
#include <cstddef>
#include <cstdint>

#include "experiments/problems/linear_objective.h"

namespace halfulp {

struct ConstantGradientOptions {
  std::size_t size = 1;
  double start = 1;
  double gradient = -1;  ///< negative: descent adds
};

/// An accumulator: loss g w with the gradient g in every step, so that a rule with learning rate d and normalised
/// steps asks for 1 + k d after k steps. Where d is below half a gap, rounding to nearest stops the count: at once,
/// or at the first power of two above which the gap is too wide.
template <class R>
class ConstantGradient final : public LinearObjective<R> {
 public:
  /// errors: Error on a size of 0, or a start or gradient that is not finite
  explicit ConstantGradient(const ConstantGradientOptions& options)
      : LinearObjective<R>("constant_gradient", options.size, options.start), gradient_(options.gradient) {
    this->check_finite("gradient", options.gradient);
  }

 protected:
  double gradient(std::uint64_t) const override { return gradient_; }

 private:
  double gradient_;
};

}  // namespace halfulp
