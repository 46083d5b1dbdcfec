#include "experiments/bench/quantiles.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "formats/error.h"

namespace halfulp {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) throw Error("quantile", "nothing was measured", "0 values", "1 or more");
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - std::floor(position)) * (values[above] - values[below]);
}

Quantiles quantiles_of(const std::vector<double>& values) {
  return {quantile(values, 0.1), quantile(values, 0.5), quantile(values, 0.9)};
}

Quantiles ratio_of(const std::vector<double>& above, const std::vector<double>& below) {
  if (above.size() != below.size())
    throw Error("ratio", "repetitions do not pair", std::to_string(above.size()),
                std::to_string(below.size()) + ", as on the other side");
  std::vector<double> ratios(above.size());
  std::transform(above.begin(), above.end(), below.begin(), ratios.begin(), std::divides<>());
  return quantiles_of(ratios);
}

}  // namespace halfulp
