#include "analysis/state_twin_gap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "emulation/elementary.h"
#include "emulation/fp_environment.h"
#include "formats/error.h"

namespace halfulp {
namespace {

/// log2(|a| / |b|), for any two finite numbers other than zero: by the difference of logarithms where the quotient leaves the
/// normal doubles.
double log2_ratio(double a, double b) {
  const double quotient = std::fabs(a) / std::fabs(b);
  if (quotient >= std::numeric_limits<double>::min() && std::isfinite(quotient))
    return elementary::log2(quotient);
  return elementary::log2(std::fabs(a)) - elementary::log2(std::fabs(b));
}

}  // namespace

StateTwinGap state_twin_gap(std::span<const double> stored, std::span<const double> twin) {
  if (stored.size() != twin.size())
    throw Error("state against its twin", "sizes differ", std::to_string(stored.size()),
                std::to_string(twin.size()));
  const FpEnvironment environment;
  StateTwinGap gap;
  double logs = 0, distance_squared = 0, twin_squared = 0;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const double s = stored[i], t = twin[i];
    if (!std::isfinite(s) || !std::isfinite(t)) {
      ++gap.nonfinite;
      continue;
    }
    ++gap.elements;
    distance_squared += (s - t) * (s - t);
    twin_squared += t * t;
    gap.lost += s == 0 && t != 0;
    gap.spurious += s != 0 && t == 0;
    gap.both_zero += s == 0 && t == 0;
    if (s == 0 || t == 0) continue;
    const double ratio = log2_ratio(s, t);
    ++gap.compared;
    gap.wrong_sign += (s < 0) != (t < 0);
    gap.off_by_two += std::fabs(ratio) >= 1;
    logs += ratio;
    gap.largest_log2_ratio = std::max(gap.largest_log2_ratio, std::fabs(ratio));
  }
  if (gap.compared != 0) gap.mean_log2_ratio = logs / static_cast<double>(gap.compared);
  const double distance = std::sqrt(distance_squared);
  gap.relative_distance = distance == 0 ? 0 : distance / std::sqrt(twin_squared);
  return gap;
}

}  // namespace halfulp
