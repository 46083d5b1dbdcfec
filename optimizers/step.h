#pragma once
#include <numeric>

#include "emulation/normal.h"
#include "emulation/parallel.h"
#include "emulation/random_bits.h"
#include "optimizers/slot.h"

namespace halfulp {

/// What a probe sees of one weight slot in one tile; it can change nothing. All spans have the same length.
/// A rule that stores its weight in parts shows each part, and then once more the weight that the parts make
/// (its view without noise) as weight slot Rule::weight_slots.size(): on no grid of its own, hence without
/// multipliers.
template <class R>
struct TileRecord {
  const SlotPlan& plan;
  std::size_t weight_slot;    ///< which of the rule's weight slots
  std::size_t first;          ///< global element of index 0
  std::span<const R> before;  ///< stored before the step
  std::span<const R> gradient;
  std::span<const R> update;           ///< the rule's increment
  std::span<const R> wanted;           ///< before + update, in R
  std::span<const R> after;            ///< stored after the step
  std::span<const R> unmoved;          ///< before, stored again under the scale of this step
  std::span<const double> multiplier;  ///< that scale, per element; empty for a weight made of parts
};

/// A probe collects tiles independently (tiles run on any thread) and joins them in tile order.
template <class P, class R>
concept Probe = requires(P probe, typename P::Tile tile, const TileRecord<R>& record) {
  {tile.see(record)};
  {probe.join(tile)};
};

/// A probe that looks at nothing.
struct NoProbe {
  struct Tile {
    template <class R>
    void see(const TileRecord<R>&) noexcept {}
  };
  void join(const Tile&) noexcept {}
};

/// One tensor under one rule: its weight and state slots as the plan stores them.
template <class Rule, class R>
class OptimizedTensor {
 public:
  static constexpr std::size_t weight_count = Rule::weight_slots.size();
  static constexpr std::size_t state_count = Rule::state_slots.size();

  /// The weights that a model sees, and what the pull-back of its gradient needs: the weight slots and, for a rule
  /// with parts, their noise factors.
  struct View {
    std::vector<R> weights;
    std::array<std::vector<R>, weight_count> slots, noise;
  };

  /// Weights start at initialize(initial), states at zero.
  /// errors: throws Error if `initial` does not have the tensor's size.
  OptimizedTensor(const TensorInfo& info, const TensorPlan& plan, std::span<const double> initial);

  const TensorInfo& info() const noexcept { return info_; }
  const TensorConstants& constants() const noexcept { return constants_; }
  std::size_t size() const noexcept { return weights_[0].size(); }
  const Slot<R>& weight(std::size_t slot) const noexcept { return weights_[slot]; }
  const Slot<R>& state(std::size_t slot) const noexcept { return states_[slot]; }

  /// Phase 0: the weights that the model is to be evaluated at, under the noise of this step and sample, or without
  /// noise (sample < 0): what a trained model is judged by.
  View look(const typename Rule::Config& config, const StepInfo& now, int sample) const;

  /// Adds share * (gradient of each weight slot), given d = dL/dview at that view.
  /// errors: throws Error if d has another size.
  void pull_back(const View& view, std::span<const R> d, R share,
                 std::array<std::vector<R>, weight_count>& gradients) const;

  /// Phases 2 and 3: one update of everything stored. gradients: [size] for each weight slot (else throws Error).
  /// The result depends on neither the pool nor its size.
  template <class P>
  void step(const typename Rule::Config& config, const StepInfo& now,
            const std::array<std::vector<R>, weight_count>& gradients, ThreadPool* pool, P& probe);

  /// Elements of a tile: the smallest region made of whole blocks of every slot, repeated up to at least 256.
  std::size_t tile_length() const noexcept { return tile_length_; }

 private:
  using Scalars = typename Rule::template Scalars<R>;
  struct Tile;

  void require_size(const char* what, std::size_t given) const;
  /// Noise factors of one weight slot; all 1 without noise.
  std::vector<R> noise_factors(const Scalars& c, const StepInfo& now, int sample, std::size_t slot) const;
  void compute(const Scalars& c, const std::array<std::vector<R>, weight_count>& gradients, std::size_t begin,
               std::size_t end, Tile& tile) const;
  RandomStream scale_stream(const StepInfo& now, std::size_t slot) const noexcept {
    return {now.seed,
            static_cast<std::uint32_t>(now.step),
            info_.id,
            static_cast<std::uint8_t>(slot),
            RandomPurpose::scale_rounding,
            0};
  }
  void choose_tensor_wide_scales(const Scalars& c, const StepInfo& now,
                                 const std::array<std::vector<R>, weight_count>& gradients, ThreadPool* pool);
  void store(Slot<R>& slot, std::size_t number, const StepInfo& now, std::size_t begin,
             std::span<const R> before, std::span<const R> wanted, const StoredTile<R>& out);
  template <class ProbeTile>
  void finish(const StepInfo& now, const std::array<std::vector<R>, weight_count>& gradients,
              std::size_t begin, Tile& tile, ProbeTile& probe);

  template <class F>
  void for_each_tile(ThreadPool* pool, F body) {
    const std::size_t tiles = (size() + tile_length_ - 1) / tile_length_;
    if (pool) return pool->for_each_index(tiles, body);
    for (std::size_t tile = 0; tile < tiles; ++tile) body(tile);
  }

  TensorInfo info_;
  TensorConstants constants_;
  std::vector<Slot<R>> weights_, states_;
  std::size_t tile_length_;
};

}  // namespace halfulp

#include "optimizers/step_phases.h"
