#pragma once
#include "optimizers/cuda/stored_slot.h"
#include "optimizers/rule_run.h"

namespace halfulp::cuda {

/// Everything that a step of one tensor needs besides its index: what kernels get as arguments.
template <class Rule>
struct StepArguments {
  static constexpr std::size_t weight_count = Rule::weight_slots.size(),
                               state_count = Rule::state_slots.size(),
                               slot_count = weight_count + state_count;

  std::size_t count;  ///< elements
  typename Rule::template Scalars<float> scalars;
  float decay;                           ///< rate of decoupled weight decay in this step; 0: none
  const float* gradients[weight_count];  ///< [count] each
  StoredSlot slots[slot_count];          ///< weights, then states
};

/// What a step wants of one element.
template <class Rule>
struct ElementUpdate {
  float wanted[StepArguments<Rule>::slot_count];  ///< weights, then states
  bool moves[StepArguments<Rule>::weight_count];  ///< the update is not zero
};

/// Element i of a step: states advanced, increment from the unrounded ones, weight decay fused with it.
template <class Rule>
HALFULP_HD ElementUpdate<Rule> element_update(const StepArguments<Rule>& step, std::size_t i) noexcept {
  constexpr std::size_t weights = StepArguments<Rule>::weight_count,
                        states = StepArguments<Rule>::state_count;
  ElementUpdate<Rule> out;
  // A run of one element, all of it the thread's own.
  float w[weights], g[weights], old[states], increment[weights], update[weights], decayed[weights];
  RuleRun<Rule, float> run{};
  run.n = 1;
  run.decay = step.decay;
  for (std::size_t k = 0; k < weights; ++k) {
    w[k] = step.slots[k].load(i);
    g[k] = step.gradients[k][i];
    run.w[k] = w + k;
    run.g[k] = g + k;
    run.increment[k] = increment + k;
    run.update[k] = update + k;
    run.decayed[k] = decayed + k;
    run.wanted[k] = out.wanted + k;
  }
  for (std::size_t k = 0; k < states; ++k) {
    old[k] = step.slots[weights + k].load(i);
    run.old[k] = old + k;
    run.state[k] = out.wanted + weights + k;
  }
  run_rule_at<Rule, true, float>(
      step.scalars, run, 0, [](const float* from) { return *from; }, [](float x, float* to) { *to = x; });
  for (std::size_t k = 0; k < weights; ++k) out.moves[k] = update[k] != 0;
  return out;
}

}  // namespace halfulp::cuda
