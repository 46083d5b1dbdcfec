#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/problems/diagonal_quadratic.h"
#include "experiments/problems/log_spaced.h"

namespace halfulp {

struct FlippingTargetOptions {
  std::size_t size = 64;
  double smallest_target = 1e-3, largest_target = 1e1;  ///< of |w*|
  std::uint64_t steps = 2000;                           ///< of the whole run
};

/// Targets that change sign half way, curvature 1: who has settled must cross zero.
///
/// targets: |w*| log-spaced, rising with the index; even elements positive and odd ones negative in steps
///   t < floor(steps / 2), the other way from there on, beyond `steps` too.
/// start: half of the first target, so that the first half has something to do and the moments something to
///   average.
template <class R>
class FlippingTarget final : public DiagonalQuadratic<R> {
 public:
  /// errors: Error on a size of 0, an end of a range that is not positive, or fewer than 2 steps
  explicit FlippingTarget(const FlippingTargetOptions& options)
      : DiagonalQuadratic<R>("flipping_target",
                             std::vector<double>(checked_size("flipping_target", options.size), 1.0)),
        first_targets_(
            log_spaced("flipping_target", options.smallest_target, options.largest_target, options.size)),
        flip_(options.steps / 2) {
    if (options.steps < 2)
      throw Error("flipping_target, steps", "no half way", std::to_string(options.steps), "at least 2");
    for (std::size_t i = 1; i < first_targets_.size(); i += 2) first_targets_[i] = -first_targets_[i];
  }

  TensorList<double> initial_weights() const override {
    TensorList<double> weights{first_targets_};
    for (double& weight : weights[0]) weight /= 2;
    return weights;
  }

 protected:
  double target(std::uint64_t step, std::size_t element) const override {
    return step < flip_ ? first_targets_[element] : -first_targets_[element];
  }

 private:
  std::vector<double> first_targets_;
  std::uint64_t flip_;
};

}  // namespace halfulp
