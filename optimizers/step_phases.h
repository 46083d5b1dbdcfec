#pragma once
#include "emulation/fp_environment.h"
#include "emulation/random_bits.h"
#include "emulation/reduce.h"
#include "formats/error.h"
#include "optimizers/step.h"

// The phases of OptimizedTensor::step. Phases 2 and 3 call the same compute() on the same inputs.
namespace halfulp {

/// Smallest number of elements after which the blocks of this slot and its rows are in step again, with codes
/// and scale codes on byte boundaries, so that no two tiles write one byte.
inline std::size_t block_period(const SlotPlan& plan, std::size_t row_length,
                                std::size_t row_count) noexcept {
  constexpr std::size_t bytes = 8;
  if (!plan.format) return bytes;
  const BlockShape& shape = plan.format->shape;
  const auto scale_bits = static_cast<std::size_t>(storage_bits(plan.format->scale));
  const std::size_t scales = bytes / std::gcd(bytes, scale_bits);  // blocks whose scales fill whole bytes
  switch (shape.axis) {
    case BlockAxis::element:
    case BlockAxis::tensor:
      return bytes;
    case BlockAxis::flattened:
      return std::lcm(shape.columns * scales, bytes);
    case BlockAxis::tile: {
      const bool one_row = shape.rows == 1 && plan.format->tensor_scale != TensorScale::row;
      if (one_row && shape.columns != 0 && row_length % shape.columns == 0)
        return std::lcm(shape.columns * scales, bytes);
      // Whole rows, or whole bands of rows; all rows where a block takes a whole column.
      const std::size_t rows = shape.rows == 0 ? std::max<std::size_t>(row_count, 1) : shape.rows;
      return std::lcm(rows * row_length * scales, bytes);
    }
  }
  return bytes;
}

/// A computed NaN as the one quiet NaN: its sign and payload differ between processors, and both would be stored.
template <class R>
R canonical(R x) noexcept {
  return x == x ? x : std::numeric_limits<R>::quiet_NaN();
}

/// Every number of one tile.
template <class Rule, class R>
struct OptimizedTensor<Rule, R>::Tile {
  std::size_t count;
  std::array<std::vector<R>, weight_count> before, update, wanted;
  std::array<std::vector<R>, state_count> state_before, state;

