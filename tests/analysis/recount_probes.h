#pragma once
#include "tests/analysis/recount_row.h"

// Slow recounts of single elements, by signs of products and lists of numbers.
namespace halfulp::test {

inline int sign(double x) { return (x > 0) - (x < 0); }

/// Whether a stored number other than zero has no neighbour further from zero.
inline bool is_last(const SlotPlan& plan, double number, double multiplier) {
  if (number == 0 || multiplier == 0) return false;
  const Gap gap = gaps(plan, number, multiplier);
  return gap.known && (number > 0 ? gap.up : gap.down) == none;
}

inline void recount_scales(const Row& r, Counts& n, Sums& sums) {
  if (sign(r.before) != 0 && sign(r.before) * sign(r.update) < 1) {
    const int growth = sign(std::fabs(r.unmoved) - std::fabs(r.before));
    ++n["idle"];
    n["idle grown"] += growth == 1;
    n["idle shrunk"] += growth == -1;
    sums["idle before"] += std::fabs(r.before);
    sums["idle unmoved"] += std::fabs(r.unmoved);
  }
  n["underflowed"] += sign(r.after) == 0 && sign(r.wanted) != 0;
  if (!r.has_grid()) return;
  octave(n, "octave scale", r.multiplier, -64, 32);
  n["scale raised"] += sign(r.multiplier - r.multiplier_before) == 1;
  n["scale lowered"] += sign(r.multiplier - r.multiplier_before) == -1;
  const bool at_end = is_last(r.plan, r.after, r.multiplier);
  n["at end"] += at_end;
  n["saturated at end"] += at_end && sign(r.wanted - r.after) == sign(r.after);
  // Signs of both the update and what is wanted agree with the number's own.
  const auto pushes = [&](double from) {
    return sign(r.update) == sign(from) && sign(r.wanted - from) == sign(from);
  };
  if (is_last(r.plan, r.before, r.multiplier_before) && pushes(r.before)) {
    ++n["pressed"];
    n["released"] += sign(r.after - r.before) == sign(r.before);
  }
  n["ceiling"] += r.after == r.unmoved && is_last(r.plan, r.unmoved, r.multiplier) && pushes(r.unmoved);
}

inline void recount_updates(const Row& r, Counts& n, Sums& sums, double& largest) {
  sums["update"] += r.update;
  largest = std::max({largest, r.update, -r.update});
  if (r.before != 0) octave(n, "octave relative", std::fabs(r.update / r.before), -40, 8);
  const double usual = r.typical.absolute + r.typical.relative * std::fabs(r.before);
  n["compared"] += usual != 0;
  const bool explodes = usual != 0 && (r.update > 10 * usual || -r.update > 10 * usual);
  n["exploding"] += explodes;
  bool lost = false;
  for (const StateRow& first : r.states)
    for (const StateRow& second : r.states) {
      if (first.slot.moment != Moment::first || second.slot.moment != Moment::second) continue;
      lost = lost || (first.before != 0 && second.before == 0) || (first.after != 0 && second.after == 0);
    }
  n["exploding without second"] += explodes && lost;
  if (!r.decay || *r.decay == 0 || !std::isfinite(*r.decay) || !std::isfinite(*r.without_decay)) return;
  ++n["decayed"];
  n["decay lost"] += !(r.after < *r.without_decay) && !(r.after > *r.without_decay);
  sums["decay"] += std::fabs(*r.decay);
  sums["decay delivered"] += (r.after - *r.without_decay) * sign(*r.decay);
}

inline void recount_state(const StateRow& s, Counts& n) {
  const std::string name = std::string(s.slot.name) + " ";
  bool finite = true;
  for (const double x : {s.before, s.wanted, s.after, s.unmoved}) finite = finite && std::isfinite(x);
  ++n[name + (finite ? "elements" : "nonfinite")];
  if (!finite) return;
  n[name + "underflowed"] += s.after == 0 && s.wanted != 0;
  n[name + "saturated"] += s.plan.format && s.multiplier && is_last(s.plan, s.after, *s.multiplier) &&
                           sign(s.wanted - s.after) == sign(s.after);
  if (sign(s.wanted - s.before) == 0) return;
  const int growth = sign(std::fabs(s.wanted) - std::fabs(s.before));
  const std::string way = growth > 0 ? "growing" : growth < 0 ? "decaying" : "mirrored";
  ++n[name + way];
  if (sign(s.after - s.unmoved) == 0) ++n[name + "frozen " + way];
}

}  // namespace halfulp::test
