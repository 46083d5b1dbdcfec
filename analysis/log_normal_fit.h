#pragma once
#include <cstdint>
#include <span>

namespace halfulp {

/// How well magnitudes follow a log-normal distribution: that of ln |w| should then be normal. NaN where there are too
/// few numbers to say (none for the mean, all equal for the shape).
struct LogNormalFit {
  std::uint64_t count = 0;  ///< finite and not zero: the numbers fitted
  std::uint64_t zeros = 0, nonfinite = 0;
  double mean;             ///< of ln |w|; exp(mean) is the fitted median
  double deviation;        ///< standard deviation of ln |w|, divided by n
  double skewness;         ///< third central moment over deviation^3; 0 for a log-normal
  double excess_kurtosis;  ///< fourth over deviation^4, less 3; 0 for a log-normal
};

/// Logarithms within 1 ulp, sums in the order of reduce.h; the central moments after the mean, so that no cancellation of
/// large sums is in them.
/// errors: none.
LogNormalFit log_normal_fit(std::span<const double> weights);

}  // namespace halfulp
