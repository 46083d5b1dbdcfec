#pragma once
#include "optimizers/step_tile.h"

// How a step stores a tile, and what it shows of it.
namespace halfulp {

template <class Rule, class R>
void OptimizedTensor<Rule, R>::store(Slot<R>& slot, std::size_t number, const StepInfo& now,
                                     std::size_t begin, std::span<const R> before, std::span<const R> wanted,
                                     const StoredTile<R>& out) {
  slot.store(begin, before, wanted,
             draws(slot, stream(now, number, RandomPurpose::rounding), begin, wanted.size()),
             scale_draws(slot, number, now, begin, wanted.size()), out);
}

/// Stores a state, and the low part of its pair where it is one: what is left of it.
template <class Rule, class R>
void OptimizedTensor<Rule, R>::store_state(const StepInfo& now, std::size_t begin, std::size_t slot,
                                           Tile& tile, bool shows) {
  ShownTile<R>& shown = tile.state_shown[slot];
  const bool is_pair = !low_parts_.empty() && Rule::state_slots[slot].moment == Moment::second;
  store(states_[slot], weight_count + slot, now, begin, tile.state_before[slot], tile.state[slot],
        shows || is_pair ? shown.spans() : StoredTile<R>{});
  if (!is_pair) return;
  std::size_t pair = 0;
  for (std::size_t k = 0; k < slot; ++k) pair += Rule::state_slots[k].moment == Moment::second;
  std::vector<R> rest(tile.count), stored(tile.count), same(tile.count);
  std::vector<double> one(tile.count);
  for (std::size_t i = 0; i < tile.count; ++i) rest[i] = canonical(tile.state[slot][i] - shown.after[i]);
  low_parts_[pair].store(begin, tile.low_part[slot], rest, {}, {}, {stored, same, one});
  for (std::size_t i = 0; i < tile.count; ++i) shown.after[i] += stored[i];
  shown.unmoved = tile.state_before[slot];
}

/// Where increments are computed from rounded states: all states are advanced and stored before any weight moves, and
/// what was seen of them is kept.
template <class Rule, class R>
void OptimizedTensor<Rule, R>::store_states_first(Step& step, ThreadPool* pool) {
  for (auto* states : {&step.old_states, &step.wanted_states, &step.unmoved_states})
    for (auto& numbers : *states) numbers.resize(size());
  for (auto& numbers : step.state_multipliers) numbers.resize(size());
  for_each_tile(pool, tile_length_, [&](std::size_t, std::size_t begin, Tile& tile) {
    compute(step, begin, tile);
    const auto keep = [&](const auto& numbers, auto& all) {
      std::copy(numbers.begin(), numbers.end(), all.begin() + static_cast<std::ptrdiff_t>(begin));
    };
    for (std::size_t slot = 0; slot < state_count; ++slot) {
      store_state(step.now, begin, slot, tile, true);
      keep(tile.state_before[slot], step.old_states[slot]);
      keep(tile.state[slot], step.wanted_states[slot]);
      keep(tile.state_shown[slot].unmoved, step.unmoved_states[slot]);
      keep(tile.state_shown[slot].multiplier, step.state_multipliers[slot]);
    }
  });
  for (Slot<R>& slot : states_) slot.commit_tensor_wide_scale();
  step.states_are_stored = true;
}

/// What store_states_first() kept of a tile.
template <class Rule, class R>
void OptimizedTensor<Rule, R>::recall_states(const Step& step, std::size_t begin, Tile& tile) const {
  const auto recall = [&](const auto& all, auto& numbers) {
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(begin), tile.count, numbers.begin());
  };
  for (std::size_t slot = 0; slot < state_count; ++slot) {
    ShownTile<R>& shown = tile.state_shown[slot];
    shown.after = tile.state[slot];
    recall(step.unmoved_states[slot], shown.unmoved);
    recall(step.state_multipliers[slot], shown.multiplier);
    recall(step.wanted_states[slot], tile.state[slot]);
  }
}

/// Stores a weight slot, and what would have been stored had there been no decay.
template <class Rule, class R>
void OptimizedTensor<Rule, R>::store_weight(const Step& step, std::size_t begin, std::size_t slot, Tile& tile,
                                            bool shows, bool shows_all) {
  Slot<R>& weights = weights_[slot];
  const auto random = draws(weights, stream(step.now, slot, RandomPurpose::rounding), begin, tile.count);
  weights.store(begin, tile.before[slot], tile.target[slot], random,
                scale_draws(weights, slot, step.now, begin, tile.count),
                shows_all || !residuals_.empty() ? tile.weight_shown[slot].spans()
                : shows                          ? tile.weight_shown[slot].numbers()
                                                 : StoredTile<R>{});
  if (step.decay != 0 && shows_all)
    weights.round_like_the_last(begin, tile.target_without_decay[slot], random,
                                std::span(tile.without_decay[slot]));
  if (!residuals_.empty()) store_compensation(step, begin, slot, tile);
}

