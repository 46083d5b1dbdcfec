#pragma once
#include <span>
#include <string>
#include <vector>

#include "emulation/reduce.h"
#include "formats/error.h"

namespace halfulp {

/// Variance of a tensor's gradient over micro-batches at fixed weights, over the squared norm of its mean: the noise to
/// signal ratio of one micro-batch. Welford's running mean and sum of squared deviations, in double, in the order of
/// the calls.
///
/// The mean of n micro-gradients carries 1/n of that variance itself, so without any signal the ratio is about n.
class GradientVariance {
 public:
  explicit GradientVariance(std::size_t size) : mean_(size), squares_(size) {}

  /// errors: throws Error unless the gradient has the tensor's size.
  template <class R>
  void add(std::span<const R> gradient) {
    if (gradient.size() != mean_.size())
      throw Error("gradient variance", "wrong size of a micro-gradient", std::to_string(gradient.size()),
                  std::to_string(mean_.size()));
    ++count_;
    const auto n = static_cast<double>(count_);
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const double x = gradient[i], from_old_mean = x - mean_[i];
      mean_[i] += from_old_mean / n;
      squares_[i] += from_old_mean * (x - mean_[i]);
    }
  }
  std::size_t count() const noexcept { return count_; }
  const std::vector<double>& mean() const noexcept { return mean_; }

  /// Unbiased variance, summed over elements.
  /// errors: throws Error on fewer than 2 micro-gradients.
  double variance() const {
    if (count_ < 2)
      throw Error("gradient variance", "too few micro-gradients", std::to_string(count_), "2 or more");
    return sum(std::span<const double>(squares_)) / static_cast<double>(count_ - 1);
  }
  /// variance() over the squared norm of the mean; 0 if both are zero, infinity if the mean alone is.
  /// errors: as variance()
  double relative() const {
    const double total = variance();
    return total == 0 ? 0 : total / sum_of_squares(std::span<const double>(mean_));
  }

 private:
  std::size_t count_ = 0;
  std::vector<double> mean_, squares_;
};

}  // namespace halfulp
