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

  /// One tile of a state. ends: of its format, if it has one
  template <class R>
  void see(const StateRecord<R>& state, const std::optional<FormatNumbers>& ends) noexcept {
    const bool has_ends = ends && !state.multiplier.empty();
    const std::size_t n = state.before.size();
    const R *before = state.before.data(), *aim = state.wanted.data(), *after = state.after.data(),
            *unmoved = state.unmoved.data();
    const double* multiplier = state.multiplier.data();
    // Narrow (a tile is below 2^32) and without branches, for the compiler's vectors.
    struct {
      std::uint32_t finite = 0, moves = 0, stays = 0, grows = 0, grows_not = 0, decays = 0, decays_not = 0,
                    underflows = 0;
    } count;
    for (std::size_t i = 0; i < n; ++i) {
      // x - x is 0 for a finite number and NaN for the others, and a NaN stays one in a sum.
      const R zero =
          (before[i] - before[i]) + (aim[i] - aim[i]) + (after[i] - after[i]) + (unmoved[i] - unmoved[i]);
      const std::uint32_t is_finite = zero == 0;
      const std::uint32_t moves = is_finite & (aim[i] != before[i]), stays = after[i] == unmoved[i],
                          grows = moves & (std::fabs(aim[i]) > std::fabs(before[i])),
                          decays = moves & (std::fabs(aim[i]) < std::fabs(before[i]));
      count.finite += is_finite;
      count.moves += moves;
      count.stays += moves & stays;
      count.grows += grows;
      count.grows_not += grows & stays;
      count.decays += decays;
      count.decays_not += decays & stays;
      count.underflows += is_finite & (after[i] == 0) & (aim[i] != 0);
    }
    for (std::size_t i = 0; has_ends && i < n; ++i) {
      const R zero = (before[i] - before[i]) + (aim[i] - aim[i]) + (unmoved[i] - unmoved[i]);
      // after, below a finite number, is finite
      const bool beyond = std::fabs(aim[i]) > std::fabs(after[i]),
                 on_its_side = (aim[i] > 0) == (after[i] > 0),
                 is_last = ends->is_last(after[i], multiplier[i]);
      saturated += (zero == 0) & beyond & on_its_side & is_last;
    }
    elements += count.finite;
    nonfinite += n - count.finite;
    wanted += count.moves;
    frozen += count.stays;
    growing += count.grows;
    frozen_growing += count.grows_not;
    decaying += count.decays;
    frozen_decaying += count.decays_not;
    underflowed += count.underflows;
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
    std::optional<FormatNumbers> ends;
    if (state.plan.format) ends.emplace(state.plan.format->element);
    counters.see(state, ends);
  }
  void join(const StatesCounters& other) {
    for (const StateCounters& slot : other.slots) of(slot.slot).join(slot.freezing);
  }
};

}  // namespace halfulp
