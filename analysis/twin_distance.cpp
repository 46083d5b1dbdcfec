#include "analysis/twin_distance.h"

#include <vector>

#include "emulation/fp_environment.h"
#include "emulation/reduce.h"
#include "formats/error.h"

namespace halfulp {

TwinDistance twin_distance(std::span<const double> weights, std::span<const double> twin) {
  if (weights.size() != twin.size())
    throw Error("twin distance", "sizes differ", std::to_string(weights.size()), std::to_string(twin.size()));
  const FpEnvironment environment;
  std::vector<double> difference(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) difference[i] = weights[i] - twin[i];
  const std::span<const double> d = difference;
  const double distance = std::sqrt(sum_of_squares(d)), norm = std::sqrt(sum_of_squares(twin)),
               norms = std::sqrt(sum_of_squares(weights)) * norm;
  return {distance == 0 ? 0 : distance / norm, amax(d), norms == 0 ? 0 : dot(weights, twin) / norms};
}

}  // namespace halfulp
