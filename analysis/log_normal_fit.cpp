#include "analysis/log_normal_fit.h"

#include <limits>
#include <vector>

#include "emulation/elementary.h"
#include "emulation/fp_environment.h"
#include "emulation/reduce.h"

namespace halfulp {

LogNormalFit log_normal_fit(std::span<const double> weights) {
  const FpEnvironment environment;
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  LogNormalFit fit{0, 0, 0, unknown, unknown, unknown, unknown};
  std::vector<double> logs;
  logs.reserve(weights.size());
  for (const double w : weights) {
    if (!std::isfinite(w))
      ++fit.nonfinite;
    else if (w == 0)
      ++fit.zeros;
    else
      logs.push_back(elementary::log(std::fabs(w)));
  }
  fit.count = logs.size();
  if (logs.empty()) return fit;
  const auto n = static_cast<double>(logs.size());
  fit.mean = sum(std::span<const double>(logs)) / n;
  const auto central_moment = [&](int power) {
    return detail::ordered_sum<double>(
               logs.size(),
               [&](std::size_t i) {
                 const double d = logs[i] - fit.mean, square = d * d;
                 return power == 2 ? square : power == 3 ? square * d : square * square;
               }) /
           n;
  };
  const double variance = central_moment(2);
  fit.deviation = std::sqrt(variance);
  if (!(variance > 0)) return fit;
  fit.skewness = central_moment(3) / (variance * fit.deviation);
  fit.excess_kurtosis = central_moment(4) / (variance * variance) - 3;
  return fit;
}

}  // namespace halfulp
