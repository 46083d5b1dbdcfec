#pragma once
#include <string>
#include <vector>

#include "experiments/problems/diagonal_quadratic.h"
#include "experiments/problems/log_spaced.h"

namespace halfulp {

struct ZeroInitializedOptions {
  std::size_t size = 256;
  double smallest_target = 1e-3, largest_target = 1e1;  ///< of |w*|
};

/// A vector that starts at exactly 0 and has to reach targets spread over decades, curvature 1: what biases
/// and zero-initialised layers ask for. |w*| is log-spaced, rising with the index; even elements are
/// positive, odd ones negative.
template <class R>
class ZeroInitialized final : public DiagonalQuadratic<R> {
 public:
  /// errors: Error on a size of 0 or an end of a range that is not positive
  explicit ZeroInitialized(const ZeroInitializedOptions& options)
      : DiagonalQuadratic<R>("zero_initialized",
                             std::vector<double>(checked_size("zero_initialized", options.size), 1.0)),
        targets_(
            log_spaced("zero_initialized", options.smallest_target, options.largest_target, options.size)) {
    for (std::size_t i = 1; i < targets_.size(); i += 2) targets_[i] = -targets_[i];
  }

  TensorList<double> initial_weights() const override { return {std::vector<double>(targets_.size(), 0.0)}; }

 protected:
  double target(std::uint64_t, std::size_t element) const override { return targets_[element]; }

 private:
  std::vector<double> targets_;
};

}  // namespace halfulp
