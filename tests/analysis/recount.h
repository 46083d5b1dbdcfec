#pragma once
#include "tests/analysis/recount_probes.h"

// A slow recount of what a probe was shown, element by element, by other means than the counters use.
namespace halfulp::test {

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
  const bool flip = sign(r.before) * sign(r.wanted) == -1;
  n["flips"] += flip;
  n["refused"] += flip && sign(r.after) == sign(r.before);
  n["carried"] += r.unmoved != r.before;
  n["only by scale"] += r.unmoved != r.before && r.after == r.unmoved;
  n["against"] += sign(r.after - r.before) * sign(r.update) == -1;
}

/// Everything counted of the stored slots, or of the weights made of parts.
inline void recount(const std::vector<std::vector<Row>>& tiles, bool parts, Counts& n, Sums& total,
                    double& largest) {
  for (const auto& rows : tiles) {
    Sums sums;
    for (const Row& r : rows) {
      if (r.is_part != parts) continue;
      ++n[r.is_finite() ? "elements" : "nonfinite"];
      if (!r.is_finite()) continue;
      const Gap gap = r.has_grid() ? gaps(r.plan, r.unmoved, r.multiplier) : Gap{false, none, none, 0};
      recount_stagnation(r, gap, n);
      recount_rest(r, gap, n, sums);
      recount_scales(r, n, sums);
      recount_updates(r, n, sums, largest);
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
           {"against", c.collateral.against_update},
           {"idle", c.runaway.elements},
           {"idle grown", c.runaway.grown},
           {"idle shrunk", c.runaway.shrunk},
           {"pressed", c.ceiling.pressed},
           {"released", c.ceiling.released},
           {"ceiling", c.ceiling.trapped},
           {"compared", c.exploding.compared},
           {"exploding", c.exploding.exploding},
           {"exploding without second", c.exploding.second_moment_lost},
           {"decayed", c.decay.elements},
           {"decay lost", c.decay.lost},
           {"at end", c.ends.at_end},
           {"saturated at end", c.ends.saturated},
           {"underflowed", c.ends.underflowed},
           {"scale raised", c.scales.raised},
           {"scale lowered", c.scales.lowered}};
  for (std::size_t cause = 0; cause < stagnation_cause_names.size(); ++cause)
    n[std::string(stagnation_cause_names[cause])] = c.stagnation.by_cause[cause];
  octave_counts(c.octaves.updated, "octave updated", n);
  octave_counts(c.octaves.stayed, "octave stayed", n);
  octave_counts(c.octaves.update_over_half_gap, "octave ratio", n);
  octave_counts(c.update.relative, "octave relative", n);
  octave_counts(c.scales.multipliers, "octave scale", n);
  return n;
}

/// Counts that are not zero on either side, and equal.
inline void check_counts(Counts got, Counts expected) {
  std::erase_if(got, [](const auto& count) { return count.second == 0; });
  std::erase_if(expected, [](const auto& count) { return count.second == 0; });
  for (const auto& count : got) {
    CAPTURE(count.first);
    CHECK(count.second == expected[count.first]);
  }
  CHECK(got.size() == expected.size());
}

inline void check_equal(const StepCounters& counted, const CountAndKeep& kept, bool parts) {
  Counts expected;
  Sums sums;
  double largest = 0;
  recount(kept.tiles, parts, expected, sums, largest);
  check_counts(counts_of(counted), expected);
  CHECK(counted.delivery.effective_dot_update == sums["dot"]);
  CHECK(counted.delivery.update_squared == sums["update squared"]);
  CHECK(counted.delivery.effective_squared == sums["effective squared"]);
  CHECK(counted.delivery.lost == sums["lost"]);
  CHECK(counted.delivery.wanted_mass == sums["mass"]);
  CHECK(counted.collateral.mass == sums["carried mass"]);
  CHECK(counted.runaway.before == sums["idle before"]);
  CHECK(counted.runaway.unmoved == sums["idle unmoved"]);
  CHECK(counted.decay.mass == sums["decay"]);
  CHECK(counted.decay.delivered == sums["decay delivered"]);
  CHECK(counted.update.elements == expected["elements"]);
  CHECK(counted.update.sum == sums["update"]);
  CHECK(counted.update.squares == sums["update squared"]);
  CHECK(counted.update.largest == largest);
}

inline Counts counts_of(const StatesCounters& counted) {
  Counts n;
  for (const StateCounters& state : counted.slots) {
    const StateFreezing& f = state.freezing;
    const std::string name = std::string(state.slot.name) + " ";
    n[name + "elements"] = f.elements;
    n[name + "nonfinite"] = f.nonfinite;
    n[name + "growing"] = f.growing;
    n[name + "frozen growing"] = f.frozen_growing;
    n[name + "decaying"] = f.decaying;
    n[name + "frozen decaying"] = f.frozen_decaying;
    n[name + "mirrored"] = f.wanted - f.growing - f.decaying;
    n[name + "frozen mirrored"] = f.frozen - f.frozen_growing - f.frozen_decaying;
    n[name + "underflowed"] = f.underflowed;
    n[name + "saturated"] = f.saturated;
  }
  return n;
}

inline void check_states(const StatesCounters& counted, const CountAndKeep& kept) {
  Counts expected;
  for (const auto& rows : kept.tiles)
    for (const Row& row : rows)
      for (const StateRow& state : row.states) recount_state(state, expected);
  check_counts(counts_of(counted), expected);
}

}  // namespace halfulp::test
