#pragma once
#include <doctest/doctest.h>

#include <map>

#include "analysis/step_counters.h"
#include "tests/analysis/representable.h"

// A slow recount of what a probe was shown, element by element, by other means than the counters use.
namespace halfulp::test {

inline constexpr double none = std::numeric_limits<double>::infinity();

struct Row {
  double before, gradient, update, wanted, after, unmoved, multiplier;
  SlotPlan plan;
  bool is_part;  // of a stored slot; not the weight that parts make
};

/// Counts and keeps what it counted.
struct CountAndKeep {
  struct Tile {
    CounterProbe counted;
    std::vector<Row> rows;
    template <class R>
    void see(const TileRecord<R>& r) {
      counted.see(r);
      for (std::size_t i = 0; i < r.before.size(); ++i)
        rows.push_back({r.before[i], r.gradient[i], r.update[i], r.wanted[i], r.after[i], r.unmoved[i],
                        r.multiplier.empty() ? 0 : r.multiplier[i], r.plan, !r.multiplier.empty()});
    }
  };
  CounterProbe counted;
  std::vector<std::vector<Row>> tiles;
  void join(const Tile& tile) {
    counted.join(tile.counted);
    tiles.push_back(tile.rows);
  }
};

/// All numbers of a format, decoded once.
inline const std::vector<double>& numbers_of(const ScalarFormat& f) {
  static std::vector<std::pair<ScalarFormat, std::vector<double>>> known;
  for (const auto& [format, values] : known)
    if (format == f) return values;
  return known.emplace_back(f, representable(f)).second;
}

struct Gap {
  bool known;                 // whether there is a grid at all
  double up, down, smallest;  // none where nothing follows
};

/// Distances to the stored neighbours, by looking for the number in the list of all.
inline Gap gaps(const Row& row) {
  const ScalarFormat& f = row.plan.format->element;
  if (f == fp32) {
    const auto x = static_cast<float>(row.unmoved);
    const float up = std::nextafter(x, INFINITY), down = std::nextafter(x, -INFINITY);
    return {true, static_cast<double>(up) - x, x - static_cast<double>(down), 0x1p-149};
  }
  const bool scaled = row.plan.format->has_scale();
  const double m = row.multiplier;
  const std::vector<double>& values = numbers_of(f);
  const auto stored = [&](double v) { return scaled ? static_cast<float>(v * m) : v; };
  const double smallest = stored(*std::upper_bound(values.begin(), values.end(), 0.0));
  if (m == 0) return {true, none, none, smallest};
  const auto at = std::lower_bound(values.begin(), values.end(), row.unmoved,
                                   [&](double v, double x) { return stored(v) < x; });
  if (at == values.end() || stored(*at) != row.unmoved) return {false, none, none, -1};  // off the grid
  return {true, at + 1 == values.end() ? none : (at[1] - at[0]) * m,
          at == values.begin() ? none : (at[0] - at[-1]) * m, smallest};
}

using Counts = std::map<std::string, std::uint64_t>;
using Sums = std::map<std::string, double>;

inline void octave(Counts& n, const std::string& name, double x, int lowest, int highest) {
  if (x == 0) {
    ++n[name + " zeros"];
    return;
  }
  ++n[name + " " + std::to_string(std::clamp(std::ilogb(x), lowest, highest))];
}

inline void recount_stagnation(const Row& r, const Gap& gap, Counts& n) {
  if (r.update == 0) return;
  const bool outward = r.unmoved == 0 || r.unmoved * r.update > 0 || (r.unmoved > 0 && r.update > 0) ||
                       (r.unmoved < 0 && r.update < 0);
  const double ahead = r.update > 0 ? gap.up : gap.down;
  const bool zeroed = r.plan.format && r.multiplier == 0;
  ++n["updated"];
  n["updated outward"] += outward;
  octave(n, "octave updated", std::fabs(r.before), -30, 10);
  if (gap.known && ahead < none) octave(n, "octave ratio", std::fabs(r.update) / (ahead / 2), -24, 12);
  if (r.after != r.unmoved) return;
  ++n["stayed"];
  n["stayed outward"] += outward;
  octave(n, "octave stayed", std::fabs(r.before), -30, 10);
  const bool draws = is_stochastic(r.plan.rounding.mode);
  ++n[r.wanted == r.before                           ? "absorbed"
      : gap.known && ahead == none && !zeroed        ? "saturated"
      : r.unmoved == 0                               ? "at_zero"
      : gap.known && std::fabs(r.update) < ahead / 2 ? "below_half_gap"
      : draws                                        ? "random"
                                                     : "otherwise"];
}

inline void recount_rest(const Row& r, const Gap& gap, Counts& n, Sums& sums) {
  const double effective = r.after - r.unmoved;
  sums["dot"] += effective * r.update;
  sums["update squared"] += r.update * r.update;
  sums["effective squared"] += effective * effective;
  sums["lost"] += std::fabs(r.wanted - r.after);
  sums["mass"] += std::fabs(r.update);
  sums["carried mass"] += std::fabs(r.unmoved - r.before);
  n["zero after"] += r.after == 0;
  if (gap.known && std::fabs(r.before) <= gap.smallest) {
    ++n["near zero"];
    const bool stays = r.gradient != 0 && std::fabs(r.after) <= gap.smallest;
    n["trapped"] += stays;
    n["trapped at zero"] += stays && r.before == 0 && r.after == 0;
  }
  const auto sign = [](double x) { return (x > 0) - (x < 0); };
  const bool flip = sign(r.before) * sign(r.wanted) == -1;
  n["flips"] += flip;
  n["refused"] += flip && sign(r.after) == sign(r.before);
  n["carried"] += r.unmoved != r.before;
  n["only by scale"] += r.unmoved != r.before && r.after == r.unmoved;
  n["against"] += sign(r.after - r.before) * sign(r.update) == -1;
}

/// Everything counted of the stored slots, or of the weights made of parts.
inline void recount(const std::vector<std::vector<Row>>& tiles, bool parts, Counts& n, Sums& total) {
  for (const auto& rows : tiles) {
    Sums sums;
    for (const Row& r : rows) {
      if (r.is_part != parts) continue;
      bool finite = true;
      for (const double x : {r.before, r.gradient, r.update, r.wanted, r.after, r.unmoved})
        finite = finite && std::isfinite(x);
      ++n[finite ? "elements" : "nonfinite"];
      if (!finite) continue;
      const Gap gap = r.plan.format && parts ? gaps(r) : Gap{false, none, none, 0};
      recount_stagnation(r, gap, n);
      recount_rest(r, gap, n, sums);
    }
    for (const auto& [name, sum] : sums) total[name] += sum;
  }
}

template <int lowest, int highest>
void octave_counts(const OctaveCounts<lowest, highest>& octaves, const std::string& name, Counts& n) {
  for (std::size_t i = 0; i < octaves.counts.size(); ++i)
    n[name + " " + std::to_string(lowest + static_cast<int>(i))] = octaves.counts[i];
  n[name + " zeros"] = octaves.zeros;
}

inline Counts counts_of(const StepCounters& c) {
  Counts n{{"nonfinite", c.nonfinite},
           {"updated", c.stagnation.updated},
           {"stayed", c.stagnation.stayed},
           {"updated outward", c.stagnation.updated_outward},
           {"stayed outward", c.stagnation.stayed_outward},
           {"elements", c.trapping.elements},
           {"near zero", c.trapping.near_zero},
           {"trapped", c.trapping.trapped},
           {"trapped at zero", c.trapping.trapped_at_zero},
           {"zero after", c.trapping.zero_after},
           {"flips", c.sign_flips.wanted},
           {"refused", c.sign_flips.refused},
           {"carried", c.collateral.carried},
           {"only by scale", c.collateral.only_by_scale},
           {"against", c.collateral.against_update}};
  for (std::size_t cause = 0; cause < stagnation_cause_names.size(); ++cause)
    n[std::string(stagnation_cause_names[cause])] = c.stagnation.by_cause[cause];
  octave_counts(c.octaves.updated, "octave updated", n);
  octave_counts(c.octaves.stayed, "octave stayed", n);
  octave_counts(c.octaves.update_over_half_gap, "octave ratio", n);
  return n;
}

inline void check_equal(const StepCounters& counted, const CountAndKeep& kept, bool parts) {
  Counts expected;
  Sums sums;
  recount(kept.tiles, parts, expected, sums);
  Counts got = counts_of(counted);
  std::erase_if(got, [](const auto& count) { return count.second == 0; });
  std::erase_if(expected, [](const auto& count) { return count.second == 0; });
  for (const auto& count : got) {
    CAPTURE(count.first);
    CHECK(count.second == expected[count.first]);
  }
  CHECK(got.size() == expected.size());
  CHECK(counted.delivery.effective_dot_update == sums["dot"]);
  CHECK(counted.delivery.update_squared == sums["update squared"]);
  CHECK(counted.delivery.effective_squared == sums["effective squared"]);
  CHECK(counted.delivery.lost == sums["lost"]);
  CHECK(counted.delivery.wanted_mass == sums["mass"]);
  CHECK(counted.collateral.mass == sums["carried mass"]);
}

}  // namespace halfulp::test
