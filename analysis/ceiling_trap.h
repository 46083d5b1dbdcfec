#pragma once
#include <cstdint>

#include "analysis/element_step.h"

namespace halfulp {

/// Ceiling trap: the largest number of a block cannot rise, because it saturates under a scale that was chosen for what
/// it is and not for what it wants to be.
struct CeilingTrap {
  std::uint64_t pressed = 0;   ///< stored at the end of its format before the step, and wanted beyond
  std::uint64_t released = 0;  ///< of these, stored beyond where it was: the scale made room
  /// At the end of its format under this step's scale, update outward, wanted beyond, and it stays. Under an unchanged
  /// scale, where overflow saturates, that is `pressed`; under a new one either may occur without the other.
  std::uint64_t trapped = 0;

  void see(const ElementStep& e) noexcept {
    if (!e.grid) return;
    const bool presses = e.is_outward_from(e.before) & is_beyond(e.wanted, e.before) &
                         e.grid->is_at_end_under(e.multiplier_before.value_or(e.grid->multiplier), e.before);
    pressed += presses;
    released += presses & is_beyond(e.after, e.before);
    trapped += (e.after == e.unmoved) & e.is_outward_from(e.unmoved) & is_beyond(e.wanted, e.unmoved) &
               e.grid->is_at_end(e.unmoved);
  }
  void join(const CeilingTrap& other) noexcept {
    pressed += other.pressed;
    released += other.released;
    trapped += other.trapped;
  }

 private:
  /// Whether x lies further from zero than `from`, on its side.
  static bool is_beyond(double x, double from) noexcept {
    return ((from > 0) & (x > from)) | ((from <= 0) & (x < from));
  }
};

}  // namespace halfulp
