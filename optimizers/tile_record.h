#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "optimizers/plan.h"
#include "optimizers/rule.h"

namespace halfulp {

/// What a probe sees of one state slot in one tile.
template <class R>
struct StateRecord {
  StateSlot slot;  ///< name and moment
  const SlotPlan& plan;
  std::span<const R> before;           ///< stored before the step
  std::span<const R> wanted;           ///< what the rule made of it, in R
  std::span<const R> after;            ///< stored after the step
  std::span<const R> unmoved;          ///< before, stored again under the scale of this step
  std::span<const double> multiplier;  ///< that scale, per element
};

/// What a probe sees of one weight slot in one tile; it can change nothing. All spans have the same length.
/// A rule that stores its weight in parts shows each part, and then once more the weight that the parts make
/// (its view without noise) as weight slot Rule::weight_slots.size(): on no grid of its own, hence without
/// multipliers. A compensated slot shows weight + compensation, which has no grid either.
template <class R>
struct TileRecord {
  const SlotPlan& plan;
  std::size_t weight_slot;    ///< which of the rule's weight slots
  std::size_t first;          ///< global element of index 0
  std::span<const R> before;  ///< stored before the step
  std::span<const R> gradient;
  std::span<const R> update;           ///< the rule's increment, weight decay included
  std::span<const R> wanted;           ///< before + update, in R
  std::span<const R> after;            ///< stored after the step
  std::span<const R> unmoved;          ///< before, stored again under the scale of this step
  std::span<const double> multiplier;  ///< that scale, per element; empty for a weight made of parts

  std::uint32_t tensor = 0;  ///< id in the registry
  TypicalStep typical{};     ///< of the rule in this step
  std::span<const double>
      multiplier_before{};     ///< the scale that `before` was stored under; empty as multiplier
  std::span<const R> decay{};  ///< the part of update that is decoupled weight decay; empty without
  std::span<const R>
      without_decay{};  ///< what would be stored (same scales, same bits) had there been no decay;
                        ///< empty as decay
  std::span<const StateRecord<R>> states{};  ///< with weight slot 0 only: every state of the tile
  bool made_of_parts = false;                ///< whether this is the weight that the parts make
};

/// A probe collects tiles independently (tiles run on any thread) and joins them in tile order.
template <class P, class R>
concept Probe = requires(P probe, typename P::Tile tile, const TileRecord<R>& record) {
  {tile.see(record)};
  {probe.join(tile)};
};

/// Whether a probe only counts elements of stored weights from their own numbers (before, gradient, update, wanted, after,
/// unmoved), as it says by a member of this name, or by a function where it is chosen at run time. What it counts does not
/// depend on where tiles end, so it is shown long ones, and neither states nor scales, decay or weights made of parts.
template <class P>
bool only_counts_weights(const P& probe) {
  if constexpr (requires { {probe.only_counts_weights()}; })
    return probe.only_counts_weights();
  else
    return requires { P::only_counts_weights; };
}

/// A probe that looks at nothing.
struct NoProbe {
  struct Tile {
    template <class R>
    void see(const TileRecord<R>&) noexcept {}
  };
  void join(const Tile&) noexcept {}
};

/// A tile of this probe: its own choice, where it makes one.
template <class P>
typename P::Tile new_tile(P& probe) {
  if constexpr (requires { probe.tile(); })
    return probe.tile();
  else
    return {};
}

}  // namespace halfulp
