#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analysis/step_recorder.h"
#include "analysis/verdict.h"
#include "emulation/fp_environment.h"
#include "experiments/measurements.h"
#include "experiments/plan_config.h"
#include "experiments/program/arguments.h"
#include "experiments/program/command.h"
#include "experiments/program/number_input.h"
#include "experiments/program/table.h"
#include "experiments/program/tensor_text.h"
#include "experiments/run_config.h"
#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {
namespace {

struct StepOptions {
  std::string rule, plan, weights, gradients, shape, steps = "1", seed = "0", number;
  std::vector<std::string> settings;
  bool json = false;
};

/// A task whose gradient at every step and every weight is the given one.
template <class R>
class GivenGradients : public Task<R> {
 public:
  GivenGradients(const NumberArray& weights, const std::vector<double>& gradients)
      : weights_(weights.values) {
    registry_.add("weights", weights.shape);
    for (const double g : gradients) {
      if constexpr (std::is_same_v<R, float>)
        gradients_.push_back(to_float(g));
      else
        gradients_.push_back(g);
    }
  }
  const TensorRegistry& tensors() const override { return registry_; }
  TensorList<double> initial_weights() const override { return {weights_}; }
  R loss_and_gradient(std::uint64_t, const TensorList<R>&, TensorList<R>& gradients) override {
    gradients = {gradients_};
    return R(0);
  }
  Evaluation evaluate(const std::string&, std::uint64_t, const TensorList<R>&) override { return {}; }

 private:
  TensorRegistry registry_;
  std::vector<double> weights_;
  std::vector<R> gradients_;
};

/// The config of a run with these options. A run's parser wants a problem; nothing of it is used.
RunConfig read_config(const StepOptions& options) {
  YAML::Node root(YAML::NodeType::Map);
  root["problem"] = "quadratic_1d";
  root["rule"]["name"] = options.rule;
  root["plan"]["scheme"] = options.plan;
  root["steps"] = read_unsigned(options.steps, "--steps", 1'000'000);
  root["seed"] = read_unsigned(options.seed, "--seed", ~std::uint64_t{0});
  if (!options.number.empty()) root["number"] = options.number;
  for (const std::string& setting : options.settings) {
    const std::string key = setting.substr(0, setting.find('='));
    const bool whole = key.starts_with("rule.") || key.starts_with("plan.");
    if (!whole && key.find('.') != std::string::npos)
      throw Error("--set", "no key of the rule or the plan", key,
                  "a setting of the rule (eta=1e-3), or of the plan (plan.weights.rounding=stochastic)");
    apply_setting(root, whole || key.empty() ? setting : "rule." + setting);
  }
  return parse_run_config(root, "options");
}

/// What happened in the last step, in the order of the table: element by element, its parts, then their weight.
struct Outcome {
  NumberType number;
  TensorPlan plan;
  std::vector<std::string> slots;  ///< names; the weight that parts make comes last
  StepRecorder recorded;
};

template <class R>
Outcome take_steps_in(const RunConfig& config, const NumberArray& weights, const std::vector<double>& gradients) {
  const FpEnvironment environment;
  GivenGradients<R> task(weights, gradients);
  Training<R> training(task, config.training(false), nullptr);
  for (std::uint64_t t = 1; t < config.steps; ++t) training.step(t, 1.0);
  Outcome outcome{config.number, config.plan.of(task.tensors().tensors()[0]), weight_slot_names(config.rule), {}};
  ProbeOf<StepRecorder, R> probe(outcome.recorded);
  training.step(config.steps, 1.0, &probe);
  if (outcome.slots.size() > 1) outcome.slots.emplace_back("w");
  std::stable_sort(outcome.recorded.elements.begin(), outcome.recorded.elements.end(),
                   [](const RecordedElement& x, const RecordedElement& y) { return x.element < y.element; });
  return outcome;
}

Outcome take_steps(const RunConfig& config, const NumberArray& weights,
                   const std::vector<double>& gradients) {
  return config.number == NumberType::float64 ? take_steps_in<double>(config, weights, gradients)
                                              : take_steps_in<float>(config, weights, gradients);
}

std::vector<std::size_t> place_of(std::size_t element, const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> place(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; element /= shape[axis])
    place[axis] = element % shape[axis];
  return place;
}

/// The shortest decimal that reads back as the rule's number.
std::string number_in(NumberType type, double x) {
  return type == NumberType::float32 && !std::isnan(x) ? fmt::format("{}", static_cast<float>(x))
                                                       : real_text(x);
}

std::string table_of(const RunConfig& config, const std::vector<std::size_t>& shape, const Outcome& outcome) {
  const bool parts = outcome.slots.size() > 1;
  std::vector<std::vector<std::string>> rows{
      {"element", "before", "update", "wanted", "after", "what happened"}};
  if (parts) rows[0].insert(rows[0].begin() + 1, "slot");
  for (const RecordedElement& seen : outcome.recorded.elements) {
    const ElementStep& e = seen.step;
    std::string place;
    for (const std::size_t index : place_of(seen.element, shape))
      place += (place.empty() ? "" : ",") + std::to_string(index);
    std::vector<std::string> row{place};
    if (parts) row.push_back(outcome.slots[seen.weight_slot]);
    for (const double x : {e.before, e.update, e.wanted, e.after})
      row.push_back(number_in(outcome.number, x));
    row.push_back(describe(verdict_of(e, outcome.plan.weights), e, outcome.plan.weights));
    rows.push_back(row);
  }
  const Stagnation& stagnation = outcome.recorded.counters.stored.stagnation;
  return fmt::format("{}, scheme {}, step {}; weights stored as {}\n", rule_label(config.rule, config.plan),
                     config.plan.scheme, config.steps, describe(outcome.plan.weights)) +
         aligned(rows) +
         fmt::format("{} of {} updates changed nothing that is stored\n", stagnation.stayed,
                     stagnation.updated);
}

nlohmann::ordered_json real_or_null(const std::optional<double>& x) {
  return x ? json_real(*x) : nlohmann::ordered_json();
}

std::string json_of(const RunConfig& config, const std::vector<std::size_t>& shape, const Outcome& outcome) {
  nlohmann::ordered_json elements = nlohmann::json::array();
  for (const RecordedElement& seen : outcome.recorded.elements) {
    const ElementStep& e = seen.step;
    const Verdict verdict = verdict_of(e, outcome.plan.weights);
    nlohmann::ordered_json json{{"element", place_of(seen.element, shape)},
                                {"slot", outcome.slots[seen.weight_slot]},
                                {"before", json_real(e.before)}};
    // The probe gives the weight that parts make the gradient of its first part.
    if (!seen.made_of_parts) json["gradient"] = json_real(e.gradient);
    json.update({{"update", json_real(e.update)},
                 {"wanted", json_real(e.wanted)},
                 {"after", json_real(e.after)},
                 {"unmoved", json_real(e.unmoved)},
                 {"verdict", verdict_kind_names[static_cast<std::size_t>(verdict.kind)]}});
    json["cause"] =
        verdict.cause
            ? nlohmann::ordered_json(stagnation_cause_names[static_cast<std::size_t>(*verdict.cause)])
            : nlohmann::ordered_json();
    json["half_gap"] = real_or_null(verdict.half_gap);
    json["up_probability"] = real_or_null(verdict.up);
    json["trapped"] = verdict.trapped;
    json["text"] = describe(verdict, e, outcome.plan.weights);
    elements.push_back(json);
  }
  return nlohmann::ordered_json{{"rule", to_json(config.rule)},
                                {"plan", to_json(config.plan)},
                                {"weights_stored_as", describe(outcome.plan.weights)},
                                {"step", config.steps},
                                {"seed", config.seed},
                                {"shape", shape},
                                {"elements", elements},
                                {"counters", to_json(outcome.recorded.counters)}}
             .dump() +
         "\n";
}

void run_step(const StepOptions& options) {
  const RunConfig config = read_config(options);
  NumberArray weights = read_numbers(options.weights, "--weights");
  const NumberArray gradients = read_numbers(options.gradients, "--gradients");
  if (weights.shape != gradients.shape)
    throw Error("--gradients", "not the shape of the weights", extents_text(gradients.shape),
                extents_text(weights.shape));
  if (!options.shape.empty()) weights.shape = read_shape_of(options.shape, weights.values.size());
  if (config.plan.weights_of_vectors && weights.shape.size() == 1)
    print_message("note: scheme " + config.plan.scheme + " stores tensors of one axis in " +
                  describe(*config.plan.weights_of_vectors) + "; --shape 1x" +
                  std::to_string(weights.values.size()) + " makes it a row");
  const Outcome outcome = take_steps(config, weights, gradients.values);
  print_result(options.json ? json_of(config, weights.shape, outcome)
                            : table_of(config, weights.shape, outcome));
}

}  // namespace

