#include <fmt/format.h>

#include "experiments/program/command.h"
#include "experiments/run_config.h"
#include "optimizers/rounding_points.h"

namespace halfulp {
namespace {

struct PlanOptions {
  std::string config;
  std::vector<std::string> settings;
};

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

void plan_command(const PlanOptions& options) {
  const YAML::Node node = load_yaml(options.config);
  for (const std::string& setting : options.settings) apply_setting(node, setting);
  const RunConfig config = parse_run_config(node, options.config);
  const bool wide = config.number == NumberType::float64;
  const std::string number = wide ? "float64" : "float32";
  DataSets data;
  const NamedTask<double> named =
      make_task<double>(config.problem, config.steps, config.seed, 0, data, nullptr);

  std::string text = fmt::format("{} on {}, scheme {}\n", rule_label(config.rule, config.plan),
                                 config.problem.name, config.plan.scheme);
  double weights = 0, states = 0, parameters = 0;
  for (const TensorInfo& tensor : named.task->tensors().tensors()) {
    const TensorPlan plan = config.plan.of(tensor);
    text += fmt::format("\n{} [{}]\n", tensor.name, shape_text(tensor.shape));
    int place = 0;
    for (const std::string& point : rounding_points(config.rule, plan, number))
      text += fmt::format("  {}. {}\n", ++place, point);
    const StoredBytes bytes = bytes_per_parameter(config.rule, plan, tensor, wide ? 8 : 4);
    text +=
        fmt::format("  bytes per parameter: weights {:.4f}, states {:.4f}\n", bytes.weights, bytes.states);
    const auto size = static_cast<double>(tensor.size());
    parameters += size, weights += size * bytes.weights, states += size * bytes.states;
  }
  text += fmt::format(
      "\nall tensors: {} parameters; bytes per parameter: weights {:.4f}, states {:.4f}, together {:.4f}\n",
      parameters, weights / parameters, states / parameters, (weights + states) / parameters);
  print_result(text);
}

}  // namespace

void add_plan_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("plan", "every rounding point of a step in order, and bytes per parameter");
  auto options = std::make_shared<PlanOptions>();
  command->add_option("config", options->config, "YAML file of a run")->required();
  command->add_option("--set", options->settings, "KEY=VALUE, over the file; may be repeated")->take_all();
  command->footer("Example:\n  halfulp plan experiments/configs/fashion_mlp.yaml --set plan=nvfp4/fp8");
  command->callback([options] { plan_command(*options); });
}

}  // namespace halfulp
