#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/neighbour.h"
#include "optimizers/tile_record.h"

namespace halfulp {

/// State freezing: numbers of an optimizer state that should move and stay. A state with a non-finite number counts as
/// nonfinite and nothing else.
struct StateFreezing {
  std::uint64_t elements = 0, nonfinite = 0;
  std::uint64_t wanted = 0;           ///< wanted != before
  std::uint64_t frozen = 0;           ///< of these, after == unmoved
  std::uint64_t growing = 0;          ///< of wanted, |wanted| > |before|
  std::uint64_t frozen_growing = 0;   ///< of growing, after == unmoved
  std::uint64_t decaying = 0;         ///< of wanted, |wanted| < |before|; a change of sign alone is neither
  std::uint64_t frozen_decaying = 0;  ///< of decaying, after == unmoved
  std::uint64_t underflowed = 0;      ///< after is zero, wanted is not
  std::uint64_t saturated = 0;        ///< after is the largest number of its side, wanted beyond

  /// Element i of a state. ends: of its format, if it has one
  template <class R>
  void see(const StateRecord<R>& state, std::size_t i, const std::optional<FormatEnds>& ends) noexcept {
    const double before = state.before[i], aim = state.wanted[i], after = state.after[i],
                 unmoved = state.unmoved[i];
    if (!(std::isfinite(before) && std::isfinite(aim) && std::isfinite(after) && std::isfinite(unmoved))) {
      ++nonfinite;
      return;
    }
    ++elements;
    underflowed += after == 0 && aim != 0;
    if (ends && !state.multiplier.empty() && std::fabs(aim) > std::fabs(after))
      saturated += (aim > 0) == (after > 0) && ends->is_last(after, state.multiplier[i]);
    if (aim == before) return;
    const bool stays = after == unmoved, grows = std::fabs(aim) > std::fabs(before),
               decays = std::fabs(aim) < std::fabs(before);
    ++wanted;
    frozen += stays;
    growing += grows;
    frozen_growing += grows && stays;
    decaying += decays;
    frozen_decaying += decays && stays;
  }
  void join(const StateFreezing& other) noexcept {
    elements += other.elements;
    nonfinite += other.nonfinite;
    wanted += other.wanted;
    frozen += other.frozen;
    growing += other.growing;
    frozen_growing += other.frozen_growing;
    decaying += other.decaying;
    frozen_decaying += other.frozen_decaying;
    underflowed += other.underflowed;
    saturated += other.saturated;
  }
  /// Frozen among those that should move.
  double share() const noexcept {
    return wanted == 0 ? 0 : static_cast<double>(frozen) / static_cast<double>(wanted);
  }
};

/// Counters of one state slot.
struct StateCounters {
  StateSlot slot;
  StateFreezing freezing;
};

/// Counters of all state slots, by name, in the order in which they were first seen.
struct StatesCounters {
  std::vector<StateCounters> slots;

  StateFreezing& of(const StateSlot& slot) {
    for (StateCounters& known : slots)
      if (known.slot.name == slot.name) return known.freezing;
    return slots.emplace_back(StateCounters{slot, {}}).freezing;
  }
  template <class R>
  void see(const StateRecord<R>& state) {
    StateFreezing& counters = of(state.slot);
    std::optional<FormatEnds> ends;
    if (state.plan.format) ends.emplace(state.plan.format->element);
    for (std::size_t i = 0; i < state.before.size(); ++i) counters.see(state, i, ends);
  }
  void join(const StatesCounters& other) {
    for (const StateCounters& slot : other.slots) of(slot.slot).join(slot.freezing);
  }
};

}  // namespace halfulp
