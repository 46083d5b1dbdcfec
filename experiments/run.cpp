#include "experiments/run.h"

#include <algorithm>

#include "analysis/sign_flips.h"
#include "emulation/fp_environment.h"
#include "experiments/measurements.h"
#include "experiments/training.h"
#include "experiments/version.h"
#include "formats/error.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t other_data_order = 1'000'003;  // added to the data seed of the second twin

/// A trace has a column of weights only where a person could follow them.
constexpr std::size_t followed_weights = 4;

std::string hex16(std::uint64_t value) {
  std::string digits(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4)
    digits[static_cast<std::size_t>(i)] = "0123456789abcdef"[value & 15];
  return digits;
}

bool all_finite(const auto& weights) {
  for (const auto& tensor : weights)
    if (!std::isfinite(amax(std::span(std::as_const(tensor))))) return false;
  return true;
}

/// What is written down on the way.
struct Trace {
  std::vector<std::uint64_t> step;
  std::vector<double> loss, stagnation, delivered, zero_share, rms_weight;
  std::vector<std::vector<double>> weights;

  Json to_json() const {
    Json json{{"step", step},
              {"loss", loss},
              {"stagnation", stagnation},
              {"delivered", delivered},
              {"zero_share", zero_share},
              {"rms", rms_weight}};
    if (!weights.empty()) json["weights"] = weights;
    return json;
  }
};

/// The steps of one run, with counters over all measured steps and over those of the last tenth.
template <class Rule, class R>
class CountedTraining {
 public:
  CountedTraining(Task<R>& task, const typename Rule::Config& rule, const RunConfig& config, ThreadPool* pool)
      : config_(config),
        training_(task, rule, config.plan, config.seed, pool),
        start_(flatten(training_.weights())) {}

  /// The first step whose loss or weights are not finite; nullopt if none was.
  std::optional<std::uint64_t> train(const StepProgress& progress) {
    follow(0, NAN);
    for (std::uint64_t t = 1; t <= config_.steps; ++t) {
      const double factor = schedule_factor(config_.schedule, t, config_.steps);
      CounterProbe counted;
      NoProbe none;
      const bool measure = (t - 1) % config_.measure_every == 0;
      const double loss = measure ? training_.step(t, factor, counted) : training_.step(t, factor, none);
      if (measure) all_.join(counted), since_row_.join(counted), ++rows_measured_;
      if (measure && t > config_.steps - (config_.steps + 9) / 10) last_.join(counted), ++last_measured_;
      changed_steps_ += measure && counted.stored.stagnation.updated > counted.stored.stagnation.stayed;
      if (!std::isfinite(loss) || !all_finite(training_.weights())) return t;
      if (t % config_.trace_every == 0 || t == config_.steps) follow(t, loss);
      if (progress && t % 16 == 0) progress(t);
    }
    return std::nullopt;
  }

  Json measurements() const {
    return {{"all", halfulp::to_json(all_)},
            {"last_tenth", last_measured_ == 0 ? Json() : halfulp::to_json(last_)},
            {"changed_steps", changed_steps_}};
  }
  Json trace() const { return trace_.to_json(); }
  Training<Rule, R>& training() { return training_; }
  const std::vector<double>& start() const { return start_; }

 private:
  void follow(std::uint64_t t, double loss) {
    const std::vector<double> weights = flatten(training_.weights());
    if (weights.size() <= followed_weights) trace_.weights.push_back(weights);
    if (t > 0) {
      trace_.step.push_back(t);
      trace_.loss.push_back(loss);
      // A row without a measured step since the last one knows the loss alone: null in the record.
      const StepCounters& c = since_row_.stored;
      const bool known = rows_measured_ > 0;
      trace_.stagnation.push_back(known ? c.stagnation.share() : NAN);
      trace_.delivered.push_back(known ? c.delivery.ratio() : NAN);
      trace_.zero_share.push_back(known && c.trapping.elements > 0
                                      ? static_cast<double>(c.trapping.zero_after) /
                                            static_cast<double>(c.trapping.elements)
                                      : NAN);
      trace_.rms_weight.push_back(rms(std::span<const double>(weights)));
    }
    since_row_ = {};
    rows_measured_ = 0;
  }

