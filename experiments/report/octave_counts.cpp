#include "experiments/report/octave_counts.h"

#include <cmath>

namespace halfulp {

double Octaves::total() const {
  double sum = 0;
  for (const double count : counts) sum += count;
  return sum;
}

Octaves octaves_of(const Group& group, const std::string& name) {
  const std::string place = "/measurements/all/octaves/" + name;
  Octaves sum;
  for (const auto* run : group.counted_runs()) {
    const std::vector<double> counts = numbers_at(*run, place + "/counts");
    const double lowest = number_at(*run, place + "/lowest_exponent");
    if (counts.empty() || std::isnan(lowest)) continue;
    if (sum.counts.empty()) sum = {static_cast<int>(lowest), std::vector<double>(counts.size(), 0.0)};
    // Bins of another layout, from another bits version, are never mixed in: the set has one version.
    for (std::size_t i = 0; i < counts.size() && i < sum.counts.size(); ++i)
      if (std::isfinite(counts[i])) sum.counts[i] += counts[i];
  }
  return sum;
}

double unchanged_share(const Group& group, double from, double to) {
  const Octaves updated = octaves_of(group, "updated"), stayed = octaves_of(group, "stayed");
  if (updated.counts.size() != stayed.counts.size()) return NAN;
  double all = 0, same = 0;
  for (std::size_t i = 0; i < updated.counts.size(); ++i) {
    const double low = std::ldexp(1.0, updated.lowest + static_cast<int>(i));
    if (low < from || 2 * low > to) continue;
    all += updated.counts[i], same += stayed.counts[i];
  }
  return all == 0 ? NAN : same / all;
}

double largest_usual_magnitude(const Group& group) {
  const Octaves updated = octaves_of(group, "updated");
  const double enough = updated.total() / 1000;
  for (std::size_t i = updated.counts.size(); i-- > 0;)
    if (updated.counts[i] > 0 && updated.counts[i] >= enough)
      return std::ldexp(1.0, updated.lowest + static_cast<int>(i) + 1);
  return 0;
}

}  // namespace halfulp
