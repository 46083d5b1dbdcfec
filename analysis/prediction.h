#pragma once
#include <algorithm>
#include <limits>

#include "emulation/elementary.h"
#include "formats/block.h"
#include "formats/catalog.h"

namespace halfulp {

// What nearest_even does to an update, derived from the format alone. Magnitudes are those of stored numbers
// times `scale`, the multiplier of a block (1 without blocks). A number w plus an update of size d is rounded
// back to w exactly if d is below half the gap in the update's direction, or is that half gap and w wins the
// tie.
//
// Products scale * gap are exact: gaps are powers of two, and a scale has at most 28 significant bits.

enum class Direction : std::uint8_t { away_from_zero, toward_zero };

namespace prediction {

/// Code of the next larger magnitude; without subnormals, codes 1 .. 2^M - 1 are zeros and skipped.
constexpr std::uint32_t next_magnitude(const ScalarFormat& f, std::uint32_t magnitude) noexcept {
  const bool skips = magnitude == 0 && f.has_zero && !f.has_subnormals;
  return skips ? std::uint32_t{1} << f.fraction_bits : magnitude + 1;
}
constexpr std::uint32_t previous_magnitude(const ScalarFormat& f, std::uint32_t magnitude) noexcept {
  const bool skips = magnitude == std::uint32_t{1} << f.fraction_bits && f.has_zero && !f.has_subnormals;
  return skips ? 0 : magnitude - 1;
}

/// Whether the number wins a tie against its smaller neighbour: its code is even, except that zero wins
/// against a smallest normal number without subnormals, which is one step above it.
constexpr bool wins_tie(const ScalarFormat& f, std::uint32_t magnitude) noexcept {
  return magnitude % 2 == 0 && !(magnitude != 0 && previous_magnitude(f, magnitude) == 0);
}

/// Whether number i of a table stays under an update up or down. A tie is the code's of even position. Half gaps are
/// rounded to double where a table's numbers have more bits than a double holds of their difference.
constexpr bool is_stuck_in_table(const ScalarFormat& f, double scale, std::uint32_t i, bool up,
                                 double update) noexcept {
  if (up ? i + 1 == f.table_size : i == 0) return true;
  const double half_gap = (up ? f.table[i + 1] - f.table[i] : f.table[i] - f.table[i - 1]) / 2 * scale;
  return update < half_gap || (update == half_gap && i % 2 == 0);
}

}  // namespace prediction

/// Whether nearest_even, saturating, gives a number back after an update of size `update` in this direction.
/// in: magnitude code of the number, at most f.top_magnitude(); update > 0. Zero has only the direction away.
constexpr bool is_stuck(const ScalarFormat& f, double scale, std::uint32_t magnitude, Direction direction,
                        double update) noexcept {
  const double value = f.magnitude_value(magnitude);
  if (direction == Direction::toward_zero && magnitude != 0) {
    const std::uint32_t lower = prediction::previous_magnitude(f, magnitude);
    const double half_gap = (value - f.magnitude_value(lower)) / 2 * scale;
    return update < half_gap || (update == half_gap && prediction::wins_tie(f, magnitude));
  }
  if (direction == Direction::toward_zero && !f.has_zero) return true;
  if (magnitude == f.top_magnitude()) return true;  // a larger result saturates to this number
  const std::uint32_t upper = prediction::next_magnitude(f, magnitude);
  const double half_gap = (f.magnitude_value(upper) - value) / 2 * scale;
  return update < half_gap || (update == half_gap && !prediction::wins_tie(f, upper));
}

/// Where an additive update of fixed size (AdamW: about the learning rate) is rounded away.
struct AdditiveThresholds {
  double free_below;  ///< no number of smaller magnitude is stuck in any direction; the smallest one that is
  double frozen_above;  ///< every number of larger magnitude is stuck both ways; the largest that is not, 0
                        ///< if none
};

/// The thresholds of an update of this size, exact. The largest number, which saturates, counts as stuck.
///
/// Within a binade the gaps are equal except below its first number, so numbers behave alike but for the
/// parity that decides ties: the first three and the last two of each binade show the extremes. Of a table every
/// number is looked at.
/// in: update > 0, scale > 0.
constexpr AdditiveThresholds additive_thresholds(const ScalarFormat& f, double scale,
                                                 double update) noexcept {
  if (f.is_table()) {
    AdditiveThresholds of_table{std::numeric_limits<double>::infinity(), 0};
    for (std::uint32_t i = 0; i < f.table_size; ++i) {
      const double magnitude = (f.table[i] < 0 ? -f.table[i] : f.table[i]) * scale;
      const bool up = prediction::is_stuck_in_table(f, scale, i, true, update),
                 down = prediction::is_stuck_in_table(f, scale, i, false, update);
      if (up || down) of_table.free_below = std::min(of_table.free_below, magnitude);
      if (!up || !down) of_table.frozen_above = std::max(of_table.frozen_above, magnitude);
    }
    return of_table;
  }
  const auto moves = [&](std::uint32_t code) {
    return !is_stuck(f, scale, code, Direction::away_from_zero, update) ||
           !is_stuck(f, scale, code, Direction::toward_zero, update);
  };
  const auto sticks = [&](std::uint32_t code) {
    return is_stuck(f, scale, code, Direction::away_from_zero, update) ||
           is_stuck(f, scale, code, Direction::toward_zero, update);
  };
  const std::uint32_t top = f.top_magnitude(), length = std::uint32_t{1} << f.fraction_bits;
  double largest_moving = 0, smallest_stuck = std::numeric_limits<double>::infinity();
  for (std::uint32_t field = 0; field <= top >> f.fraction_bits; ++field) {
    const std::uint32_t first = field * length, last = std::min(top, first + (length - 1));
    const bool only_zero = field == 0 && f.has_zero && !f.has_subnormals;
    for (const std::uint32_t code : {first, first + 1, first + 2, last > first ? last - 1 : last, last}) {
      if (code > last || (only_zero && code > first)) continue;
      const double value = f.magnitude_value(code) * scale;
      if (moves(code)) largest_moving = std::max(largest_moving, value);
      if (sticks(code)) smallest_stuck = std::min(smallest_stuck, value);
    }
  }
  return {smallest_stuck, largest_moving};
}

/// Half gap over magnitude of normal numbers, away from zero: it falls from `largest`, at a power of two, to
/// `smallest`, at the end of the binade. Toward zero from a power of two it is largest / 2.
struct RelativeThresholds {
  double
      smallest;  ///< 2^-(M+1) / (2 - 2^-M), correctly rounded; a smaller relative update never moves anything
  double largest;  ///< 2^-(M+1), exact; a larger one moves every normal number
};
constexpr RelativeThresholds relative_thresholds(const ScalarFormat& f) noexcept {
  const double largest = power_of_two(-f.fraction_bits - 1);
  return {largest / (2 - power_of_two(-f.fraction_bits)), largest};
}

/// Zero stays zero exactly if the update is at most this: half the smallest positive number (the tie goes to
/// zero).
/// in: a format with zero; of a table the numbers above it
constexpr double zero_escape_threshold(const ScalarFormat& f, double scale) noexcept {
  return f.min_positive() / 2 * scale;
}

/// The zone around zero of a block whose largest magnitude is amax: what is at most this becomes zero beside it, under
/// the scale that the format's rule chooses (no random bits). The smaller a number beside the largest of its block, the
/// surer it is put back to zero, whatever moved it: with a scale that fits exactly, from amax min_positive / (2 M) on.
/// in: amax > 0, finite; exact division by the scale; tensor: the decode multiplier of the tensor, 1 without one
inline double zero_zone(const BlockFormat& f, double amax, TensorMultiplier tensor = {1.0f}) noexcept {
  const double multiplier = f.has_scale() ? scale_value(f, choose_scale(f, amax, tensor, 0), tensor) : 1.0;
  return zero_escape_threshold(f.element, multiplier);
}

/// Numbers of smaller magnitude cannot be moved by a multiplicative update |u| = relative * |w|: no half gap
/// is smaller than half the smallest gap. Correctly rounded quotient.
/// in: relative > 0
constexpr double multiplicative_trap(const ScalarFormat& f, double scale, double relative) noexcept {
  const double smallest_gap = f.min_normal() * power_of_two(-f.fraction_bits);
  return smallest_gap / 2 * scale / relative;
}

/// A moving average v = decay * v (fed with zeros) is stuck at every normal number exactly if decay exceeds
/// this: 1 - 2^-(M+2), the half gap toward zero from a power of two. Exact.
constexpr double ema_freezing_decay(const ScalarFormat& f) noexcept {
  return 1 - power_of_two(-f.fraction_bits - 2);
}

/// Relative changes of normal numbers above the smallest, whatever the direction: below `none_below` none of them is
/// moved, above `all_above` every one is that does not saturate.
struct RelativeReach {
  double none_below, all_above;
};

/// Weight decay as a rounded operation of its own, w <- round(w - rate w), rate = learning rate times decay. The half gap
/// towards zero is 2^-(M+2) |w| at a power of two, exact, and at most 2^-(M+1) / (1 + 2^-M) |w|, next to one, correctly
/// rounded. Decay that is part of one rounded sum with the rest of the update only shifts that sum.
constexpr RelativeReach decay_reach(const ScalarFormat& f) noexcept {
  return {power_of_two(-f.fraction_bits - 2),
          power_of_two(-f.fraction_bits - 1) / (1 + power_of_two(-f.fraction_bits))};
}

/// Multiplication by exp(+-alpha), the step of LMD's signed momentum, in terms of alpha: outward it is a relative change
/// of expm1(alpha), which the relative half gap decides (RelativeThresholds); inward of 1 - exp(-alpha), decided as for
/// weight decay. Each logarithm within 1 ulp.
inline RelativeReach exponential_reach(const ScalarFormat& f) noexcept {
  const RelativeThresholds outward = relative_thresholds(f);
  const RelativeReach inward = decay_reach(f);
  return {std::min(elementary::log1p(outward.smallest), -elementary::log1p(-inward.none_below)),
          std::max(elementary::log1p(outward.largest), -elementary::log1p(-inward.all_above))};
}

}  // namespace halfulp