void add_step_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("step", "What one optimizer step does to each given weight, and why");
  const auto options = std::make_shared<StepOptions>();
  command->add_option("--rule,--optimizer", options->rule, name_list(rule_names()))->required();
  command
      ->add_option("--plan", options->plan,
                   "WEIGHTS/STATES: a format / fp32, bf16 or fp8; or fp32, fp64 (the rule's own numbers)")
      ->required();
  command
      ->add_option("--set", options->settings,
                   "a setting of the rule (eta=1e-3), or of the plan (plan.weights.rounding=stochastic, "
                   "plan.weights.scale=recompute); may be repeated")
      ->take_all();
  command
      ->add_option("--weights", options->weights,
                   "A,B,C or FILE.npy or FILE.csv; stored first, rounded to nearest")
      ->required();
  command
      ->add_option("--gradients,--grads", options->gradients,
                   "as --weights, of the same shape; the same at every step")
      ->required();
  command->add_option("--shape", options->shape, "ROWSxCOLUMNS of the weights (default: as given)");
  command->add_option("--steps", options->steps, "take N steps and show the last (default: 1)");
  command->add_option("--seed", options->seed, "of stochastic rounding and sampling (default: 0)");
  command->add_option("--number", options->number, "what the rule computes in: float32 (default), float64");
  command->add_flag("--json", options->json, "one JSON object: every element, and the counters of the step");
  command->footer(
      "Examples:\n"
      "  halfulp step --rule adamw --plan bf16/fp32 --set eta=1e-3 --weights 4,3.9,0.1 --gradients 1,-1,1\n"
      "  halfulp step --rule madam --plan fp8/fp32 --weights 0,-1,448 --gradients -1,-1,-1 --steps 10\n"
      "  halfulp step --rule lmd --plan bf16/bf16 --weights 0.5,-2 --gradients 1,1 --seed 3\n"
      "  halfulp step --rule adamw --plan nvfp4/fp8 --weights layer.npy --gradients layer_gradient.npy "
      "--json");
  command->callback([options] { run_step(*options); });
}

}  // namespace halfulp
