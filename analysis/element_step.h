#pragma once
#include <cmath>
#include <optional>

#include "analysis/neighbour.h"
#include "optimizers/tile_record.h"

namespace halfulp {

/// One step of one element, every number exact in double. -0 counts as 0: values are compared, never codes.
struct ElementStep {
  double before, gradient, update, wanted, after, unmoved;
  std::optional<StoredGrid> grid;  ///< nullopt for a weight made of parts, or stored unrounded
  bool stochastic;                 ///< the rounding of its slot

  std::optional<double>
      multiplier_before{};   ///< the scale `before` was stored under; nullopt: that of this step
  double typical = 0;        ///< how far a step of its rule usually moves such a weight; 0: nobody says
  double decay = 0;          ///< the part of update that is decoupled weight decay
  double without_decay = 0;  ///< what would be stored had there been none; meaningless where decay is 0
  bool second_moment_lost = false;    ///< that it explodes(), and is_second_moment_lost()
  std::optional<double> known_gap{};  ///< gap(), where it is known already

  bool is_finite() const noexcept {
    return std::isfinite(before) && std::isfinite(gradient) && std::isfinite(update) &&
           std::isfinite(wanted) && std::isfinite(after) && std::isfinite(unmoved);
  }
  /// Whether its scale underflowed to zero: the grid is then the one number 0.
  bool has_zero_scale() const noexcept { return grid && grid->multiplier == 0; }
  /// Distance from `unmoved` to its neighbour in the update's direction, under this step's scale; nullopt where there
  /// is no neighbour or no grid.
  std::optional<double> gap() const noexcept {
    if (known_gap) return known_gap;
    return grid && !has_zero_scale() ? grid->gap(unmoved, update > 0) : std::nullopt;
  }
  /// Whether it moves more than ten times as far as its rule usually does.
  bool explodes() const noexcept { return typical > 0 && std::fabs(update) > 10 * typical; }
  /// Whether the update leads away from zero, on the side that x is on. Never for x = 0.
  bool is_outward_from(double x) const noexcept { return (x > 0 && update > 0) || (x < 0 && update < 0); }
};

/// Whether a second moment of element i is stored as zero, before or after the step, while a first moment is not: its
/// step is then m / epsilon. False without both moments.
template <class R>
bool is_second_moment_lost(std::span<const StateRecord<R>> states, std::size_t i) noexcept {
  bool first_before = false, first_after = false, zero_before = false, zero_after = false;
  for (const StateRecord<R>& state : states) {
    if (state.slot.moment == Moment::first) {
      first_before = first_before || state.before[i] != 0;
      first_after = first_after || state.after[i] != 0;
    } else if (state.slot.moment == Moment::second) {
      zero_before = zero_before || state.before[i] == 0;
      zero_after = zero_after || state.after[i] == 0;
    }
  }
  return (first_before && zero_before) || (first_after && zero_after);
}

/// Element i of a tile. ends: of its slot's element format, from whoever goes through many elements.
template <class R>
ElementStep element_of(const TileRecord<R>& tile, std::size_t i, const FormatEnds* ends = nullptr) noexcept {
  ElementStep e{tile.before[i], tile.gradient[i], tile.update[i], tile.wanted[i],
                tile.after[i],  tile.unmoved[i],  std::nullopt,   is_stochastic(tile.plan.rounding.mode)};
  if (tile.plan.format && !tile.multiplier.empty())
    e.grid = StoredGrid{tile.plan.format->element, tile.multiplier[i], ends};
  if (!tile.multiplier_before.empty()) e.multiplier_before = tile.multiplier_before[i];
  e.typical = tile.typical.at(e.before);
  if (!tile.decay.empty()) {
    e.decay = tile.decay[i];
    e.without_decay = tile.without_decay[i];
  }
  e.second_moment_lost = e.explodes() && is_second_moment_lost(tile.states, i);
  if (ends && e.update != 0) e.known_gap = e.gap();  // asked for more than once
  return e;
}

}  // namespace halfulp
