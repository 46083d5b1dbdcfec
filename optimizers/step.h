#pragma once
#include <numeric>

#include "emulation/normal.h"
#include "emulation/parallel.h"
#include "emulation/random_bits.h"
#include "optimizers/rule_run.h"
#include "optimizers/slot.h"
#include "optimizers/tile_record.h"

namespace halfulp {

template <class Rule>
constexpr std::size_t auxiliary_count_of() noexcept {
  if constexpr (LowRankRule<Rule>) return Rule::auxiliary_slots.size();
  return 0;
}

/// One tensor under one rule: its weight and state slots as the plan stores them.
template <class Rule, class R>
class OptimizedTensor {
 public:
  static constexpr std::size_t weight_count = Rule::weight_slots.size();
  static constexpr std::size_t state_count = Rule::state_slots.size();
  static constexpr std::size_t auxiliary_count = auxiliary_count_of<Rule>();
  using Config = typename Rule::Config;
  using Gradients = std::array<std::vector<R>, weight_count>;

  /// The weights that a model sees, and what the pull-back of its gradient needs: the weight slots and, for a rule
  /// with parts, their noise factors.
  struct View {
    std::vector<R> weights;
    std::array<std::vector<R>, weight_count> slots, noise;
    R scale = R(1);  ///< of a rule that scales what the model sees by a number of the whole tensor
  };

  /// Weights start at initialize(initial), states where the rule says. seed: of initial states that are drawn.
  /// errors: throws Error if `initial` does not have the tensor's size, or if the plan's compensation cannot serve.
  OptimizedTensor(const TensorInfo& info, const TensorPlan& plan, std::span<const double> initial,
                  const Config& config = {}, std::uint64_t seed = 0);

  const TensorInfo& info() const noexcept { return info_; }
  const TensorConstants& constants() const noexcept { return constants_; }
  std::size_t size() const noexcept { return weights_[0].size(); }
  const Slot<R>& weight(std::size_t slot) const noexcept { return weights_[slot]; }
  const Slot<R>& state(std::size_t slot) const noexcept { return states_[slot]; }

  double memory() const noexcept { return memory_; }

  /// Every slot there is, in a fixed order: weights, states, compensations, low parts of pairs, auxiliary states.
  template <class See>
  void for_each_slot(See&& see) const {
    for (const auto* slots : {&weights_, &states_, &residuals_, &low_parts_, &auxiliary_})
      for (const Slot<R>& slot : *slots) see(slot);
  }

  /// Phase 0: the weights that the model is to be evaluated at, under the noise of this step and sample, or without
  /// noise (sample < 0): what a trained model is judged by.
  View look(const Config& config, const StepInfo& now, int sample) const;

  /// Adds share * (gradient of each weight slot), given d = dL/dview at that view, as the plan rounds gradients and
  /// their sum. part: 0, 1, ... of this step's noise samples and micro-batches.
  /// errors: throws Error if d has another size.
  void pull_back(const Config& config, const StepInfo& now, const View& view, std::span<const R> d, R share,
                 int part, Gradients& gradients);

  /// Phases 1 to 3: one update of everything stored. gradients: [size] for each weight slot (else throws Error).
  /// The result depends on neither the pool nor its size.
  template <class P>
  void step(const Config& config, const StepInfo& now, const Gradients& gradients, ThreadPool* pool,
            P& probe);

  /// Elements of a tile: the smallest region made of whole blocks of every slot, repeated up to at least 256.
  std::size_t tile_length() const noexcept { return tile_length_; }

 private:
  using Scalars = typename Rule::template Scalars<R>;
  struct Tile;
  /// What one step computes once for all tiles.
  struct Step {
    const Config& config;
    const StepInfo& now;
    const Gradients& gradients;
    Scalars scalars;
    TypicalStep typical;
    R decay, kept;         // the rate of weight decay, and 1 - rate
    std::vector<R> guide;  // of a low-rank rule
    // Where the plan computes increments from rounded states: all states as they were before this step, as the rule made
    // them, and what a probe is shown of them.
    std::array<std::vector<R>, state_count> old_states, wanted_states, unmoved_states;
    std::array<std::vector<double>, state_count> state_multipliers;
    bool states_are_stored = false;
  };

