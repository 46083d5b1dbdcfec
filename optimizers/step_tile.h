#pragma once
#include "optimizers/compensation.h"
#include "optimizers/step.h"

namespace halfulp {

/// What a probe is shown of a slot in one tile.
template <class R>
struct ShownTile {
  std::vector<R> after, unmoved;
  std::vector<double> multiplier, multiplier_before;

  void resize(std::size_t count) {
    after.resize(count);
    unmoved.resize(count);
    multiplier.resize(count, 1.0);
    multiplier_before.resize(count, 1.0);
  }
  StoredTile<R> spans() { return {after, unmoved, multiplier, multiplier_before}; }
  /// Without the scales.
  StoredTile<R> numbers() { return {after, unmoved, {}, {}}; }
};

/// Every number of one tile.
template <class Rule, class R>
struct OptimizedTensor<Rule, R>::Tile {
  using Weights = std::array<std::vector<R>, weight_count>;
  using States = std::array<std::vector<R>, state_count>;
  std::size_t count = 0;
  Weights before, increment, update, wanted, decay;
  Weights other_target, target_without_decay;
  std::array<std::span<const R>, weight_count> target;  // what is stored: wanted, or other_target
  std::array<std::vector<CompensatedUpdate<R>>, weight_count> compensated, compensated_without_decay;
  Weights compensation, without_decay;
  States state_before, state, low_part;
  // Where a state is kept in the rule's numbers and nobody looks, it is replaced where it stands.
  std::array<R*, state_count> in_place{};
  std::array<ShownTile<R>, weight_count> weight_shown;
  std::array<ShownTile<R>, state_count> state_shown;

  void resize(std::size_t length) {
    if (length == count) return;
    count = length;
    for (auto* group : {&before, &increment, &update, &wanted, &decay, &other_target, &target_without_decay,
                        &without_decay})
      for (auto& numbers : *group) numbers.resize(length);
    for (auto* group : {&state_before, &state})
      for (auto& numbers : *group) numbers.resize(length);
    for (auto& shown : weight_shown) shown.resize(length);
    for (auto& shown : state_shown) shown.resize(length);
  }
};

}  // namespace halfulp
