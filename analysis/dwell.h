#pragma once
#include <algorithm>

#include "analysis/memory_probe.h"
#include "analysis/octaves.h"

namespace halfulp {

/// How long elements stay in a zone they should leave. A dwell is a run of steps that begin and end in the zone with a
/// gradient that is not zero; steps without a gradient neither lengthen it nor end it; leaving the zone ends it.
struct DwellTimes {
  OctaveCounts<0, 31> finished;  ///< dwells that ended by leaving, by length in steps
  std::uint64_t escapes = 0;     ///< their number
  std::uint64_t longest = 0;     ///< in steps, of all dwells, those that have not ended included

  void step(std::size_t element, bool dwells, bool leaves) {
    std::uint32_t& run = remembered(runs_, element);
    if (dwells) longest = std::max<std::uint64_t>(longest, ++run);
    if (!leaves || run == 0) return;
    finished.add(run);
    ++escapes;
    run = 0;
  }
  /// Dwells that have not ended, by length so far.
  OctaveCounts<0, 31> unfinished() const noexcept {
    OctaveCounts<0, 31> counts;
    for (const std::uint32_t run : runs_)
      if (run != 0) counts.add(run);
    return counts;
  }

 private:
  std::vector<std::uint32_t> runs_;
};

/// Memory of trapping: how long elements dwell at zero and near it (at most the smallest positive number of their block,
/// zero included), and how often they are put back. A step with a non-finite number is passed over.
struct Dwell {
  DwellTimes near_zero, at_zero;
  std::uint64_t zeroings = 0;    ///< before and wanted are not zero, after is
  std::uint64_t rezeroings = 0;  ///< of these, elements that had been zero before in the steps seen

  struct Mark {
    bool dwells_near, leaves_near, dwells_at, leaves_at, is_zeroed, was_zero;
  };
  static Mark mark(const ElementStep& e) noexcept {
    if (!e.is_finite()) return {};
    const auto is_near = [&](double x) { return e.grid && std::fabs(x) <= e.grid->smallest_positive(); };
    const bool has_gradient = e.gradient != 0;
    return {has_gradient && is_near(e.before) && is_near(e.after), !is_near(e.after),
            has_gradient && e.before == 0 && e.after == 0,         e.after != 0,
            e.before != 0 && e.wanted != 0 && e.after == 0,        e.before == 0};
  }
  void apply(std::size_t first, std::span<const Mark> marks) {
    for (std::size_t i = 0; i < marks.size(); ++i) {
      const Mark& m = marks[i];
      near_zero.step(first + i, m.dwells_near, m.leaves_near);
      at_zero.step(first + i, m.dwells_at, m.leaves_at);
      char& has_been_zero = remembered(has_been_zero_, first + i);
      if (m.was_zero) has_been_zero = 1;
      zeroings += m.is_zeroed;
      rezeroings += m.is_zeroed && has_been_zero != 0;
      if (m.is_zeroed) has_been_zero = 1;
    }
  }

 private:
  std::vector<char> has_been_zero_;
};

using DwellProbe = MemoryProbe<Dwell>;

}  // namespace halfulp
