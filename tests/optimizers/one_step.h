#pragma once
#include "optimizers/rule.h"

namespace halfulp::test {

/// A rule on one weight in double, without storage, in a tensor of initial rms `rms`.
template <class Rule>
struct OneStep {
  typename Rule::Config config;
  double rms = 0.5;
  std::array<double, Rule::state_slots.size()> state{};
  std::uint64_t t = 0;

  /// The increment of each weight slot, without decoupled decay.
  std::array<double, Rule::weight_slots.size()> operator()(
      const std::array<double, Rule::weight_slots.size()>& w,
      const std::array<double, Rule::weight_slots.size()>& g, double schedule = 1) {
    return update_of<Rule>(Rule::template scalars<double>(config, {rms}, StepInfo{++t, schedule, 0}), w, g,
                           state);
  }
  double operator()(double w, double g, double schedule = 1) {
    return (*this)(std::array{w}, std::array{g}, schedule)[0];
  }
};

}  // namespace halfulp::test
