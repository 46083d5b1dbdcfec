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
  std::optional<double> known_gap{};  ///< gap_or_zero(), where it is known already

  /// x - x is 0 for a finite number and NaN for the others, and a NaN stays one in a sum.
  bool is_finite() const noexcept {
    return (before - before) + (gradient - gradient) + (update - update) + (wanted - wanted) +
               (after - after) + (unmoved - unmoved) ==
           0;
  }
  /// Whether its scale underflowed to zero: the grid is then the one number 0.
  bool has_zero_scale() const noexcept { return grid && grid->multiplier == 0; }
  /// Distance from `unmoved` to its neighbour in the update's direction, under this step's scale; nullopt where there
  /// is no neighbour or no grid.
  std::optional<double> gap() const noexcept {
    const double gap = gap_or_zero();
    return gap == 0 ? std::nullopt : std::optional(gap);
  }
  /// gap(), and 0 where there is none: no gap is 0.
  double gap_or_zero() const noexcept {
    if (known_gap) return *known_gap;
    return grid && !has_zero_scale() ? grid->gap(unmoved, update > 0).value_or(0) : 0;
  }
  /// Whether it moves more than ten times as far as its rule usually does.
  bool explodes() const noexcept { return (typical > 0) & (std::fabs(update) > 10 * typical); }
  /// Whether the update leads away from zero, on the side that x is on. Never for x = 0.
  bool is_outward_from(double x) const noexcept {
    return ((x > 0) & (update > 0)) | ((x < 0) & (update < 0));
  }
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

/// The elements of a tile, one at a time. What all of them share is set up once: a format is more to copy than all the
/// numbers of an element.
template <class R>
class ElementsOf {
 public:
  /// in: tile outlives this
  explicit ElementsOf(const TileRecord<R>& tile) noexcept : tile_(tile) {
    e_.stochastic = is_stochastic(tile.plan.rounding.mode);
    if (!tile.plan.format) return;
    known_.emplace(tile.plan.format->element);
    if (!tile.multiplier.empty()) e_.grid = StoredGrid{tile.plan.format->element, 1, &*known_};
  }
  ElementsOf(const ElementsOf&) = delete;

  /// Element i, until the next is asked for.
  const ElementStep& operator[](std::size_t i) noexcept {
    e_.before = tile_.before[i];
    e_.gradient = tile_.gradient[i];
    e_.update = tile_.update[i];
    e_.wanted = tile_.wanted[i];
    e_.after = tile_.after[i];
    e_.unmoved = tile_.unmoved[i];
    if (e_.grid) e_.grid->multiplier = tile_.multiplier[i];
    if (!tile_.multiplier_before.empty()) e_.multiplier_before = tile_.multiplier_before[i];
    e_.typical = tile_.typical.at(e_.before);
    if (!tile_.decay.empty()) {
      e_.decay = tile_.decay[i];
      e_.without_decay = tile_.without_decay[i];
    }
    e_.second_moment_lost = e_.explodes() && is_second_moment_lost(tile_.states, i);
    e_.known_gap.reset();
    // Asked for more than once. Where something is not finite there may be no number to start from.
    if (e_.update != 0 && e_.is_finite()) e_.known_gap = e_.gap_or_zero();
    return e_;
  }

 private:
  const TileRecord<R>& tile_;
  std::optional<FormatNumbers> known_;
  ElementStep e_{};
};

/// Element i of a tile, to keep.
template <class R>
ElementStep element_of(const TileRecord<R>& tile, std::size_t i) noexcept {
  ElementStep e = ElementsOf<R>(tile)[i];
  if (e.grid) e.grid->known = nullptr;  // which went with the tile's
  return e;
}

}  // namespace halfulp
