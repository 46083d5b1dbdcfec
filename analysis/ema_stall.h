#pragma once
#include "formats/block.h"

namespace halfulp {

/// Where a moving average of a constant comes to rest.
struct EmaStall {
  double value;         ///< the stored number that the average no longer leaves
  std::uint64_t steps;  ///< steps that moved it
};

/// v <- round(decay v + (1 - decay) x), nearest_even and saturating, from round(start) until v stays: computed in double
/// as a rule computes it, stored after each step.
///
/// It ends: rounding keeps order, so v -> round(...) does too; hence if the first step goes up all later ones do, if it
/// goes down all do, and between start and x there are finitely many numbers. It takes about as many steps as there are
/// gaps on the way, or log(gaps) / (1 - decay) if that is less: do not ask it for fp32 with a decay of 1 - 2^-20.
/// scale: multiplier of the block, kept throughout; 1 without one
/// in: 0 <= decay <= 1, x and start finite; scale > 0, finite
inline EmaStall ema_stall(const ScalarFormat& f, double scale, double decay, double x,
                          double start) noexcept {
  const Converter nearest(f, nearest_even, special_values(OverflowPolicy::saturate));
  const auto stored = [&](double v) {
    const double element = element_in_block(v, scale != 1, exact_divisor(scale), nearest, 0);
    return scale == 1 ? element : to_float(element * scale);
  };
  EmaStall stall{stored(start), 0};
  for (;; ++stall.steps) {
    const double next = stored(decay * stall.value + (1 - decay) * x);
    if (next == stall.value || next != next) return stall;
    stall.value = next;
  }
}

}  // namespace halfulp
