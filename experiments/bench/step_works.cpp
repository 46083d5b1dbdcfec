#include <fmt/format.h>

#include <memory>

#include "analysis/stagnation_share.h"
#include "analysis/step_counters.h"
#include "experiments/bench/access_patterns.h"
#include "experiments/bench/works.h"
#include "optimizers/tensor_optimizer.h"

namespace halfulp {
namespace {

enum class Probes : std::uint8_t { none, stagnation, all };

struct StepCase {
  const char* name;
  const char* what;
  AnyRule rule;
  const char* scheme;
  Rounding rounding;  ///< of the weights
  Probes probes;
  bool through_view;  ///< whether look() and pull_back() belong to it
  const char* access;
  const char* reference;  ///< that pattern, or another step
  std::optional<double> goal_ratio, goal_ns;
};

/// One tensor with gradients, at work.
struct Stepping {
  Stepping(const StepCase& what, std::span<const float> normal) : normal_gradient(normal) {
    Plan plan = parse_scheme(what.scheme);
    plan.base.weights.rounding = what.rounding;
    const std::size_t row = 4096;  // part_step: any number of elements is whole rows
    const TensorInfo info = TensorRegistry().add("w", {normal.size() / row, row});
    std::vector<double> initial(normal.begin(), normal.end());
    for (double& w : initial) w *= 0.02;  // as a trained layer's
    tensor = make_tensor_optimizer<float>(what.rule, info, plan.of(info), initial, 1);
    gradients.assign(tensor->weight_count(), std::vector<float>(normal.begin(), normal.end()));
  }

  void step(ThreadPool& pool, bool through_view, Probes probes) {
    const StepInfo now(++steps, 1.0, 1);
    if (through_view) {
      const auto view = tensor->look(now, tensor->samples() == 0 ? -1 : 0);
      for (std::vector<float>& gradient : gradients) gradient.clear();
      tensor->pull_back(now, *view, normal_gradient, 1.0f, 0, gradients);
    }
    switch (probes) {
      case Probes::none:
        return tensor->step(now, gradients, &pool, nullptr);
      case Probes::stagnation: {
        StagnationShare counts;
        ProbeOf<StagnationShare, float> probe(counts);
        return tensor->step(now, gradients, &pool, &probe);
      }
      case Probes::all: {
        CounterProbe counts;
        ProbeOf<CounterProbe, float> probe(counts);
        tensor->step(now, gradients, &pool, &probe);
        return counts.after_step();
      }
    }
  }

  std::span<const float> normal_gradient;
  std::unique_ptr<TensorOptimizer<float>> tensor;
  TensorOptimizer<float>::Gradients gradients;
  std::uint64_t steps = 0;
};

PreparedWork prepare_step(const StepCase& what, const Bench& bench) {
  const auto stepping = std::make_shared<Stepping>(what, bench.normal);
  return {[stepping, &pool = bench.pool, through_view = what.through_view, probes = what.probes] {
    stepping->step(pool, through_view, probes);
  }};
}

std::vector<StepCase> step_cases() {
  const AnyRule adamw = RuleChoice<AdamW>{}, madam = RuleChoice<Madam>{}, m_adam = RuleChoice<MAdam>{};
  Lmd::Config still;
  still.sigma = 0;
  const AnyRule lmd = RuleChoice<Lmd>{}, lmd_still = RuleChoice<Lmd>{still};
  const Rounding near = nearest_even, random = stochastic;
  const auto none = Probes::none, stagnation = Probes::stagnation, all = Probes::all;
  constexpr std::optional<double> no_goal;
  const char *plain = "nearest even", *drawn = "stochastic",
             *counted = "nearest even, all counters, beside none",
             *stayed = "nearest even, stagnation counted, beside nothing counted";
  // Goals: design of the library, speed to reach. That of fp8 weights is in ns, for the AVX-512 machine that the
  // references were measured on.
  return {
      {"adamw bf16/fp32", plain, adamw, "bf16/fp32", near, none, false, access_22, access_22, 1.06, no_goal},
      {"adamw bf16/fp32 stochastic + stagnation", "stochastic, stagnation counted", adamw, "bf16/fp32",
       random, stagnation, false, access_22, access_22, 1.09, no_goal},
      {"adamw bf16/fp32 + stagnation", stayed, adamw, "bf16/fp32", near, stagnation, false, access_22,
       "adamw bf16/fp32", 1.03, no_goal},
      {"adamw bf16/fp32 + counters", counted, adamw, "bf16/fp32", near, all, false, access_22,
       "adamw bf16/fp32", 1.08, no_goal},
      {"adamw bf16/bf16", plain, adamw, "bf16/bf16", near, none, false, access_14, access_14, 1.15, no_goal},
      {"adamw bf16/bf16 stochastic", drawn, adamw, "bf16/bf16", random, none, false, access_14, access_14,
       1.35, no_goal},
      {"adamw bf16/bf16 + counters", counted, adamw, "bf16/bf16", near, all, false, access_14,
       "adamw bf16/bf16", 1.08, no_goal},
      {"adamw fp8/bf16", plain, adamw, "fp8/bf16", near, none, false, access_12, access_12, no_goal, 0.70},
      {"adamw fp8/bf16 stochastic", drawn, adamw, "fp8/bf16", random, none, false, access_12, access_12,
       no_goal, no_goal},
      {"adamw fp8/bf16 + counters", counted, adamw, "fp8/bf16", near, all, false, access_12, "adamw fp8/bf16",
       1.08, no_goal},
      {"madam bf16/bf16", plain, madam, "bf16/bf16", near, none, false, access_10, access_10, no_goal,
       no_goal},
      {"madam bf16/bf16 + counters", counted, madam, "bf16/bf16", near, all, false, access_10,
       "madam bf16/bf16", 1.08, no_goal},
      {"m_adam bf16/bf16", plain, m_adam, "bf16/bf16", near, none, false, access_18, access_18, no_goal,
       no_goal},
      {"m_adam bf16/bf16 + counters", counted, m_adam, "bf16/bf16", near, all, false, access_18,
       "m_adam bf16/bf16", 1.08, no_goal},
      {"lmd bf16/bf16 without noise", "stochastic, sigma = 0; the step alone", lmd_still, "bf16/bf16", random,
       none, false, access_20, access_20, no_goal, no_goal},
      {"lmd bf16/bf16 sampled", "stochastic; view under noise, its pull-back, and the step", lmd, "bf16/bf16",
       random, none, true, access_20, access_20, no_goal, no_goal},
      {"lmd bf16/bf16 + counters", "stochastic, sigma = 0, all counters, beside none", lmd_still, "bf16/bf16",
       random, all, false, access_20, "lmd bf16/bf16 without noise", 1.08, no_goal},
  };
}

/// More than any cache holds: four million elements are 16 MiB of each fp32 state.
constexpr std::size_t usual_step_elements = std::size_t{1} << 22;

}  // namespace

std::vector<Work> step_works() {
  std::vector<Work> works;
  for (const StepCase& one : step_cases()) {
    const AccessPattern& pattern = access_pattern(one.access);
    works.push_back({.name = one.name,
                     .what = fmt::format("{}; bytes are those of {}, while gradients come as f32", one.what,
                                         pattern.arrays),
                     .bytes_read = pattern.bytes_read(),
                     .bytes_written = pattern.bytes_written(),
                     .reference = one.reference,
                     .goal_ratio = one.goal_ratio,
                     .goal_ns = one.goal_ns,
                     .usual_elements = usual_step_elements,
                     .prepare = [one](const Bench& bench) { return prepare_step(one, bench); }});
  }
  return works;
}

}  // namespace halfulp
