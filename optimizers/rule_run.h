#pragma once
#include "optimizers/rule.h"

namespace halfulp {

/// A rule with states that stand for a whole tensor in fewer numbers. Besides what every rule has:
///   auxiliary_slots                      name and moment of each such state
///   auxiliary_shape(Config, TensorInfo)  shape of each
///   guide(Config, Scalars, TensorInfo, StepInfo, weights, gradients, auxiliary, memory)   phase 1: advances the
///                                        auxiliary states and one double of memory, and returns one number for each
///                                        element, which increment() takes as its last argument
template <class Rule>
concept LowRankRule = requires {
  Rule::auxiliary_slots;
};

/// Consecutive elements of one tensor on their way through a rule, before anything is rounded.
template <class Rule, class R>
struct RuleRun {
  static constexpr std::size_t weight_count = Rule::weight_slots.size(),
                               state_count = Rule::state_slots.size();
  template <class T, std::size_t count>
  using Pointers = std::array<T*, count>;

  std::size_t n;
  R decay;  ///< the rate of decoupled weight decay; 0: none, and what is only of it is not written
  Pointers<const R, weight_count> w, g;
  Pointers<const R, state_count> old;
  Pointers<R, state_count> state;  ///< after the step: written, or given where the plan rounds states first
  Pointers<R, weight_count> increment;       ///< the rule's; only with decay, otherwise it is the update
  Pointers<R, weight_count> update, wanted;  ///< the increment less decay, and the weight moved by it
  Pointers<R, weight_count> decayed;         ///< minus decay times weight; only with decay
  const R* guide;                            ///< of a low-rank rule
};

/// Element i of every array of a run, for number types that bring load(const R*).
template <class Number, class R, std::size_t count, class Load>
HALFULP_LANES inline std::array<Number, count> numbers_at(const std::array<const R*, count>& arrays,
                                                          std::size_t i, Load load) {
  std::array<Number, count> numbers;
  for (std::size_t k = 0; k < count; ++k) numbers[k] = load(arrays[k] + i);
  return numbers;
}

/// The rule at element i, or at the vector of elements that starts there: the one text of a step's arithmetic, on numbers
/// and on lanes. Number is R, or a vector of it with load(pointer) and store(number, pointer). advances: whether the
/// states are still to be advanced.
template <class Rule, bool advances, class Number, class R, class Load, class Store>
HALFULP_LANES inline void run_rule_at(const typename Rule::template Scalars<Number>& scalars,
                                      const RuleRun<Rule, R>& run, std::size_t i, Load load, Store store) {
  using Run = RuleRun<Rule, R>;
  const auto w = numbers_at<Number>(run.w, i, load), g = numbers_at<Number>(run.g, i, load);
  const auto old = numbers_at<Number>(run.old, i, load);
  std::array<Number, Run::state_count> state;
  if constexpr (advances) {
    state = Rule::advance(scalars, w, g, old);
    for (std::size_t k = 0; k < Run::state_count; ++k) {
      state[k] = canonical(state[k]);
      store(state[k], run.state[k] + i);
    }
  } else {
    for (std::size_t k = 0; k < Run::state_count; ++k) state[k] = load(run.state[k] + i);
  }
  std::array<Number, Run::weight_count> u;
  if constexpr (LowRankRule<Rule>)
    u = Rule::increment(scalars, w, g, old, state, load(run.guide + i));
  else
    u = Rule::increment(scalars, w, g, old, state);
  for (std::size_t k = 0; k < Run::weight_count; ++k) {
    Number update = u[k];
    if (run.decay != R(0)) {
      const Number lost = Number(run.decay) * w[k];
      store(-lost, run.decayed[k] + i);
      store(u[k], run.increment[k] + i);
      update = u[k] - lost;
    }
    store(update, run.update[k] + i);
    store(moved_by(w[k], update), run.wanted[k] + i);
  }
}

}  // namespace halfulp