/// The new compensation. From here on the tile speaks of weight + compensation, which has no grid of its own.
template <class Rule, class R>
void OptimizedTensor<Rule, R>::store_compensation(const Step& step, std::size_t begin, std::size_t slot,
                                                  Tile& tile) {
  Slot<R>& residual = residuals_[slot];
  ShownTile<R>& shown = tile.weight_shown[slot];
  std::vector<R> next(tile.count), stored(tile.count), same(tile.count);
  std::vector<double> one(tile.count);
  for (std::size_t i = 0; i < tile.count; ++i)
    next[i] = canonical(
        new_compensation(plan_.compensation, weights_[slot], tile.compensated[slot][i], shown.after[i]));
  residual.store(begin, tile.compensation[slot], next, {}, {}, {stored, same, one});
  for (std::size_t i = 0; i < tile.count; ++i) {
    const R c = tile.compensation[slot][i];
    tile.before[slot][i] += c;
    shown.unmoved[i] += c;
    tile.wanted[slot][i] = tile.before[slot][i] + tile.update[slot][i];
    shown.after[i] += stored[i];
    if (step.decay != 0)
      tile.without_decay[slot][i] += residual.rounded(
          new_compensation(plan_.compensation, weights_[slot], tile.compensated_without_decay[slot][i],
                           tile.without_decay[slot][i]));
  }
}

/// Shows each weight slot of a tile to the probe, its states with the first, then the weight itself where it is made of
/// parts.
template <class Rule, class R>
template <class ProbeTile>
void OptimizedTensor<Rule, R>::show(const Step& step, std::size_t begin, Tile& tile, bool shows_all,
                                    ProbeTile& probe) const {
  std::vector<StateRecord<R>> states;
  for (std::size_t slot = 0; shows_all && slot < state_count; ++slot)
    states.push_back({Rule::state_slots[slot], states_[slot].plan(), tile.state_before[slot],
                      tile.state[slot], tile.state_shown[slot].after, tile.state_shown[slot].unmoved,
                      tile.state_shown[slot].multiplier});
  const bool has_grid = shows_all && residuals_.empty(), decays = shows_all && step.decay != 0;
  for (std::size_t slot = 0; slot < weight_count; ++slot) {
    const ShownTile<R>& shown = tile.weight_shown[slot];
    const auto gradient = std::span<const R>(step.gradients[slot]).subspan(begin, tile.count);
    const auto grid = [&](const std::vector<double>& of) {
      return has_grid ? std::span(of) : std::span<const double>{};
    };
    const auto of_decay = [&](const std::vector<R>& numbers) {
      return decays ? std::span(numbers) : std::span<const R>{};
    };
    probe.see(TileRecord<R>{
        weights_[slot].plan(), slot, begin, tile.before[slot], gradient, tile.update[slot], tile.wanted[slot],
        shown.after, shown.unmoved, grid(shown.multiplier), info_.id, step.typical,
        grid(shown.multiplier_before), of_decay(tile.decay[slot]), of_decay(tile.without_decay[slot]),
        slot == 0 ? std::span<const StateRecord<R>>(states) : std::span<const StateRecord<R>>{}, false});
  }
  if constexpr (weight_count > 1)
    if (shows_all) show_whole(step, begin, tile, probe);
}

template <class Rule, class R>
template <class ProbeTile>
void OptimizedTensor<Rule, R>::show_whole(const Step& step, std::size_t begin, const Tile& tile,
                                          ProbeTile& probe) const {
  // part(slot): the vector of a slot
  const auto whole = [&](auto part) {
    std::array<R, weight_count> no_noise, parts;
    no_noise.fill(R(1));
    std::vector<R> made(tile.count);
    for (std::size_t i = 0; i < tile.count; ++i) {
      for (std::size_t slot = 0; slot < weight_count; ++slot) parts[slot] = part(slot)[i];
      made[i] = Rule::view(step.scalars, parts, no_noise);
    }
    return made;
  };
  using Numbers = const std::vector<R>&;
  const auto before = whole([&](std::size_t slot) -> Numbers { return tile.before[slot]; });
  const auto wanted = whole([&](std::size_t slot) -> Numbers { return tile.wanted[slot]; });
  const auto after = whole([&](std::size_t slot) -> Numbers { return tile.weight_shown[slot].after; });
  const auto unmoved = whole([&](std::size_t slot) -> Numbers { return tile.weight_shown[slot].unmoved; });
  std::vector<R> update(tile.count);
  for (std::size_t i = 0; i < tile.count; ++i) update[i] = wanted[i] - before[i];
  const auto gradient = std::span<const R>(step.gradients[0]).subspan(begin, tile.count);
  probe.see(TileRecord<R>{weights_[0].plan(),
                          weight_count,
                          begin,
                          before,
                          gradient,
                          update,
                          wanted,
                          after,
                          unmoved,
                          {},
                          info_.id,
                          step.typical,
                          {},
                          {},
                          {},
                          {},
                          true});
}

}  // namespace halfulp
