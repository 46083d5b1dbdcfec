#pragma once
#include "analysis/octaves.h"

namespace halfulp {

/// The scales that elements are stored under (1 without one), counted by element, and how many changed in the step.
struct ScaleHistogram {
  OctaveCounts<-64, 32> multipliers;
  std::uint64_t raised = 0, lowered = 0;  ///< elements stored under a larger or smaller scale than before

  void see(const ElementStep& e) noexcept {
    if (!e.grid) return;
    const double now = e.grid->multiplier, old = e.multiplier_before.value_or(now);
    multipliers.add(now);
    raised += now > old;
    lowered += now < old;
  }
  void join(const ScaleHistogram& other) noexcept {
    multipliers.join(other.multipliers);
    raised += other.raised;
    lowered += other.lowered;
  }
};

}  // namespace halfulp
