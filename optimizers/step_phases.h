#pragma once
#include "optimizers/lanes/rule_lanes.h"
#include "optimizers/step_tile.h"

// The phases of OptimizedTensor::step. Phases 2 and 3 call the same compute() on the same inputs.
namespace halfulp {

/// The states before this step, and the new ones that increments are computed from.
template <class Rule, class R>
void OptimizedTensor<Rule, R>::load_states(const Step& step, std::size_t begin, Tile& tile) const {
  std::size_t pair = 0;
  for (std::size_t slot = 0; slot < state_count; ++slot) {
    if (tile.in_place[slot]) continue;
    std::vector<R>& now = step.states_are_stored ? tile.state[slot] : tile.state_before[slot];
    states_[slot].load(begin, std::span(now));
    if (step.states_are_stored)
      std::copy_n(step.old_states[slot].begin() + static_cast<std::ptrdiff_t>(begin), tile.count,
                  tile.state_before[slot].begin());
    if (low_parts_.empty() || Rule::state_slots[slot].moment != Moment::second) continue;
    tile.low_part[slot].resize(tile.count);
    low_parts_[pair++].load(begin, std::span(tile.low_part[slot]));
    for (std::size_t i = 0; i < tile.count; ++i) now[i] += tile.low_part[slot][i];
  }
}

/// The rule on every element: on lanes where it has them, which gives the same bits.
template <class Rule, class R>
void OptimizedTensor<Rule, R>::run_rule(const Step& step, std::size_t begin, Tile& tile) const {
  RuleRun<Rule, R> run{};
  run.n = tile.count;
  run.decay = step.decay;
  for (std::size_t k = 0; k < weight_count; ++k) {
    run.w[k] = tile.before[k].data();
    run.g[k] = step.gradients[k].data() + begin;
    run.increment[k] = step.decay == 0 ? tile.update[k].data() : tile.increment[k].data();
    run.update[k] = tile.update[k].data();
    run.wanted[k] = tile.wanted[k].data();
    run.decayed[k] = tile.decay[k].data();
  }
  for (std::size_t k = 0; k < state_count; ++k) {
    run.old[k] = tile.in_place[k] ? tile.in_place[k] : tile.state_before[k].data();
    run.state[k] = tile.in_place[k] ? tile.in_place[k] : tile.state[k].data();
  }
  if constexpr (LowRankRule<Rule>) run.guide = step.guide.data() + begin;
  const auto load = [](const R* from) { return *from; };
  const auto store = [](R x, R* to) { *to = x; };
  if (step.states_are_stored) {
    for (std::size_t i = 0; i < run.n; ++i) run_rule_at<Rule, false, R>(step.scalars, run, i, load, store);
    return;
  }
  if constexpr (std::is_same_v<R, float>)
    if (const RuleOnLanes<Rule> lanes = lanes_of_rule<Rule>(rule_kernels()))
      return lanes(step.config, constants_, step.now, run);
  for (std::size_t i = 0; i < run.n; ++i) run_rule_at<Rule, true, R>(step.scalars, run, i, load, store);
}

/// What is to be stored of a weight slot: wanted, or what decay with a rounding of its own and compensation make of it.
template <class Rule, class R>
void OptimizedTensor<Rule, R>::choose_targets(const Step& step, std::size_t begin, std::size_t slot,
                                              Tile& tile) const {
  const bool decays = step.decay != 0;
  const std::vector<R>&w = tile.before[slot], &u = decays ? tile.increment[slot] : tile.update[slot];
  std::vector<R> decayed;  // what the increment is then added to
  if (decays && plan_.decay == DecayPlacement::own_rounding) {
    std::vector<R> shrunk(tile.count);
    for (std::size_t i = 0; i < tile.count; ++i) shrunk[i] = w[i] * step.kept;
    decayed.resize(tile.count);
    weights_[slot].round_to_nearest(begin, shrunk, std::span(decayed));
    for (std::size_t i = 0; i < tile.count; ++i) tile.other_target[slot][i] = moved_by(decayed[i], u[i]);
  }
  const bool is_other = !decayed.empty() || !residuals_.empty();
  tile.target[slot] = is_other ? tile.other_target[slot] : tile.wanted[slot];
  if (decays)
    for (std::size_t i = 0; i < tile.count; ++i) tile.target_without_decay[slot][i] = moved_by(w[i], u[i]);
  if (residuals_.empty()) return;
  const auto compensate = [&](const std::vector<R>& from, const std::vector<R>& by,
                              std::vector<CompensatedUpdate<R>>& updates, std::vector<R>& target) {
    updates.resize(tile.count);
    for (std::size_t i = 0; i < tile.count; ++i) {
      updates[i] = compensated_update(plan_.compensation, weights_[slot], residuals_[slot], from[i],
                                      tile.compensation[slot][i], by[i]);
      target[i] = canonical(updates[i].target);
    }
  };
  tile.compensation[slot].resize(tile.count);
  residuals_[slot].load(begin, std::span(tile.compensation[slot]));
  compensate(decayed.empty() ? w : decayed, decayed.empty() ? tile.update[slot] : u, tile.compensated[slot],
             tile.other_target[slot]);
  if (decays) compensate(w, u, tile.compensated_without_decay[slot], tile.target_without_decay[slot]);
}

template <class Rule, class R>
void OptimizedTensor<Rule, R>::compute(const Step& step, std::size_t begin, Tile& tile) const {
  for (std::size_t slot = 0; slot < weight_count; ++slot)
    weights_[slot].load(begin, std::span(tile.before[slot]));
  load_states(step, begin, tile);
  run_rule(step, begin, tile);
  for (std::size_t slot = 0; slot < weight_count; ++slot) choose_targets(step, begin, slot, tile);
}

/// Phase 2: the scales that span the tensor, of those of these slots that have one, from the numbers that
/// numbers_of(tile, slot) says are stored before and to be stored.
template <class Rule, class R>
template <class Numbers>
void OptimizedTensor<Rule, R>::choose_tensor_wide_scales(std::vector<Slot<R>>& slots,
                                                         std::size_t first_number, const Step& step,
                                                         ThreadPool* pool, Numbers numbers_of) {
  if (std::none_of(slots.begin(), slots.end(),
                   [](const Slot<R>& slot) { return slot.has_tensor_wide_scale(); }))
    return;
  struct Amax {
    double before = 0, wanted = 0;
  };
  std::vector<std::vector<Amax>> of_tile(tile_count(long_tile()), std::vector<Amax>(slots.size()));
  for_each_tile(pool, long_tile(), [&](std::size_t index, std::size_t begin, Tile& tile) {
    compute(step, begin, tile);
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      const auto [before, wanted] = numbers_of(tile, slot);
      // What is stored now counts for the delayed policy alone.
      const bool delayed = slots[slot].plan().scale.kind == ScalePolicyKind::delayed;
      of_tile[index][slot] = {delayed ? slots[slot].amax_for_scale(before) : 0,
                              slots[slot].amax_for_scale(wanted)};
    }
  });
  // A maximum does not depend on the order, but for NaN, which wins wherever it stands.
  const auto larger = [](double a, double b) { return a != a || a > b ? a : b; };
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (!slots[slot].has_tensor_wide_scale()) continue;
    Amax all;
    for (const auto& tile : of_tile)
      all = {larger(all.before, tile[slot].before), larger(all.wanted, tile[slot].wanted)};
    const auto random = scale_draws(slots[slot], first_number + slot, step.now, 0, 1);
    slots[slot].choose_tensor_wide_scale(all.wanted, all.before, random.empty() ? 0 : random[0]);
  }
}

