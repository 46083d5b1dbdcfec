#pragma once
#include <array>

#include "analysis/ceiling_trap.h"
#include "analysis/collateral.h"
#include "analysis/delivery.h"
#include "analysis/exploding_steps.h"
#include "analysis/lost_decay.h"
#include "analysis/octaves.h"
#include "analysis/range_ends.h"
#include "analysis/scale_histogram.h"
#include "analysis/scale_runaway.h"
#include "analysis/sign_flips.h"
#include "analysis/stagnation.h"
#include "analysis/state_freezing.h"
#include "analysis/trapping.h"
#include "analysis/update_variance.h"

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
  ScaleRunaway runaway;
  CeilingTrap ceiling;
  ExplodingSteps exploding;
  LostDecay decay;
  UpdateVariance update;
  RangeEnds ends;
  ScaleHistogram scales;

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
    runaway.see(e);
    ceiling.see(e);
    exploding.see(e);
    decay.see(e);
    update.see(e);
    ends.see(e);
    scales.see(e);
  }
  void join(const StepCounters& other) noexcept {
    nonfinite += other.nonfinite;
    stagnation.join(other.stagnation);
    delivery.join(other.delivery);
    trapping.join(other.trapping);
    sign_flips.join(other.sign_flips);
    collateral.join(other.collateral);
    octaves.join(other.octaves);
    runaway.join(other.runaway);
    ceiling.join(other.ceiling);
    exploding.join(other.exploding);
    decay.join(other.decay);
    update.join(other.update);
    ends.join(other.ends);
    scales.join(other.scales);
  }
  void after_step() noexcept { runaway.after_step(); }
};

/// The probe that counts: what is stored, all weight slots together, the weight itself where it is made of parts, and
/// every state slot.
struct CounterProbe {
  StepCounters stored, made_of_parts;
  bool has_parts = false;
  StatesCounters states;

  using Tile = CounterProbe;
  template <class R>
  void see(const TileRecord<R>& record) {
    has_parts = has_parts || record.made_of_parts;
    StepCounters& counters = record.made_of_parts ? made_of_parts : stored;
    ElementsOf<R> elements(record);
    for (std::size_t i = 0; i < record.before.size(); ++i) counters.see(elements[i]);
    for (const StateRecord<R>& state : record.states) states.see(state);
  }
  /// Adds what another probe saw: tiles of the same step in tile order, or, once after_step() closed both, the counters
  /// of later steps.
  void join(const CounterProbe& other) {
    stored.join(other.stored);
    made_of_parts.join(other.made_of_parts);
    has_parts = has_parts || other.has_parts;
    states.join(other.states);
  }
  /// Closes a step, once its tiles are joined: growth by scales is a product over steps (ScaleRunaway). All other
  /// counters do not distinguish tiles from steps, and are the same without it.
  void after_step() noexcept {
    stored.after_step();
    made_of_parts.after_step();
  }

  /// Counters of the weight that the model sees: signs are its, not its parts'.
  const StepCounters& weight() const noexcept { return has_parts ? made_of_parts : stored; }
};

}  // namespace halfulp