  const RunConfig& config_;
  Training<Rule, R> training_;
  std::vector<double> start_;
  CounterProbe all_, last_, since_row_;
  std::uint64_t changed_steps_ = 0, rows_measured_ = 0, last_measured_ = 0;
  Trace trace_;
};

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
Json compare_signs(const RunConfig& config, Task<R>& task, const std::vector<double>& start,
                   const std::vector<double>& now, SharedWork& shared) {
  if (const auto optimum = task.optimum(config.steps))
    return {{"failure", sign_flip_failure(start, now, flatten(*optimum))}};
  if (!config.sign_twin_eta) return nullptr;
  const std::vector<double> twin = shared.twin_weights(config, false),
                            other = shared.twin_weights(config, true);
  const double own = sign_disagreement(now, twin), between_twins = sign_disagreement(other, twin);
  return {{"disagreement", own}, {"disagreement_of_twins", between_twins}, {"excess", own - between_twins}};
}

template <class Rule, class R>
Json run_rule(const RunConfig& config, const typename Rule::Config& rule, SharedWork& shared,
              ThreadPool* pool, const StepProgress& progress) {
  const NamedTask<R> named = make_task<R>(config.problem, config.steps, config.seed, 0, shared.data(), pool);
  CountedTraining<Rule, R> counted(*named.task, rule, config, pool);
  const std::optional<std::uint64_t> diverged_at = counted.train(progress);
  Json record{{"status", diverged_at ? "diverged" : "finished"}};
  if (diverged_at) record["diverged_at"] = *diverged_at;
  const TensorList<R> weights = counted.training().weights();
  const std::vector<double> flat = flatten(weights);
  if (!diverged_at) {
    record["result"] = evaluate(named, config.steps, weights);
    const Json signs = compare_signs(config, *named.task, counted.start(), flat, shared);
    if (!signs.is_null()) record["signs"] = signs;
  }
  record["measurements"] = counted.measurements();
  record["trace"] = counted.trace();
  if (flat.size() <= followed_weights) record["final_weights"] = flat;
  record["hash"] = hex16(counted.training().hash());
  return record;
}

Json run_number_type(const RunConfig& config, SharedWork& shared, ThreadPool* pool,
                     const StepProgress& progress) {
  return std::visit(
      [&]<class Choice>(const Choice& choice) {
        using Rule = typename Choice::Rule;
        return config.number == NumberType::float64
                   ? run_rule<Rule, double>(config, choice.config, shared, pool, progress)
                   : run_rule<Rule, float>(config, choice.config, shared, pool, progress);
      },
      config.rule);
}

std::vector<double> train_twin(const RunConfig& config, bool other_order, DataSets& data) {
  AdamW::Config adamw;
  adamw.eta = *config.sign_twin_eta;
  const NamedTask<float> named = make_task<float>(config.problem, config.steps, config.seed,
                                                  other_order ? other_data_order : 0, data, nullptr);
  Training<AdamW, float> training(*named.task, adamw, parse_scheme("fp32"), config.seed, nullptr);
  NoProbe none;
  for (std::uint64_t t = 1; t <= config.steps; ++t)
    training.step(t, schedule_factor(config.schedule, t, config.steps), none);
  return flatten(training.weights());
}

}  // namespace

void SharedWork::prepare(const RunConfig& config) {
  if (!config.problem.data_set.empty()) data_.fashion_mnist(config.problem.data_set);
  if (config.plan.overrides.empty()) return;
  const NamedTask<double> named =
      make_task<double>(config.problem, config.steps, config.seed, 0, data_, nullptr);
  const auto& tensors = named.task->tensors().tensors();
  std::string names;
  for (const TensorInfo& tensor : tensors) names += (names.empty() ? "" : ", ") + tensor.name;
  for (const PlanOverride& override_ : config.plan.overrides)
    if (std::none_of(tensors.begin(), tensors.end(),
                     [&](const TensorInfo& tensor) { return matches_pattern(override_.match, tensor.name); }))
      throw Error("plan.overrides", "a pattern matches no tensor", override_.match, names);
}

std::vector<double> SharedWork::twin_weights(const RunConfig& config, bool other_order) {
  RunConfig twin = config;
  twin.plan = parse_scheme("fp32");
  twin.rule = RuleChoice<AdamW>{};
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
  record.update(run_number_type(config, shared, pool, progress));
  return record;
}

}  // namespace halfulp