template <class Rule, class R>
void OptimizedTensor<Rule, R>::advance_auxiliary([[maybe_unused]] const Config& config,
                                                 [[maybe_unused]] Step& step) {
  if constexpr (LowRankRule<Rule>) {
    typename Tile::Weights w;
    for (std::size_t slot = 0; slot < weight_count; ++slot) {
      w[slot].resize(size());
      weights_[slot].load(0, std::span(w[slot]));
    }
    std::array<std::vector<R>, auxiliary_count> auxiliary;
    for (std::size_t k = 0; k < auxiliary_count; ++k) {
      auxiliary[k].resize(auxiliary_[k].size());
      auxiliary_[k].load(0, std::span(auxiliary[k]));
    }
    step.guide = Rule::guide(config, step.scalars, info_, step.now, w, step.gradients, auxiliary, memory_);
    for (std::size_t k = 0; k < auxiliary_count; ++k) {
      const std::size_t number = weight_count + state_count + k, count = auxiliary_[k].size();
      for (R& x : auxiliary[k]) x = canonical(x);
      auxiliary_[k].replace(auxiliary[k],
                            draws(auxiliary_[k], stream(step.now, number, RandomPurpose::rounding), 0, count),
                            scale_draws(auxiliary_[k], number, step.now, 0, count));
    }
  }
}

