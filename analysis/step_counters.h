#pragma once
#include <array>

#include "analysis/collateral.h"
#include "analysis/delivery.h"
#include "analysis/octaves.h"
#include "analysis/sign_flips.h"
#include "analysis/stagnation.h"
#include "analysis/trapping.h"

namespace halfulp {

/// Everything counted of one weight slot. An element with a non-finite number counts as nonfinite and nothing
/// else.
struct StepCounters {
  std::uint64_t nonfinite = 0;
  Stagnation stagnation;
  Delivery delivery;
  Trapping trapping;
  SignFlips sign_flips;
  Collateral collateral;
  StagnationOctaves octaves;

  void see(const ElementStep& e) noexcept {
    if (!e.is_finite()) {
      ++nonfinite;
      return;
    }
    stagnation.see(e);
    delivery.see(e);
    trapping.see(e);
    sign_flips.see(e);
    collateral.see(e);
    octaves.see(e);
  }
  void join(const StepCounters& other) noexcept {
    nonfinite += other.nonfinite;
    stagnation.join(other.stagnation);
    delivery.join(other.delivery);
    trapping.join(other.trapping);
    sign_flips.join(other.sign_flips);
    collateral.join(other.collateral);
    octaves.join(other.octaves);
  }
};

/// The probe that counts: what is stored, all weight slots together, and the weight itself where it is made
/// of parts.
struct CounterProbe {
  StepCounters stored, made_of_parts;
  bool has_parts = false;

  using Tile = CounterProbe;
  template <class R>
  void see(const TileRecord<R>& record) noexcept {
    const bool parts = record.multiplier.empty();
    has_parts = has_parts || parts;
    StepCounters& counters = parts ? made_of_parts : stored;
    for (std::size_t i = 0; i < record.before.size(); ++i) counters.see(element_of(record, i));
  }
  void join(const CounterProbe& other) noexcept {
    stored.join(other.stored);
    made_of_parts.join(other.made_of_parts);
    has_parts = has_parts || other.has_parts;
  }

  /// Counters of the weight that the model sees: signs are its, not its parts'.
  const StepCounters& weight() const noexcept { return has_parts ? made_of_parts : stored; }
};

}  // namespace halfulp
