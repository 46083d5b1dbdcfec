#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "experiments/schedule.h"
#include "experiments/tasks.h"
#include "experiments/training.h"

namespace halfulp {

/// The number type that rule, forward and backward compute in.
enum class NumberType : std::uint8_t { float32, float64 };

/// What is measured beyond the counters of every step, each at a cost in memory or time of its own; or less.
struct ExtraMeasurements {
  bool results_only = false;          ///< neither counters nor a trace: for sweeps that look for rates
  bool twin = false;                  ///< distance to a double twin on the same gradients, states against its states
  bool dwell = false;                 ///< how long elements stay trapped near zero
  std::uint64_t harmful_window = 0;   ///< steps over which harmful stagnation is judged; 0: not at all
  bool descent = false;               ///< the descent condition, on problems with a known smoothness

  friend bool operator==(const ExtraMeasurements&, const ExtraMeasurements&) = default;
};

/// Everything that decides the bits of one run. Threads and output paths do not.
struct RunConfig {
  ProblemConfig problem;
  AnyRule rule;
  std::vector<RuleOverride> rule_overrides;
  Plan plan;
  std::uint64_t steps;
  std::uint64_t micro_batches;
  ScheduleConfig schedule;
  std::optional<ScheduleConfig> multiplicative_schedule;  ///< of a multiplicative branch, where it has its own
  GradientClipping clipping;
  double rate_reference;  ///< rms of a gradient above which its learning rate shrinks; 0: never
  NumberType number;
  std::uint64_t seed;
  std::uint64_t measure_every;  ///< steps from one counted step to the next
  std::uint64_t trace_every;    ///< steps from one row of the trace to the next
  ExtraMeasurements extra;
  /// Learning rate of the fp32 AdamW twins whose final signs a model is compared with; absent: no twins.
  std::optional<double> sign_twin_eta;

  /// Of rounding and sampling, with or without a double twin.
  TrainingSetup training(bool with_twin) const {
    return {rule, rule_overrides, plan, seed, micro_batches, clipping, rate_reference, with_twin};
  }
};

/// errors: throws Error naming file, key, what was given and what is allowed.
RunConfig parse_run_config(const YAML::Node& root, const std::string& file);

/// All of it, defaults included, in a fixed order: what a record stores and what its key is made of.
nlohmann::ordered_json to_json(const RunConfig& config);

}  // namespace halfulp