template <class Rule, class R>
template <class P>
void OptimizedTensor<Rule, R>::step(const Config& config, const StepInfo& now, const Gradients& gradients,
                                    ThreadPool* pool, P& probe) {
  const FpEnvironment environment;
  for (const auto& gradient : gradients) require_size("gradient", gradient.size());
  const double decay = Rule::decay(config, now);
  Step step{config,
            now,
            gradients,
            Rule::template scalars<R>(config, constants_, now),
            Rule::typical_step(config, now),
            R(decay),
            R(1 - decay),
            {},
            {},
            {},
            {},
            {},
            false};
  advance_auxiliary(config, step);
  choose_tensor_wide_scales(states_, weight_count, step, pool, [](const Tile& tile, std::size_t slot) {
    return std::pair(std::span<const R>(tile.state_before[slot]), std::span<const R>(tile.state[slot]));
  });
  if (plan_.states_used == StatesUsed::rounded) store_states_first(step, pool);
  choose_tensor_wide_scales(weights_, 0, step, pool, [](const Tile& tile, std::size_t slot) {
    return std::pair(std::span<const R>(tile.before[slot]), tile.target[slot]);
  });
  std::vector<typename P::Tile> seen;
  constexpr bool shows = !std::is_same_v<P, NoProbe>;
  const bool shows_all = shows && !only_counts_weights(probe);
  const std::size_t length = shows_all ? tile_length_ : long_tile();
  for (std::size_t tile = 0; tile < tile_count(length); ++tile) seen.push_back(new_tile(probe));
  const bool may_replace = !shows_all && !step.states_are_stored && low_parts_.empty();
  for_each_tile(pool, length, [&](std::size_t index, std::size_t begin, Tile& tile) {
    for (std::size_t slot = 0; slot < state_count; ++slot)
      tile.in_place[slot] = may_replace ? states_[slot].place_at(begin) : nullptr;
    compute(step, begin, tile);
    for (std::size_t slot = 0; slot < state_count; ++slot)
      if (!step.states_are_stored && !tile.in_place[slot])
        store_state(step.now, begin, slot, tile, shows_all);
    if (step.states_are_stored) recall_states(step, begin, tile);
    for (std::size_t slot = 0; slot < weight_count; ++slot)
      store_weight(step, begin, slot, tile, shows, shows_all);
    if constexpr (shows) show(step, begin, tile, shows_all, seen[index]);
  });
  for (auto* slots : {&weights_, &states_})
    for (Slot<R>& slot : *slots) slot.commit_tensor_wide_scale();
  for (const auto& tile : seen) probe.join(tile);
}

}  // namespace halfulp
