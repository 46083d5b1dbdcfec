#pragma once
#include <cmath>
#include <optional>

#include "analysis/neighbour.h"
#include "optimizers/step.h"

namespace halfulp {

/// One step of one element, every number exact in double. -0 counts as 0: values are compared, never codes.
struct ElementStep {
  double before, gradient, update, wanted, after, unmoved;
  std::optional<StoredGrid> grid;  ///< nullopt for a weight made of parts, or stored unrounded
  bool stochastic;                 ///< the rounding of its slot

  bool is_finite() const noexcept {
    return std::isfinite(before) && std::isfinite(gradient) && std::isfinite(update) &&
           std::isfinite(wanted) && std::isfinite(after) && std::isfinite(unmoved);
  }
  /// Whether its scale underflowed to zero: the grid is then the one number 0.
  bool has_zero_scale() const noexcept { return grid && grid->multiplier == 0; }
  /// Distance from `unmoved` to its neighbour in the update's direction, under this step's scale; nullopt where there
  /// is no neighbour or no grid.
  std::optional<double> gap() const noexcept {
    return grid && !has_zero_scale() ? grid->gap(unmoved, update > 0) : std::nullopt;
  }
};

/// Element i of a tile.
template <class R>
ElementStep element_of(const TileRecord<R>& tile, std::size_t i) noexcept {
  ElementStep e{tile.before[i], tile.gradient[i], tile.update[i], tile.wanted[i],
                tile.after[i],  tile.unmoved[i],  std::nullopt,   is_stochastic(tile.plan.rounding.mode)};
  if (tile.plan.format && !tile.multiplier.empty())
    e.grid = StoredGrid{tile.plan.format->element, tile.multiplier[i]};
  return e;
}

}  // namespace halfulp
