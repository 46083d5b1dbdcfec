#pragma once
#include "emulation/fp_environment.h"
#include "emulation/random_bits.h"
#include "emulation/reduce.h"
#include "formats/error.h"
#include "optimizers/lanes/rule_lanes.h"
#include "optimizers/step.h"
#include "optimizers/tile_length.h"

// What comes before an update: the tensor as it starts, what a model sees of it, and the gradient pulled back to its
// slots.
namespace halfulp {

/// Element i of every vector.
template <class R, std::size_t count>
std::array<R, count> element_at(const std::array<std::vector<R>, count>& vectors, std::size_t i) noexcept {
  std::array<R, count> element;
  for (std::size_t k = 0; k < count; ++k) element[k] = vectors[k][i];
  return element;
}

template <class Rule, class R>
OptimizedTensor<Rule, R>::OptimizedTensor(const TensorInfo& info, const TensorPlan& plan,
                                          std::span<const double> initial, const Config& config,
                                          std::uint64_t seed)
    : info_(info), constants_{0}, plan_(plan) {
  const FpEnvironment environment;
  constants_.initial_rms = rms(initial);
  if (initial.size() != info.size())
    throw Error("tensor " + info.name, "wrong number of initial weights", std::to_string(initial.size()),
                std::to_string(info.size()));
  std::array<std::vector<double>, weight_count> start;
  std::array<std::vector<double>, state_count> start_state;
  const StepInfo before_the_first{0, 1.0, seed};
  for (std::size_t i = 0; i < initial.size(); ++i) {
    const std::uint32_t random =
        random_bits_32(stream(before_the_first, 0, RandomPurpose::initialization), i);
    const auto parts = Rule::initialize(config, initial[i], constants_, random);
    const auto states = initial_state_of<Rule>(config, initial[i], constants_, random);
    for (std::size_t slot = 0; slot < weight_count; ++slot) start[slot].push_back(parts[slot]);
    for (std::size_t slot = 0; slot < state_count; ++slot) start_state[slot].push_back(states[slot]);
  }
  tile_length_ = 1;
  const auto add = [&](std::vector<Slot<R>>& slots, const SlotPlan& slot_plan) -> Slot<R>& {
    tile_length_ =
        std::lcm(tile_length_, block_period(slot_plan, info.row_length(), info.size() / info.row_length()));
    return slots.emplace_back(slot_plan, info.shape);
  };
  for (std::size_t slot = 0; slot < weight_count; ++slot) add(weights_, plan.weights).initialize(start[slot]);
  for (std::size_t slot = 0; slot < state_count; ++slot)
    add(states_, plan.state(Rule::state_slots[slot].moment)).initialize(start_state[slot]);
  if (const std::optional<SlotPlan> residual = plan.residual())
    for (std::size_t slot = 0; slot < weight_count; ++slot) {
      // It starts at w0 - rounded(w0), so that nothing is lost before the first step.
      std::vector<R> stored(size());
      weights_[slot].load(0, std::span(stored));
      std::vector<double> missing(size());
      for (std::size_t i = 0; i < size(); ++i) missing[i] = start[slot][i] - static_cast<double>(stored[i]);
      add(residuals_, *residual).initialize(missing);
    }
  if (plan.compensation == Compensation::collage_plus)
    for (std::size_t slot = 0; slot < state_count; ++slot)
      if (Rule::state_slots[slot].moment == Moment::second)
        add(low_parts_, plan.second_moment).initialize(std::vector<double>(size()));
  if constexpr (LowRankRule<Rule>)
    for (const StateSlot& slot : Rule::auxiliary_slots) {
      Slot<R>& auxiliary =
          auxiliary_.emplace_back(plan.state(slot.moment), Rule::auxiliary_shape(config, info));
      auxiliary.initialize(std::vector<double>(auxiliary.size()));
    }
  for (auto [slots, slot_plan] :
       {std::pair{&gradient_slots_, &plan.gradient}, std::pair{&accumulator_slots_, &plan.accumulator}})
    for (std::size_t slot = 0; slot < weight_count && slot_plan->format; ++slot)
      slots->emplace_back(*slot_plan, info.shape).initialize(std::vector<double>(size()));
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
std::vector<std::uint32_t> OptimizedTensor<Rule, R>::draws(const Slot<R>& slot, const RandomStream& from,
                                                           std::size_t begin, std::size_t count) const {
  const Rounding rounding = slot.plan().rounding;
  std::vector<std::uint32_t> random;
  if (!is_stochastic(rounding.mode) || slot.is_native()) return random;
  random.resize(count);
  lane_kernels().random(from, begin, rounding.random_bits, random.data(), count);
  return random;
}

template <class Rule, class R>
std::vector<std::uint32_t> OptimizedTensor<Rule, R>::scale_draws(const Slot<R>& slot, std::size_t number,
                                                                 const StepInfo& now, std::size_t begin,
                                                                 std::size_t count) const {
  std::vector<std::uint32_t> random;
  if (!slot.needs_scale_random()) return random;
  random.resize(count);
  lane_kernels().random(stream(now, number, RandomPurpose::scale_rounding), begin, scale_random_bits,
                        random.data(), count);
  return random;
}

template <class Rule, class R>
std::vector<R> OptimizedTensor<Rule, R>::noise_factors(const Config& config, const Scalars& c,
                                                       const StepInfo& now, int sample,
                                                       std::size_t slot) const {
  std::vector<R> factors(size(), R(1));
  if (sample < 0) return factors;
  const RandomStream of_elements = stream(now, slot, RandomPurpose::noise, sample);
  // The deviate that the tensor shares is that of the element after the last.
  const R shared = normal_deviate<R>(random_bits_32(of_elements, size()));
  std::array<std::uint32_t, 2048> bits;  // in the cache: whole groups of the random-bit map
  for (std::size_t begin = 0; begin < size(); begin += bits.size()) {
    const std::size_t count = std::min(bits.size(), size() - begin);
    lane_kernels().random(of_elements, begin, 32, bits.data(), count);
    if constexpr (std::is_same_v<Rule, Lmd> && std::is_same_v<R, float>) {
      rule_kernels().lmd_noise(config, constants_, now, bits.data(), shared, factors.data() + begin, count);
    } else {
      for (std::size_t i = 0; i < count; ++i)
        factors[begin + i] = Rule::noise(c, normal_deviate<R>(bits[i]), shared);
    }
  }
  return factors;
}

template <class Rule, class R>
typename OptimizedTensor<Rule, R>::View OptimizedTensor<Rule, R>::look(const Config& config,
                                                                       const StepInfo& now,
                                                                       int sample) const {
  const FpEnvironment environment;
  View view;
  view.weights.resize(size());
  const auto load = [&](std::size_t slot, std::vector<R>& numbers) {
    numbers.resize(size());
    weights_[slot].load(0, std::span(numbers));
  };
  if constexpr (weight_count == 1) {
    load(0, view.weights);
  } else {
    const Scalars c = Rule::template scalars<R>(config, constants_, now);
    for (std::size_t slot = 0; slot < weight_count; ++slot) {
      load(slot, view.slots[slot]);
      view.noise[slot] = noise_factors(config, c, now, sample, slot);
    }
    for (std::size_t i = 0; i < size(); ++i)
      view.weights[i] = Rule::view(c, element_at(view.slots, i), element_at(view.noise, i));
  }
  if constexpr (requires(R amax) { Rule::view_scale(config, amax); }) {
    view.scale = Rule::view_scale(config, amax(std::span<const R>(view.weights)));
    for (R& w : view.weights) w *= view.scale;
  }
  return view;
}

template <class Rule, class R>
void OptimizedTensor<Rule, R>::pull_back(const Config& config, const StepInfo& now, const View& view,
                                         std::span<const R> d, R share, int part, Gradients& gradients) {
  const FpEnvironment environment;
  require_size("derivative", d.size());
  for (auto& gradient : gradients) gradient.resize(size());
  const Scalars c = Rule::template scalars<R>(config, constants_, now);
  const bool rounds = !gradient_slots_.empty();  // before they are added
  Gradients pulled;
  for (auto& gradient : pulled) gradient.resize(rounds ? size() : 0);
  for (std::size_t i = 0; i < size(); ++i) {
    std::array<R, weight_count> w{}, e{};
    if constexpr (weight_count > 1) w = element_at(view.slots, i), e = element_at(view.noise, i);
    const std::array<R, weight_count> g = Rule::pull_back(c, w, e, d[i] * view.scale);
    for (std::size_t slot = 0; slot < weight_count; ++slot) {
      if (rounds)
        pulled[slot][i] = g[slot];
      else
        gradients[slot][i] += share * g[slot];
    }
  }
  const auto round = [&](std::vector<Slot<R>>& slots, std::size_t slot, RandomPurpose purpose,
                         std::vector<R>& numbers) {
    if (slots.empty()) return;
    slots[slot].replace(numbers, draws(slots[slot], stream(now, slot, purpose, part), 0, size()),
                        scale_draws(slots[slot], slot, now, 0, size()));
  };
  for (std::size_t slot = 0; slot < weight_count; ++slot) {
    round(gradient_slots_, slot, RandomPurpose::gradient_rounding, pulled[slot]);
    for (std::size_t i = 0; i < pulled[slot].size(); ++i) gradients[slot][i] += share * pulled[slot][i];
    round(accumulator_slots_, slot, RandomPurpose::accumulator_rounding, gradients[slot]);
  }
}

}  // namespace halfulp