  explicit Tile(std::size_t length) : count(length) {
    for (auto* group : {&before, &update, &wanted})
      for (auto& numbers : *group) numbers.resize(length);
    for (auto* group : {&state_before, &state})
      for (auto& numbers : *group) numbers.resize(length);
  }
};

template <class Rule, class R>
OptimizedTensor<Rule, R>::OptimizedTensor(const TensorInfo& info, const TensorPlan& plan,
                                          std::span<const double> initial)
    : info_(info), constants_{0} {
  const FpEnvironment environment;
  constants_.initial_rms = rms(initial);
  if (initial.size() != info.size())
    throw Error("tensor " + info.name, "wrong number of initial weights", std::to_string(initial.size()),
                std::to_string(info.size()));
  std::array<std::vector<double>, weight_count> start;
  for (const double w0 : initial) {
    const std::array<double, weight_count> parts = Rule::initialize(w0, constants_);
    for (std::size_t slot = 0; slot < weight_count; ++slot) start[slot].push_back(parts[slot]);
  }
  tile_length_ = 1;
  const auto add = [&](std::vector<Slot<R>>& slots, const SlotPlan& slot_plan) -> Slot<R>& {
    tile_length_ =
        std::lcm(tile_length_, block_period(slot_plan, info.row_length(), info.size() / info.row_length()));
    return slots.emplace_back(slot_plan, info.shape);
  };
  for (std::size_t slot = 0; slot < weight_count; ++slot) add(weights_, plan.weights).initialize(start[slot]);
  const std::vector<double> zeros(initial.size());
  for (const StateSlot& slot : Rule::state_slots) add(states_, plan.state(slot.moment)).initialize(zeros);
  tile_length_ =
      std::min(tile_length_ * ((255 + tile_length_) / tile_length_), std::max<std::size_t>(size(), 1));
}

template <class Rule, class R>
void OptimizedTensor<Rule, R>::require_size(const char* what, std::size_t given) const {
  if (given != size())
    throw Error("tensor " + info_.name, std::string("wrong size of ") + what, std::to_string(given),
                std::to_string(size()));
}

template <class Rule, class R>
std::vector<R> OptimizedTensor<Rule, R>::noise_factors(const Scalars& c, const StepInfo& now, int sample,
                                                       std::size_t slot) const {
  std::vector<R> factors(size(), R(1));
  if (sample < 0) return factors;
  std::vector<std::uint32_t> bits(size());
  const RandomStream stream{now.seed,
                            static_cast<std::uint32_t>(now.step),
                            info_.id,
                            static_cast<std::uint8_t>(slot),
                            RandomPurpose::noise,
                            static_cast<std::uint8_t>(sample)};
  fill_random_bits_32(stream, 0, std::span(bits));
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = Rule::noise(c, normal_deviate<R>(bits[i]));
  return factors;
}

/// Element i of every vector.
template <class R, std::size_t count>
std::array<R, count> element_at(const std::array<std::vector<R>, count>& vectors, std::size_t i) noexcept {
  std::array<R, count> element;
  for (std::size_t k = 0; k < count; ++k) element[k] = vectors[k][i];
  return element;
}

template <class Rule, class R>
typename OptimizedTensor<Rule, R>::View OptimizedTensor<Rule, R>::look(const typename Rule::Config& config,
                                                                       const StepInfo& now,
                                                                       int sample) const {
  const FpEnvironment environment;
  View view;
  view.weights.resize(size());
  if constexpr (weight_count == 1) {
    weights_[0].load(0, std::span(view.weights));
  } else {
    const Scalars c = Rule::template scalars<R>(config, constants_, now);
    for (std::size_t slot = 0; slot < weight_count; ++slot) {
      view.slots[slot].resize(size());
      weights_[slot].load(0, std::span(view.slots[slot]));
      view.noise[slot] = noise_factors(c, now, sample, slot);
    }
    for (std::size_t i = 0; i < size(); ++i)
      view.weights[i] = Rule::view(element_at(view.slots, i), element_at(view.noise, i));
  }
  return view;
}

template <class Rule, class R>
void OptimizedTensor<Rule, R>::pull_back(const View& view, std::span<const R> d, R share,
                                         std::array<std::vector<R>, weight_count>& gradients) const {
  const FpEnvironment environment;
  require_size("derivative", d.size());
  for (auto& gradient : gradients) gradient.resize(size());
  for (std::size_t i = 0; i < size(); ++i) {
    std::array<R, weight_count> w{}, e{};
    if constexpr (weight_count > 1) w = element_at(view.slots, i), e = element_at(view.noise, i);
    const std::array<R, weight_count> pulled = Rule::pull_back(w, e, d[i]);
    for (std::size_t slot = 0; slot < weight_count; ++slot) gradients[slot][i] += share * pulled[slot];
  }
}

template <class Rule, class R>
void OptimizedTensor<Rule, R>::compute(const Scalars& c,
                                       const std::array<std::vector<R>, weight_count>& gradients,
                                       std::size_t begin, std::size_t end, Tile& tile) const {
  for (std::size_t slot = 0; slot < weight_count; ++slot)
    weights_[slot].load(begin, std::span(tile.before[slot]));
  for (std::size_t slot = 0; slot < state_count; ++slot) {
    states_[slot].load(begin, std::span(tile.state_before[slot]));
  }
  for (std::size_t i = 0; i < end - begin; ++i) {
    std::array<R, weight_count> w, g;
    std::array<R, state_count> state;
    for (std::size_t slot = 0; slot < weight_count; ++slot)
      w[slot] = tile.before[slot][i], g[slot] = gradients[slot][begin + i];
    for (std::size_t slot = 0; slot < state_count; ++slot) state[slot] = tile.state_before[slot][i];
    const std::array<R, weight_count> u = Rule::update(c, w, g, state);
    for (std::size_t slot = 0; slot < weight_count; ++slot) {
      tile.update[slot][i] = u[slot];
      // Without an update the weight stays as it is, -0 included (-0 + 0 is +0).
      tile.wanted[slot][i] = canonical(u[slot] == 0 ? w[slot] : w[slot] + u[slot]);
    }
    for (std::size_t slot = 0; slot < state_count; ++slot) tile.state[slot][i] = canonical(state[slot]);
  }
}

template <class Rule, class R>
void OptimizedTensor<Rule, R>::choose_tensor_wide_scales(
    const Scalars& c, const StepInfo& now, const std::array<std::vector<R>, weight_count>& gradients,
    ThreadPool* pool) {
  constexpr std::size_t slots = weight_count + state_count;
  bool any = false;
  for (const auto& slot : weights_) any = any || slot.has_tensor_wide_scale();
  for (const auto& slot : states_) any = any || slot.has_tensor_wide_scale();
  if (!any) return;

  const std::size_t tiles = (size() + tile_length_ - 1) / tile_length_;
  struct Amax {
    std::array<double, slots> wanted, before;
  };
  std::vector<Amax> of_tile(tiles);
  for_each_tile(pool, [&](std::size_t index) {
    const std::size_t begin = index * tile_length_, end = std::min(begin + tile_length_, size());
    Tile tile(end - begin);
    compute(c, gradients, begin, end, tile);
    for (std::size_t slot = 0; slot < weight_count; ++slot) {
      of_tile[index].wanted[slot] = weights_[slot].amax_for_scale(std::span<const R>(tile.wanted[slot]));
      of_tile[index].before[slot] = weights_[slot].amax_for_scale(std::span<const R>(tile.before[slot]));
    }
    for (std::size_t slot = 0; slot < state_count; ++slot) {
      of_tile[index].wanted[weight_count + slot] =
          states_[slot].amax_for_scale(std::span<const R>(tile.state[slot]));
      of_tile[index].before[weight_count + slot] =
          states_[slot].amax_for_scale(std::span<const R>(tile.state_before[slot]));
    }
  });
  // A maximum does not depend on the order, but for NaN, which wins wherever it stands.
  const auto larger = [](double a, double b) { return a != a || a > b ? a : b; };
  Amax all{};
  for (const Amax& tile : of_tile)
    for (std::size_t slot = 0; slot < slots; ++slot) {
      all.wanted[slot] = larger(all.wanted[slot], tile.wanted[slot]);
      all.before[slot] = larger(all.before[slot], tile.before[slot]);
    }
  for (std::size_t slot = 0; slot < slots; ++slot) {
    Slot<R>& stored = slot < weight_count ? weights_[slot] : states_[slot - weight_count];
    if (!stored.has_tensor_wide_scale()) continue;
    const std::uint32_t random =
        stored.needs_scale_random() ? random_bits(scale_stream(now, slot), 0, scale_random_bits) : 0;
    stored.choose_tensor_wide_scale(all.wanted[slot], all.before[slot], random);
  }
}

template <class Rule, class R>
void OptimizedTensor<Rule, R>::store(Slot<R>& slot, std::size_t number, const StepInfo& now,
                                     std::size_t begin, std::span<const R> before, std::span<const R> wanted,
                                     const StoredTile<R>& out) {
  const Rounding rounding = slot.plan().rounding;
  std::vector<std::uint32_t> random;
  if (is_stochastic(rounding.mode) && !slot.is_native()) {
    const RandomStream stream{now.seed,
                              static_cast<std::uint32_t>(now.step),
                              info_.id,
                              static_cast<std::uint8_t>(number),
                              RandomPurpose::rounding,
                              0};
    random.resize(wanted.size());
    fill_random_bits(stream, begin, rounding.random_bits, std::span(random));
  }
  std::vector<std::uint32_t> scale_random;
  if (slot.needs_scale_random()) {
    scale_random.resize(wanted.size());
    fill_random_bits(scale_stream(now, number), begin, scale_random_bits, std::span(scale_random));
  }
  slot.store(begin, before, wanted, random, scale_random, out);
}

/// Stores one tile and shows it to the probe: each weight slot, then the weight itself where it is made of
/// parts.
template <class Rule, class R>
template <class ProbeTile>
void OptimizedTensor<Rule, R>::finish(const StepInfo& now,
                                      const std::array<std::vector<R>, weight_count>& gradients,
                                      std::size_t begin, Tile& tile, ProbeTile& probe) {
  std::array<std::vector<R>, weight_count> after, unmoved;
  std::vector<double> multiplier(tile.count);
  for (std::size_t slot = 0; slot < weight_count; ++slot) {
    after[slot].resize(tile.count);
    unmoved[slot].resize(tile.count);
    store(weights_[slot], slot, now, begin, tile.before[slot], tile.wanted[slot],
          {after[slot], unmoved[slot], multiplier});
    const auto gradient = std::span<const R>(gradients[slot]).subspan(begin, tile.count);
    probe.see(TileRecord<R>{weights_[slot].plan(), slot, begin, tile.before[slot], gradient,
                            tile.update[slot], tile.wanted[slot], after[slot], unmoved[slot], multiplier});
  }
  if constexpr (weight_count > 1) {
    const auto whole = [&](const std::array<std::vector<R>, weight_count>& parts) {
      std::array<R, weight_count> no_noise;
      no_noise.fill(R(1));
      std::vector<R> made(tile.count);
      for (std::size_t i = 0; i < tile.count; ++i) made[i] = Rule::view(element_at(parts, i), no_noise);
      return made;
    };
    const auto before = whole(tile.before), wanted = whole(tile.wanted), stored = whole(after);
    const auto kept = whole(unmoved), update = whole(tile.update);
    const auto gradient = std::span<const R>(gradients[0]).subspan(begin, tile.count);
    probe.see(TileRecord<R>{
        weights_[0].plan(), weight_count, begin, before, gradient, update, wanted, stored, kept, {}});
  }
  for (std::size_t slot = 0; slot < state_count; ++slot)
    store(states_[slot], weight_count + slot, now, begin, tile.state_before[slot], tile.state[slot], {});
}

template <class Rule, class R>
template <class P>
void OptimizedTensor<Rule, R>::step(const typename Rule::Config& config, const StepInfo& now,
                                    const std::array<std::vector<R>, weight_count>& gradients,
                                    ThreadPool* pool, P& probe) {
  const FpEnvironment environment;
  for (const auto& gradient : gradients) require_size("gradient", gradient.size());
  const Scalars c = Rule::template scalars<R>(config, constants_, now);
  choose_tensor_wide_scales(c, now, gradients, pool);
  std::vector<typename P::Tile> seen((size() + tile_length_ - 1) / tile_length_);
  for_each_tile(pool, [&](std::size_t index) {
    const std::size_t begin = index * tile_length_, end = std::min(begin + tile_length_, size());
    Tile tile(end - begin);
    compute(c, gradients, begin, end, tile);
    finish(now, gradients, begin, tile, seen[index]);
  });
  for (auto* slots : {&weights_, &states_})
    for (Slot<R>& slot : *slots) slot.commit_tensor_wide_scale();
  for (const auto& tile : seen) probe.join(tile);
}

}  // namespace halfulp
