#pragma once
#include <cstdint>

#include "analysis/element_step.h"

namespace halfulp {

/// Elements stored at the ends of what their block can hold: saturation and underflow.
struct RangeEnds {
  std::uint64_t at_end = 0;       ///< after is the largest number of its side under this step's scale
  std::uint64_t saturated = 0;    ///< of these, wanted beyond
  std::uint64_t underflowed = 0;  ///< after is zero, wanted is not

  void see(const ElementStep& e) noexcept {
    underflowed += (e.after == 0) & (e.wanted != 0);
    const bool is_last = e.grid && e.grid->is_at_end(e.after);
    at_end += is_last;
    saturated += is_last & (e.after > 0 ? e.wanted > e.after : e.wanted < e.after);
  }
  void join(const RangeEnds& other) noexcept {
    at_end += other.at_end;
    saturated += other.saturated;
    underflowed += other.underflowed;
  }
};

}  // namespace halfulp
