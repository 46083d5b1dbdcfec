#pragma once
#include <cstdint>

#include "analysis/element_step.h"

namespace halfulp {

/// What became of decoupled weight decay: what is stored, compared with what would be stored had there been none.
/// Under nearest rounding most elements lose theirs and a few deliver a whole gap, so that the ratio can be near 1 where
/// the share that lost it is too.
struct LostDecay {
  std::uint64_t elements = 0;  ///< decay != 0, it and the store without it finite
  std::uint64_t lost = 0;      ///< of these, after == without_decay
  double mass = 0;             ///< sum |decay|
  double delivered = 0;        ///< sum of (after - without_decay) in the direction of the decay

  void see(const ElementStep& e) noexcept {
    if (e.decay == 0 || !std::isfinite(e.decay) || !std::isfinite(e.without_decay)) return;
    ++elements;
    lost += e.after == e.without_decay;
    mass += std::fabs(e.decay);
    delivered += e.decay > 0 ? e.after - e.without_decay : e.without_decay - e.after;
  }
  void join(const LostDecay& other) noexcept {
    elements += other.elements;
    lost += other.lost;
    mass += other.mass;
    delivered += other.delivered;
  }
  /// Delivered over asked: 1 if all of it arrives, 0 if nothing does, and for no decay at all.
  double ratio() const noexcept { return mass == 0 ? 0 : delivered / mass; }
  double lost_share() const noexcept {
    return elements == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(elements);
  }
};

}  // namespace halfulp
