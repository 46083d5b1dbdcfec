#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "experiments/tasks.h"
#include "experiments/yaml_map.h"
#include "optimizers/any_rule.h"
#include "optimizers/plan.h"

namespace halfulp {

/// Multiplier of the learning rates at step t in 1..T.
enum class Schedule : std::uint8_t {
  constant,
  cosine,  ///< (1 + cos(pi (t - 1) / T)) / 2: 1 at the first step, nearly 0 at the last
};

/// The number type that rule, forward and backward compute in.
enum class NumberType : std::uint8_t { float32, float64 };

/// Everything that decides the bits of one run. Threads and output paths do not.
struct RunConfig {
  ProblemConfig problem;
  AnyRule rule;
  Plan plan;
  std::uint64_t steps;
  Schedule schedule;
  NumberType number;
  std::uint64_t seed;
  std::uint64_t measure_every;  ///< steps from one counted step to the next
  std::uint64_t trace_every;    ///< steps from one row of the trace to the next
  /// Learning rate of the fp32 AdamW twins whose final signs a model is compared with; absent: no twins.
  std::optional<double> sign_twin_eta;
};

/// errors: throws Error naming file, key, what was given and what is allowed.
RunConfig parse_run_config(const YAML::Node& root, const std::string& file);

/// All of it, defaults included, in a fixed order: what a record stores and what its key is made of.
nlohmann::ordered_json to_json(const RunConfig& config);

/// {name, setting: value, ...}
nlohmann::ordered_json to_json(const AnyRule& rule);

/// The row of a table: the rule, "+sr" where its weights round stochastically though that is not the rule's
/// default,
/// "+nearest" where they round to nearest though that is not.
std::string rule_label(const AnyRule& rule, const Plan& plan);

/// The schedule's multiplier, in double.
double schedule_factor(Schedule schedule, std::uint64_t step, std::uint64_t steps);

}  // namespace halfulp
