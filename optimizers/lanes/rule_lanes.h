#pragma once
#include <span>
#include <type_traits>

#include "optimizers/adam.h"
#include "optimizers/adamw.h"
#include "optimizers/lmd.h"
#include "optimizers/m_adam.h"
#include "optimizers/madam.h"
#include "optimizers/rule_run.h"
#include "optimizers/sgd.h"

namespace halfulp {

/// A run of a rule in float lanes: the bits of run_rule_at<Rule, float>.
template <class Rule>
using RuleOnLanes = void (*)(const typename Rule::Config&, const TensorConstants&, const StepInfo&,
                             const RuleRun<Rule, float>&) noexcept;

/// Noise factors of n elements from 32 random bits each, under a normal deviate that the tensor shares.
template <class Rule>
using NoiseOnLanes = void (*)(const typename Rule::Config&, const TensorConstants&, const StepInfo&,
                              const std::uint32_t* bits, float shared, float* factors,
                              std::size_t n) noexcept;

/// The rules that lanes run, for one instruction set.
struct RuleKernels {
  RuleOnLanes<Sgd> sgd;
  RuleOnLanes<Adam> adam;
  RuleOnLanes<AdamW> adamw;
  RuleOnLanes<Madam> madam;
  RuleOnLanes<MAdam> m_adam;
  RuleOnLanes<Lmd> lmd;
  NoiseOnLanes<Lmd> lmd_noise;
};

/// In the order of compiled_lane_kernels(), and of supported_lane_kernels().
std::span<const RuleKernels* const> compiled_rule_kernels() noexcept;
const RuleKernels& rule_kernels() noexcept;

/// The lanes of a rule; null for one that has none.
template <class Rule>
RuleOnLanes<Rule> lanes_of_rule(const RuleKernels& kernels) noexcept {
  if constexpr (std::is_same_v<Rule, Sgd>) return kernels.sgd;
  if constexpr (std::is_same_v<Rule, Adam>) return kernels.adam;
  if constexpr (std::is_same_v<Rule, AdamW>) return kernels.adamw;
  if constexpr (std::is_same_v<Rule, Madam>) return kernels.madam;
  if constexpr (std::is_same_v<Rule, MAdam>) return kernels.m_adam;
  if constexpr (std::is_same_v<Rule, Lmd>) return kernels.lmd;
  return nullptr;
}

}  // namespace halfulp
