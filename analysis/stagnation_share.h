#pragma once
#include <cstdint>

#include "optimizers/tile_record.h"

namespace halfulp {

/// The share of Stagnation alone, at a few operations an element: for every step of a long run, where causes, octaves and
/// the other counters of CounterProbe would cost more than the step. The same numbers as Stagnation's `updated` and
/// `stayed`, and as StepCounters' `nonfinite`.
struct StagnationShare {
  std::uint64_t elements = 0, nonfinite = 0;
  std::uint64_t updated = 0;  ///< elements with update != 0
  std::uint64_t stayed = 0;   ///< of these, after == unmoved

  using Tile = StagnationShare;
  static constexpr bool only_counts_weights = true;

  /// The parts of a weight count, not the weight that they make, which is stored nowhere.
  template <class R>
  void see(const TileRecord<R>& tile) noexcept {
    if (tile.made_of_parts) return;
    const std::size_t n = tile.before.size();
    const R *before = tile.before.data(), *gradient = tile.gradient.data(), *update = tile.update.data(),
            *wanted = tile.wanted.data(), *after = tile.after.data(), *unmoved = tile.unmoved.data();
    std::uint32_t finite = 0, moves = 0,
                  stays = 0;  // a tile is below 2^32; narrow, for the compiler's vectors
    for (std::size_t i = 0; i < n; ++i) {
      // x - x is 0 for a finite number and NaN for the others, and a NaN stays one in a sum.
      const R zero = (before[i] - before[i]) + (gradient[i] - gradient[i]) + (update[i] - update[i]) +
                     (wanted[i] - wanted[i]) + (after[i] - after[i]) + (unmoved[i] - unmoved[i]);
      const std::uint32_t is_finite = zero == 0, moved = is_finite & (update[i] != 0);
      finite += is_finite;
      moves += moved;
      stays += moved & (after[i] == unmoved[i]);
    }
    elements += n;
    nonfinite += n - finite;
    updated += moves;
    stayed += stays;
  }
  void join(const StagnationShare& other) noexcept {
    elements += other.elements;
    nonfinite += other.nonfinite;
    updated += other.updated;
    stayed += other.stayed;
  }
  double share() const noexcept {
    return updated == 0 ? 0 : static_cast<double>(stayed) / static_cast<double>(updated);
  }
};

}  // namespace halfulp
