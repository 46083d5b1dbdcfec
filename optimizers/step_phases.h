#pragma once
#include "optimizers/compensation.h"
#include "optimizers/step.h"

// The phases of OptimizedTensor::step. Phases 2 and 3 call the same compute() on the same inputs.
namespace halfulp {

/// A computed NaN as the one quiet NaN: its sign and payload differ between processors, and both would be stored.
template <class R>
R canonical(R x) noexcept {
  return x == x ? x : std::numeric_limits<R>::quiet_NaN();
}

/// Every number of one tile.
template <class Rule, class R>
struct OptimizedTensor<Rule, R>::Tile {
  using Weights = std::array<std::vector<R>, weight_count>;
  std::size_t count;
  Weights before, update, wanted, decay;
  Weights target, target_without_decay;  // what is stored: wanted, unless the plan says otherwise
  std::array<std::vector<CompensatedUpdate<R>>, weight_count> compensated, compensated_without_decay;
  Weights compensation;
  std::array<std::vector<R>, state_count> state_before, state, low_part;

  explicit Tile(std::size_t length) : count(length) {
    for (auto* group : {&before, &update, &wanted, &target})
      for (auto& numbers : *group) numbers.resize(length);
    for (auto* group : {&state_before, &state})
      for (auto& numbers : *group) numbers.resize(length);
  }
};

/// The states before this step, and the new ones that increments are computed from.
template <class Rule, class R>
void OptimizedTensor<Rule, R>::load_states(const Step& step, std::size_t begin, Tile& tile) const {
  std::size_t pair = 0;
  for (std::size_t slot = 0; slot < state_count; ++slot) {
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

template <class Rule, class R>
void OptimizedTensor<Rule, R>::compute(const Step& step, std::size_t begin, Tile& tile) const {
  for (std::size_t slot = 0; slot < weight_count; ++slot) weights_[slot].load(begin, std::span(tile.before[slot]));
  load_states(step, begin, tile);
  typename Tile::Weights gradient;
  for (std::size_t slot = 0; slot < weight_count; ++slot)
    gradient[slot].assign(step.gradients[slot].begin() + static_cast<std::ptrdiff_t>(begin),
                          step.gradients[slot].begin() + static_cast<std::ptrdiff_t>(begin + tile.count));
  typename Tile::Weights increment;
  for (auto& numbers : increment) numbers.resize(tile.count);
  for (std::size_t i = 0; i < tile.count; ++i) {
    const std::array<R, weight_count> w = element_at(tile.before, i), g = element_at(gradient, i);
    const std::array<R, state_count> old = element_at(tile.state_before, i);
    if (!step.states_are_stored) {
      const std::array<R, state_count> state = Rule::advance(step.scalars, w, g, old);
      for (std::size_t slot = 0; slot < state_count; ++slot) tile.state[slot][i] = canonical(state[slot]);
    }
    const std::array<R, state_count> state = element_at(tile.state, i);
    std::array<R, weight_count> u;
    if constexpr (LowRankRule<Rule>)
      u = Rule::increment(step.scalars, w, g, old, state, step.guide[begin + i]);
    else
      u = Rule::increment(step.scalars, w, g, old, state);
    for (std::size_t slot = 0; slot < weight_count; ++slot) increment[slot][i] = u[slot];
  }

  const bool decays = step.decay != 0;
  for (std::size_t slot = 0; slot < weight_count; ++slot) {
    const std::vector<R>&w = tile.before[slot], &u = increment[slot];
    std::vector<R> decayed;  // where decay has a rounding of its own: what the increment is then added to
    if (decays && plan_.decay == DecayPlacement::own_rounding) {
      std::vector<R> shrunk(tile.count);
      for (std::size_t i = 0; i < tile.count; ++i) shrunk[i] = w[i] * step.kept;
      decayed.resize(tile.count);
      weights_[slot].round_to_nearest(begin, shrunk, std::span(decayed));
    }
    if (decays) tile.decay[slot].resize(tile.count), tile.target_without_decay[slot].resize(tile.count);
    for (std::size_t i = 0; i < tile.count; ++i) {
      R update = u[i];
      if (decays) {
        tile.decay[slot][i] = -(step.decay * w[i]);
        update = u[i] - step.decay * w[i];
      }
      // Without an update the weight stays as it is, -0 included (-0 + 0 is +0).
      const auto moved = [](R from, R by) { return canonical(by == 0 ? from : from + by); };
      tile.update[slot][i] = update;
      tile.wanted[slot][i] = moved(w[i], update);
      tile.target[slot][i] = decayed.empty() ? tile.wanted[slot][i] : moved(decayed[i], u[i]);
      if (decays) tile.target_without_decay[slot][i] = moved(w[i], u[i]);
    }
    if (residuals_.empty()) continue;
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
               tile.target[slot]);
    if (decays) compensate(w, u, tile.compensated_without_decay[slot], tile.target_without_decay[slot]);
  }
}

/// Phase 2: the scales that span the tensor, of those of these slots that have one, from the numbers that
/// numbers_of(tile, slot) says are stored before and to be stored.
template <class Rule, class R>
template <class Numbers>
void OptimizedTensor<Rule, R>::choose_tensor_wide_scales(std::vector<Slot<R>>& slots, std::size_t first_number,
                                                         const Step& step, ThreadPool* pool, Numbers numbers_of) {
  bool any = false;
  for (const Slot<R>& slot : slots) any = any || slot.has_tensor_wide_scale();
  if (!any) return;
  struct Amax {
    double before = 0, wanted = 0;
  };
  std::vector<std::vector<Amax>> of_tile((size() + tile_length_ - 1) / tile_length_, std::vector<Amax>(slots.size()));
  for_each_tile(pool, [&](std::size_t index, std::size_t begin, std::size_t count) {
    Tile tile(count);
    compute(step, begin, tile);
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      const auto [before, wanted] = numbers_of(tile, slot);
      of_tile[index][slot] = {slots[slot].amax_for_scale(before), slots[slot].amax_for_scale(wanted)};
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
void OptimizedTensor<Rule, R>::store(Slot<R>& slot, std::size_t number, const StepInfo& now, std::size_t begin,
                                     std::span<const R> before, std::span<const R> wanted,
                                     const StoredTile<R>& out) {
  slot.store(begin, before, wanted, draws(slot, stream(now, number, RandomPurpose::rounding), begin, wanted.size()),
             scale_draws(slot, number, now, begin, wanted.size()), out);
}

/// What a probe is shown of a slot in one tile.
template <class R>
struct ShownTile {
  std::vector<R> after, unmoved;
  std::vector<double> multiplier, multiplier_before;

  explicit ShownTile(std::size_t count)
      : after(count), unmoved(count), multiplier(count, 1.0), multiplier_before(count, 1.0) {}
  StoredTile<R> spans() { return {after, unmoved, multiplier, multiplier_before}; }
};

/// Stores the weights of one tile and shows each weight slot to the probe, then the weight itself where it is made of
/// parts.
template <class Rule, class R>
template <class ProbeTile>
void OptimizedTensor<Rule, R>::store_weights(const Step& step, std::size_t begin, Tile& tile,
                                             std::span<const StateRecord<R>> states, ProbeTile& probe) {
  using Weights = typename Tile::Weights;
  Weights before = tile.before, wanted = tile.wanted, after, unmoved;  // with the compensation, where there is one
  const bool decays = step.decay != 0;
  for (std::size_t slot = 0; slot < weight_count; ++slot) {
    ShownTile<R> shown(tile.count);
    const auto random = draws(weights_[slot], stream(step.now, slot, RandomPurpose::rounding), begin, tile.count);
    weights_[slot].store(begin, tile.before[slot], tile.target[slot], random,
                         scale_draws(weights_[slot], slot, step.now, begin, tile.count), shown.spans());
    std::vector<R> without_decay;
    if (decays) {
      without_decay.resize(tile.count);
      weights_[slot].round_like_the_last(begin, tile.target_without_decay[slot], random, std::span(without_decay));
    }
    after[slot] = std::move(shown.after);
    unmoved[slot] = std::move(shown.unmoved);
    if (!residuals_.empty()) {
      Slot<R>& residual = residuals_[slot];
      std::vector<R> next(tile.count), stored(tile.count), same(tile.count);
      std::vector<double> one(tile.count);
      for (std::size_t i = 0; i < tile.count; ++i)
        next[i] = canonical(
            new_compensation(plan_.compensation, weights_[slot], tile.compensated[slot][i], after[slot][i]));
      residual.store(begin, tile.compensation[slot], next, {}, {}, {stored, same, one});
      for (std::size_t i = 0; i < tile.count; ++i) {
        const R c = tile.compensation[slot][i];
        before[slot][i] += c;
        unmoved[slot][i] += c;
        wanted[slot][i] = before[slot][i] + tile.update[slot][i];
        after[slot][i] += stored[i];
        if (decays)
          without_decay[i] += residual.rounded(new_compensation(
              plan_.compensation, weights_[slot], tile.compensated_without_decay[slot][i], without_decay[i]));
      }
      shown.multiplier.clear();
      shown.multiplier_before.clear();
    }
    const auto gradient = std::span<const R>(step.gradients[slot]).subspan(begin, tile.count);
    probe.see(TileRecord<R>{weights_[slot].plan(), slot, begin, before[slot], gradient, tile.update[slot],
                            wanted[slot], after[slot], unmoved[slot], shown.multiplier, info_.id, step.typical,
                            shown.multiplier_before, tile.decay[slot], without_decay,
                            slot == 0 ? states : std::span<const StateRecord<R>>{}, false});
  }
  if constexpr (weight_count > 1) {
    const auto whole = [&](const Weights& parts) {
      std::array<R, weight_count> no_noise;
      no_noise.fill(R(1));
      std::vector<R> made(tile.count);
      for (std::size_t i = 0; i < tile.count; ++i) made[i] = Rule::view(step.scalars, element_at(parts, i), no_noise);
      return made;
    };
    const auto made_before = whole(before), made_wanted = whole(wanted), made_after = whole(after);
    const auto made_unmoved = whole(unmoved);
    std::vector<R> update(tile.count);
    for (std::size_t i = 0; i < tile.count; ++i) update[i] = made_wanted[i] - made_before[i];
    const auto gradient = std::span<const R>(step.gradients[0]).subspan(begin, tile.count);
    probe.see(TileRecord<R>{weights_[0].plan(), weight_count, begin, made_before, gradient, update, made_wanted,
                            made_after, made_unmoved, {}, info_.id, step.typical, {}, {}, {}, {}, true});
  }
}

/// Stores one tile, states first, and shows it to the probe.
template <class Rule, class R>
template <class ProbeTile>
void OptimizedTensor<Rule, R>::finish(const Step& step, std::size_t begin, Tile& tile, ProbeTile& probe) {
  std::vector<ShownTile<R>> shown;
  std::vector<StateRecord<R>> records;
  shown.reserve(state_count);
  std::size_t pair = 0;
  const auto offset = static_cast<std::ptrdiff_t>(begin), count = static_cast<std::ptrdiff_t>(tile.count);
  for (std::size_t slot = 0; slot < state_count; ++slot) {
    ShownTile<R>& seen = shown.emplace_back(tile.count);
    if (step.states_are_stored) {
      const auto part = [&](const auto& all) { return std::vector(all.begin() + offset, all.begin() + offset + count); };
      seen.after = tile.state[slot];
      seen.unmoved = part(step.unmoved_states[slot]);
      seen.multiplier = part(step.state_multipliers[slot]);
      tile.state[slot] = part(step.wanted_states[slot]);
    } else {
      store(states_[slot], weight_count + slot, step.now, begin, tile.state_before[slot], tile.state[slot],
            seen.spans());
      if (!low_parts_.empty() && Rule::state_slots[slot].moment == Moment::second) {
        Slot<R>& low = low_parts_[pair++];
        std::vector<R> rest(tile.count), stored(tile.count), same(tile.count);
        std::vector<double> one(tile.count);
        for (std::size_t i = 0; i < tile.count; ++i) rest[i] = canonical(tile.state[slot][i] - seen.after[i]);
        low.store(begin, tile.low_part[slot], rest, {}, {}, {stored, same, one});
        for (std::size_t i = 0; i < tile.count; ++i) seen.after[i] += stored[i];
        seen.unmoved = tile.state_before[slot];
      }
    }
    records.push_back({Rule::state_slots[slot], states_[slot].plan(), tile.state_before[slot], tile.state[slot],
                       seen.after, seen.unmoved, seen.multiplier});
  }
  store_weights(step, begin, tile, std::span<const StateRecord<R>>(records), probe);
}

/// Where increments are computed from rounded states: all states are advanced and stored before any weight moves.
template <class Rule, class R>
void OptimizedTensor<Rule, R>::store_states_first(Step& step, ThreadPool* pool) {
  for (auto* states : {&step.old_states, &step.wanted_states, &step.unmoved_states})
    for (auto& numbers : *states) numbers.resize(size());
  for (auto& numbers : step.state_multipliers) numbers.resize(size());
  for_each_tile(pool, [&](std::size_t, std::size_t begin, std::size_t count) {
    Tile tile(count);
    compute(step, begin, tile);
    std::size_t pair = 0;
    for (std::size_t slot = 0; slot < state_count; ++slot) {
      const auto keep = [&](const auto& numbers, auto& all) {
        std::copy(numbers.begin(), numbers.end(), all.begin() + static_cast<std::ptrdiff_t>(begin));
      };
      ShownTile<R> seen(count);
      store(states_[slot], weight_count + slot, step.now, begin, tile.state_before[slot], tile.state[slot],
            seen.spans());
      const bool is_pair = !low_parts_.empty() && Rule::state_slots[slot].moment == Moment::second;
      keep(tile.state_before[slot], step.old_states[slot]);
      keep(tile.state[slot], step.wanted_states[slot]);
      keep(is_pair ? tile.state_before[slot] : seen.unmoved, step.unmoved_states[slot]);
      keep(seen.multiplier, step.state_multipliers[slot]);
      if (!is_pair) continue;
      std::vector<R> rest(count);
      for (std::size_t i = 0; i < count; ++i) rest[i] = canonical(tile.state[slot][i] - seen.after[i]);
      low_parts_[pair++].store(begin, tile.low_part[slot], rest, {}, {}, {});
    }
  });
  for (Slot<R>& slot : states_) slot.commit_tensor_wide_scale();
  step.states_are_stored = true;
}

template <class Rule, class R>
void OptimizedTensor<Rule, R>::advance_auxiliary([[maybe_unused]] const Config& config, [[maybe_unused]] Step& step) {
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
  Step step{now, gradients, Rule::template scalars<R>(config, constants_, now), Rule::typical_step(config, now),
            R(decay), R(1 - decay), {}, {}, {}, {}, {}, false};
  advance_auxiliary(config, step);
  choose_tensor_wide_scales(states_, weight_count, step, pool, [](const Tile& tile, std::size_t slot) {
    return std::pair(std::span<const R>(tile.state_before[slot]), std::span<const R>(tile.state[slot]));
  });
  if (plan_.states_used == StatesUsed::rounded) store_states_first(step, pool);
  choose_tensor_wide_scales(weights_, 0, step, pool, [](const Tile& tile, std::size_t slot) {
    return std::pair(std::span<const R>(tile.before[slot]), std::span<const R>(tile.target[slot]));
  });
  std::vector<typename P::Tile> seen;
  for (std::size_t tile = 0; tile < (size() + tile_length_ - 1) / tile_length_; ++tile)
    seen.push_back(new_tile(probe));
  for_each_tile(pool, [&](std::size_t index, std::size_t begin, std::size_t count) {
    Tile tile(count);
    compute(step, begin, tile);
    finish(step, begin, tile, seen[index]);
  });
  for (auto* slots : {&weights_, &states_})
    for (Slot<R>& slot : *slots) slot.commit_tensor_wide_scale();
  for (const auto& tile : seen) probe.join(tile);
}

}  // namespace halfulp
