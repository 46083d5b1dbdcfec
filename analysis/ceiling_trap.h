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
    const double old = e.multiplier_before.value_or(e.grid->multiplier);
    const bool was_last = e.grid->is_at_end_under(old, e.before), is_last = e.grid->is_at_end(e.unmoved);
    const bool presses = wants_beyond(e, e.before), rises = is_beyond(e.after, e.before);
    const bool still_presses = wants_beyond(e, e.unmoved);
    pressed += was_last & presses;
    released += was_last & presses & rises;
    trapped += is_last & still_presses & (e.after == e.unmoved);
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
  /// Whether the update leads outward from there, and what is wanted lies beyond.
  static bool wants_beyond(const ElementStep& e, double from) noexcept {
    const bool is_outward = e.is_outward_from(from), is_wanted = is_beyond(e.wanted, from);
    return is_outward & is_wanted;
  }
};

}  // namespace halfulp