  void require_size(const char* what, std::size_t given) const;
  RandomStream stream(const StepInfo& now, std::size_t slot, RandomPurpose purpose,
                      int sample = 0) const noexcept {
    return {now.seed, static_cast<std::uint32_t>(now.step), info_.id, static_cast<std::uint8_t>(slot),
            purpose,  static_cast<std::uint8_t>(sample)};
  }
  /// Random integers for `count` elements from `begin`; empty where the rounding draws none.
  std::vector<std::uint32_t> draws(const Slot<R>& slot, const RandomStream& from, std::size_t begin,
                                   std::size_t count) const;
  std::vector<std::uint32_t> scale_draws(const Slot<R>& slot, std::size_t number, const StepInfo& now,
                                         std::size_t begin, std::size_t count) const;
  /// Noise factors of one weight slot; all 1 without noise.
  std::vector<R> noise_factors(const Config& config, const Scalars& c, const StepInfo& now, int sample,
                               std::size_t slot) const;

  void load_states(const Step& step, std::size_t begin, Tile& tile) const;
  void run_rule(const Step& step, std::size_t begin, Tile& tile) const;
  void choose_targets(const Step& step, std::size_t begin, std::size_t slot, Tile& tile) const;
  void compute(const Step& step, std::size_t begin, Tile& tile) const;
  void advance_auxiliary(const Config& config, Step& step);
  void store_states_first(Step& step, ThreadPool* pool);
  template <class Numbers>
  void choose_tensor_wide_scales(std::vector<Slot<R>>& slots, std::size_t first_number, const Step& step,
                                 ThreadPool* pool, Numbers numbers_of);
  void store(Slot<R>& slot, std::size_t number, const StepInfo& now, std::size_t begin,
             std::span<const R> before, std::span<const R> wanted, const StoredTile<R>& out);
  void store_state(const StepInfo& now, std::size_t begin, std::size_t slot, Tile& tile, bool shows);
  void store_weight(const Step& step, std::size_t begin, std::size_t slot, Tile& tile, bool shows,
                    bool shows_all);
  void store_compensation(const Step& step, std::size_t begin, std::size_t slot, Tile& tile);
  template <class ProbeTile>
  void show(const Step& step, std::size_t begin, Tile& tile, bool shows_all, ProbeTile& probe) const;
  template <class ProbeTile>
  void show_whole(const Step& step, std::size_t begin, const Tile& tile, ProbeTile& probe) const;
  void recall_states(const Step& step, std::size_t begin, Tile& tile) const;

  /// Some tiles taken as one, where no probe tells them apart: what is done once a tile then weighs less, and a tile's
  /// numbers, some 20 bytes an element, still lie in the first-level cache.
  std::size_t long_tile() const noexcept {
    return tile_length_ * std::max<std::size_t>(1, 1024 / tile_length_);
  }
  std::size_t tile_count(std::size_t length) const noexcept { return (size() + length - 1) / length; }

  /// Calls body(index, begin, tile) for every tile of `length` elements, on any thread; the tile's numbers are for it to
  /// fill.
  template <class F>
  void for_each_tile(ThreadPool* pool, std::size_t length, F body) const {
    const std::size_t tiles = tile_count(length);
    const auto some = [&](std::size_t first, std::size_t last) {
      Tile tile;  // one for all of a thread, so that its vectors are allocated once
      for (std::size_t index = first; index < last; ++index) {
        const std::size_t begin = index * length;
        tile.resize(std::min(begin + length, size()) - begin);
        body(index, begin, tile);
      }
    };
    if (pool) return pool->for_each_range(tiles, some);
    some(0, tiles);
  }

  TensorInfo info_;
  TensorConstants constants_;
  TensorPlan plan_;
  std::vector<Slot<R>> weights_, states_;
  std::vector<Slot<R>> residuals_;  // compensation of each weight slot, if there is one
  std::vector<Slot<R>> low_parts_;  // of each second moment, under collage_plus
  std::vector<Slot<R>> auxiliary_;
  std::vector<Slot<R>> gradient_slots_,
      accumulator_slots_;  // scratch of pull_back, where the plan rounds there
  double memory_ = 0;
  std::size_t tile_length_;
};

}  // namespace halfulp

#include "optimizers/forward_view.h"
#include "optimizers/step_phases.h"
#include "optimizers/step_stores.h"
