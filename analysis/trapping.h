#pragma once
#include <cstdint>

#include "analysis/element_step.h"

namespace halfulp {

/// Near-zero trapping: elements at or below the smallest positive number of their block that have a gradient
/// and stay there. At zero: the part of them that is stored as zero before and after.
struct Trapping {
  std::uint64_t elements = 0;
  std::uint64_t near_zero = 0;        ///< |before| <= smallest positive number of the block
  std::uint64_t trapped = 0;          ///< of these, gradient != 0 and |after| still is
  std::uint64_t trapped_at_zero = 0;  ///< of these, before == 0 and after == 0
  std::uint64_t zero_after = 0;       ///< after == 0, for whatever reason

  void see(const ElementStep& e) noexcept {
    ++elements;
    zero_after += e.after == 0;
    if (!e.grid) return;
    const double smallest = e.grid->smallest_positive();
    const bool is_near = std::fabs(e.before) <= smallest;
    const bool stays = is_near & (e.gradient != 0) & (std::fabs(e.after) <= smallest);
    near_zero += is_near;
    trapped += stays;
    trapped_at_zero += stays & (e.before == 0) & (e.after == 0);
  }
  void join(const Trapping& other) noexcept {
    elements += other.elements;
    near_zero += other.near_zero;
    trapped += other.trapped;
    trapped_at_zero += other.trapped_at_zero;
    zero_after += other.zero_after;
  }
};

}  // namespace halfulp
