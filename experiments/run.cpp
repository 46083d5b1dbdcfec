#include "experiments/run.h"

#include <algorithm>

#include "analysis/sign_flips.h"
#include "emulation/fp_environment.h"
#include "experiments/measurements.h"
#include "experiments/version.h"
#include "formats/error.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t other_data_order = 1'000'003;  // added to the data seed of the second twin

std::string hex16(std::uint64_t value) {
  std::string digits(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4)
    digits[static_cast<std::size_t>(i)] = "0123456789abcdef"[value & 15];
  return digits;
}

template <class R>
Json evaluate(const NamedTask<R>& named, std::uint64_t steps, const TensorList<R>& weights) {
  Json results;
  for (const std::string& split : named.splits) {
    const Evaluation evaluation = named.task->evaluate(split, steps, weights);
    results[split] = {{"loss", evaluation.loss}};
    if (evaluation.accuracy) results[split]["accuracy"] = *evaluation.accuracy;
  }
  return results;
}

/// Signs of the final weights against the known optimum, or against the twins.
template <class R>
Json compare_signs(const RunConfig& config, Task<R>& task, std::uint64_t batches, const std::vector<double>& start,
                   const std::vector<double>& now, SharedWork& shared) {
  if (const auto optimum = task.optimum(batches))
    return {{"failure", sign_flip_failure(start, now, flatten(*optimum))}};
  if (!config.sign_twin_eta) return nullptr;
  const std::vector<double> twin = shared.twin_weights(config, false),
                            other = shared.twin_weights(config, true);
  const double own = sign_disagreement(now, twin), between_twins = sign_disagreement(other, twin);
  return {{"disagreement", own}, {"disagreement_of_twins", between_twins}, {"excess", own - between_twins}};
}

template <class R>
Json run_as(const RunConfig& config, SharedWork& shared, ThreadPool* pool, const StepProgress& progress) {
  const std::uint64_t batches = config.steps * config.micro_batches;
  const NamedTask<R> named = make_task<R>(config.problem, batches, config.seed, 0, shared.data(), pool);
  CountedTraining<R> counted(*named.task, config, pool);
  const std::optional<std::uint64_t> diverged_at = counted.train(progress);
  Json record{{"status", diverged_at ? "diverged" : "finished"}};
  if (diverged_at) record["diverged_at"] = *diverged_at;
  const TensorList<R> weights = counted.training().weights();
  const std::vector<double> flat = flatten(weights);
  if (!diverged_at) {
    record["result"] = evaluate(named, batches, weights);
    const Json signs = compare_signs(config, *named.task, batches, counted.start(), flat, shared);
    if (!signs.is_null()) record["signs"] = signs;
  }
  if (!config.extra.results_only) {
    record["measurements"] = counted.measurements();
    record["trace"] = counted.trace();
  }
  if (flat.size() <= followed_weights) record["final_weights"] = flat;
  record["hash"] = hex16(counted.training().hash());
  return record;
}

std::vector<double> train_twin(const RunConfig& config, bool other_order, DataSets& data) {
  RuleChoice<AdamW> adamw;
  adamw.config.eta = *config.sign_twin_eta;
  const NamedTask<float> named =
      make_task<float>(config.problem, config.steps * config.micro_batches, config.seed,
                       other_order ? other_data_order : 0, data, nullptr);
  TrainingSetup setup;
  setup.rule = adamw;
  setup.plan = parse_scheme("fp32");
  setup.seed = config.seed;
  setup.micro_batches = config.micro_batches;
  Training<float> training(*named.task, setup, nullptr);
  for (std::uint64_t t = 1; t <= config.steps; ++t)
    training.step(t, schedule_factor(config.schedule, t, config.steps));
  return flatten(training.weights());
}

}  // namespace

void SharedWork::prepare(const RunConfig& config) {
  if (!config.problem.data_set.empty()) data_.fashion_mnist(config.problem.data_set);
  if (config.plan.overrides.empty() && config.rule_overrides.empty()) return;
  const NamedTask<double> named =
      make_task<double>(config.problem, config.steps * config.micro_batches, config.seed, 0, data_, nullptr);
  const auto& tensors = named.task->tensors().tensors();
  std::string names;
  for (const TensorInfo& tensor : tensors) names += (names.empty() ? "" : ", ") + tensor.name;
  const auto require_match = [&](const char* where, const std::string& pattern) {
    if (std::none_of(tensors.begin(), tensors.end(),
                     [&](const TensorInfo& tensor) { return matches_pattern(pattern, tensor.name); }))
      throw Error(where, "a pattern matches no tensor", pattern, names);
  };
  for (const PlanOverride& override_ : config.plan.overrides) require_match("plan.overrides", override_.match);
  for (const RuleOverride& override_ : config.rule_overrides) require_match("rule_overrides", override_.match);
}

std::vector<double> SharedWork::twin_weights(const RunConfig& config, bool other_order) {
  RunConfig twin = config;
  twin.plan = parse_scheme("fp32");
  twin.rule = RuleChoice<AdamW>{};
  twin.rule_overrides.clear();
  twin.multiplicative_schedule.reset();
  twin.clipping = {};
  twin.rate_reference = 0;
  twin.extra = {};
  const std::string key = record_key(twin) + (other_order ? "+" : "");
  std::promise<std::vector<double>> promise;
  std::shared_future<std::vector<double>> future;
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    auto& known = twins_[key];
    is_first = !known.valid();
    if (is_first) known = promise.get_future().share();
    future = known;
  }
  if (is_first) {
    try {
      promise.set_value(train_twin(config, other_order, data_));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }
  return future.get();
}

std::string record_key(const RunConfig& config) {
  const std::string text = std::to_string(bits_version) + " " + to_json(config).dump();
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3u;
  return hex16(hash);
}

Json run(const RunConfig& config, SharedWork& shared, ThreadPool* pool, const StepProgress& progress) {
  const FpEnvironment environment;
  Json record{{"key", record_key(config)},
              {"bits_version", bits_version},
              {"version", version},
              {"commit", commit},
              {"label", rule_label(config.rule, config.plan)},
              {"config", to_json(config)}};
  record.update(config.number == NumberType::float64 ? run_as<double>(config, shared, pool, progress)
                                                     : run_as<float>(config, shared, pool, progress));
  return record;
}

}  // namespace halfulp
