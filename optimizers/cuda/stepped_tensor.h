#pragma once
#include "optimizers/cuda/slot_storage.h"
#include "optimizers/cuda/step_kernel.h"

namespace halfulp::cuda {

/// One tensor under one rule whose slots live on a machine: OptimizedTensor<Rule, float> there, byte for byte.
/// Served: every rule without low-rank states; slots in fp32, in scalar formats, in blocks of one row and under one scale
/// for the tensor; scale policies recompute, lazy and keep; any rounding and overflow policy. Refused by name: compensation,
/// states used rounded, decay with a rounding of its own, other policies and block shapes.
template <class Rule, class Machine>
class SteppedTensor {
  static_assert(
      !requires { Rule::auxiliary_slots; }, "low-rank states are not served");

 public:
  using Config = typename Rule::Config;
  using Arguments = StepArguments<Rule>;
  static constexpr std::size_t weight_count = Arguments::weight_count, state_count = Arguments::state_count,
                               slot_count = Arguments::slot_count;

  /// Starts as OptimizedTensor does.
  /// errors: throws Error for plans that are not served, and where OptimizedTensor or the machine does.
  SteppedTensor(Machine& machine, const TensorInfo& info, const TensorPlan& plan,
                std::span<const double> initial, const Config& config = {}, std::uint64_t seed = 0)
      : machine_(machine),
        info_(info),
        partial_(blocks_for(info.size(), tile_elements) * StepKernel<Rule>::count_columns *
                 sizeof(std::uint32_t)),
        sums_(StepKernel<Rule>::count_columns * sizeof(std::uint64_t)),
        largest_(blocks_for(info.size(), tile_elements) * slot_count * sizeof(float)) {
    const auto refuse = [](const char* what, std::string_view given, const char* allowed) {
      throw Error("step on the device", what, std::string(given), allowed);
    };
    if (plan.compensation != Compensation::none)
      refuse("a compensation", compensation_names[static_cast<std::size_t>(plan.compensation)], "none");
    if (plan.states_used != StatesUsed::unrounded) refuse("states used", "rounded", "unrounded");
    if (plan.decay != DecayPlacement::fused) refuse("a decay", "own_rounding", "fused");
    if (initial.size() != info.size())
      refuse("wrong number of initial weights", std::to_string(initial.size()), "the size of the tensor");
    constants_.initial_rms = rms(initial);
    std::array<std::vector<double>, slot_count> start;
    const StepInfo before_the_first{0, 1.0, seed};
    RandomStream drawn = stream(before_the_first, 0);
    drawn.purpose = RandomPurpose::initialization;
    for (std::size_t i = 0; i < initial.size(); ++i) {
      const std::uint32_t random = random_bits_32(drawn, i);
      const auto parts = Rule::initialize(config, initial[i], constants_, random);
      const auto states = initial_state_of<Rule>(config, initial[i], constants_, random);
      for (std::size_t slot = 0; slot < slot_count; ++slot)
        start[slot].push_back(slot < weight_count ? parts[slot] : states[slot - weight_count]);
    }
    for (std::size_t slot = 0; slot < slot_count; ++slot)
      slots_.emplace_back(
          machine,
          slot < weight_count ? plan.weights : plan.state(Rule::state_slots[slot - weight_count].moment),
          info.row_length(), start[slot]);
  }

  std::size_t size() const { return info_.size(); }

  /// One update of everything stored, given to the machine. gradients: [size()] for each weight slot, on the machine;
  /// they have to stay until counts() or wait().
  void step(const Config& config, const StepInfo& now,
            const std::array<const float*, weight_count>& gradients) {
    choose_tensor_wide_scales(config, now, gradients);
    const StepKernel<Rule> kernel{arguments(config, now, gradients), partial_.template as<std::uint32_t>()};
    machine_.run(kernel);
    machine_.run(CountSumKernel{
        {}, kernel.partial, sums_.template as<std::uint64_t>(), kernel.blocks(), kernel.count_columns});
    for (auto& slot : slots_) slot.commit(machine_);
  }

  /// What the last step counted of each weight slot; waits for it.
  std::array<StepCounts, weight_count> counts() {
    std::array<std::uint64_t, StepKernel<Rule>::count_columns> counted{};
    machine_.download(counted.data(), sums_, sizeof counted);
    machine_.wait();
    std::array<StepCounts, weight_count> counts;
    for (std::size_t slot = 0; slot < weight_count; ++slot) {
      const std::uint64_t* of = counted.data() + slot * step_count_kinds;
      counts[slot] = {size(), of[0], of[1], of[2], of[3]};
    }
    return counts;
  }

  /// Stored bytes of a slot (weights, then states), as Slot::visit_bytes.
  std::vector<std::uint8_t> bytes(std::size_t slot) const { return slots_[slot].bytes(machine_); }

 private:
  RandomStream stream(const StepInfo& now, std::size_t slot) const noexcept {
    return {now.seed,
            static_cast<std::uint32_t>(now.step),
            info_.id,
            static_cast<std::uint8_t>(slot),
            RandomPurpose::rounding,
            0};
  }
  Arguments arguments(const Config& config, const StepInfo& now,
                      const std::array<const float*, weight_count>& gradients) const {
    return [&]<std::size_t... slot>(std::index_sequence<slot...>) {
      Arguments step{size(),
                     Rule::template scalars<float>(config, constants_, now),
                     static_cast<float>(Rule::decay(config, now)),
                     {},
                     {slots_[slot].arguments(stream(now, slot))...}};
      for (std::size_t k = 0; k < weight_count; ++k) step.gradients[k] = gradients[k];
      return step;
    }
    (std::make_index_sequence<slot_count>{});
  }
  void choose_tensor_wide_scales(const Config& config, const StepInfo& now,
                                 const std::array<const float*, weight_count>& gradients) {
    bool any = false;
    for (const auto& slot : slots_) any = any || slot.needs_amax();
    if (!any) return;
    const StepAmaxKernel<Rule> kernel{{}, arguments(config, now, gradients), largest_.template as<float>()};
    const std::size_t blocks = kernel.blocks();
    machine_.run(kernel);
    std::vector<float> largest(slot_count * blocks);
    machine_.download(largest.data(), largest_, largest_.bytes());
    machine_.wait();
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
      if (!slots_[slot].needs_amax()) continue;
      const ElementDraws draws = draws_of(stream(now, slot), 0);
      slots_[slot].choose(amax(std::span<const float>(largest).subspan(slot * blocks, blocks)),
                          slots_[slot].draws_scale() ? draws.of_scale(0) : 0);
    }
  }

  Machine& machine_;
  TensorInfo info_;
  TensorConstants constants_{0};
  std::vector<SlotStorage<Machine>> slots_;
  typename Machine::Buffer partial_, sums_;  // counts of blocks, and of all
  typename Machine::Buffer largest_;         // amax of each slot in each block
};

}  // namespace halfulp::cuda
