#include <fmt/format.h>

#include "experiments/program/command.h"
#include "experiments/run_config.h"
#include "optimizers/memory.h"
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

/// Bytes of each kind for every parameter.
std::string columns(const StoredBytes& bytes, std::size_t parameters) {
  const auto each = [&](std::size_t all) {
    return static_cast<double>(all) / static_cast<double>(parameters);
  };
  return fmt::format("weights {:.4f}, states {:.4f}, compensation {:.4f}, gradients {:.4f}, together {:.4f}",
                     each(bytes.weights), each(bytes.states + bytes.low_rank), each(bytes.compensation),
                     each(bytes.gradient + bytes.accumulator), each(bytes.total()));
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
  StoredBytes all;
  std::size_t parameters = 0;
  for (const TensorInfo& tensor : named.task->tensors().tensors()) {
    const TensorPlan plan = config.plan.of(tensor);
    text += fmt::format("\n{} [{}]\n", tensor.name, shape_text(tensor.shape));
    int place = 0;
    const AnyRule rule = rule_of(config.rule, config.rule_overrides, tensor);
    for (const std::string& point : rounding_points(rule, plan, tensor, number))
      text += fmt::format("  {}. {}\n", ++place, point);
    const StoredBytes bytes =
        stored_bytes(rule, plan, tensor, wide ? 8 : 4, static_cast<int>(config.micro_batches));
    text += "  bytes per parameter: " + columns(bytes, tensor.size()) + "\n";
    parameters += tensor.size();
    all += bytes;
  }
  text += fmt::format("\nall tensors: {} parameters; bytes per parameter: {}\n", parameters,
                      columns(all, parameters));
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
