#include "experiments/run_config.h"

#include "experiments/clipping_config.h"
#include "experiments/data/fashion_mnist.h"
#include "experiments/plan_config.h"
#include "experiments/problems/problems.h"
#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {
namespace {

std::uint64_t read_steps(YamlMap& root) { return root.count("steps", 1500, 1, 1'000'000'000); }

ProblemConfig parse_problem(YamlMap& root) {
  if (!root.has("problem"))
    throw Error(root.where("problem"), "a run needs a problem", "", "problem: {name: ...}");
  const bool is_name = root.node("problem").IsScalar();
  YamlMap map = is_name ? YamlMap(YAML::Node(), root.file(), "problem") : root.map("problem");
  ProblemConfig problem;
  problem.name = is_name ? root.text("problem", "") : map.choice("name", "", task_names());
  try {
    problem.settings = default_settings(problem.name);
  } catch (const Error& error) {
    throw Error::at(root.where("problem"), error);
  }
  if (problem.name == "fashion_mlp") {
    for (auto& [key, value] : problem.settings)
      value = static_cast<double>(map.count(key, static_cast<std::uint64_t>(value), 1, 100'000));
    problem.data_set = map.text("data_set", fashion_mnist_directory);
  } else {
    for (auto& [key, value] : problem.settings) value = map.number(key, value, -1e300, 1e300);
    // A toy problem says itself which settings it can be built with.
    try {
      make_problem<double>(problem.name, {0, read_steps(root), problem.settings});
    } catch (const Error& error) {
      throw Error::at(root.where("problem"), error);
    }
  }
  map.check_all_known();
  return problem;
}

ExtraMeasurements parse_extra(YamlMap map) {
  ExtraMeasurements extra;
  const auto flag = [&](const char* key) { return map.choice(key, "false", {"false", "true"}) == "true"; };
  extra.results_only = flag("results_only");
  extra.twin = flag("twin");
  extra.dwell = flag("dwell");
  extra.descent = flag("descent");
  extra.harmful_window = map.count("harmful_window", 0, 0, 1'000'000);
  map.check_all_known();
  if (extra.results_only && (extra.twin || extra.dwell || extra.descent || extra.harmful_window != 0))
    throw Error(map.where("results_only"), "nothing else can be measured then", "true", "true alone");
  return extra;
}

/// A rounding asked for where the weights are the rule's own numbers would change nothing but the label.
void require_effect(YamlMap& root, const RunConfig& config) {
  const bool is_map = root.has("plan") && root.node("plan").IsMap();
  const bool asked = is_map && root.map("plan").map("weights").has("rounding");
  const auto& format = config.plan.base.weights.format;
  const bool unrounded = !format || (*format == unscaled(fp32) && config.number == NumberType::float32);
  if (asked && unrounded)
    throw Error(root.where("plan.weights.rounding"),
                "these weights are stored as the rule's own numbers, unrounded",
                to_string(config.plan.base.weights.rounding), "no rounding, or a narrower format");
}

}  // namespace

RunConfig parse_run_config(const YAML::Node& node, const std::string& file) {
  YamlMap root(node, file, "");
  RunConfig config;
  config.problem = parse_problem(root);
  config.rule = parse_rule(root);
  config.plan = parse_plan(root, "plan", default_rounding(config.rule));
  config.rule_overrides = parse_rule_overrides(root, config.rule);
  config.steps = read_steps(root);
  config.micro_batches = root.count("micro_batches", 1, 1, 256);
  const auto samples = static_cast<std::uint64_t>(std::max(
      1, std::visit([](const auto& c) { return std::decay_t<decltype(c)>::Rule::samples(c.config); }, config.rule)));
  if (config.micro_batches * samples > 256)
    throw Error(root.where("micro_batches"), "too many noise samples in one step",
                std::to_string(config.micro_batches) + " x " + std::to_string(samples), "at most 256 together");
  config.schedule = parse_schedule(root, "schedule");
  if (root.has("multiplicative_schedule"))
    config.multiplicative_schedule = parse_schedule(root, "multiplicative_schedule");
  config.clipping = parse_clipping(root, "clip");
  config.rate_reference = root.number("rate_reference", 0, 0, 1e300);
  const std::string number = config.plan.scheme == "fp64" ? "float64" : "float32";
  config.number = root.choice("number", number, {"float32", "float64"}) == "float64" ? NumberType::float64
                                                                                     : NumberType::float32;
  if (config.plan.scheme == "fp64" && config.number == NumberType::float32)
    throw Error(root.where("number"), "scheme fp64 stores the rule's own numbers", "float32", "float64");
  require_effect(root, config);
  config.seed = root.count("seed", 0, 0, ~std::uint64_t{0});
  config.measure_every = root.count("measure_every", 1, 1, 1'000'000'000);
  config.trace_every = root.count("trace_every", 50, 1, 1'000'000'000);
  config.extra = parse_extra(root.map("measure"));
  if (root.has("sign_twin_eta")) config.sign_twin_eta = root.number("sign_twin_eta", 0, 0, 1e6);
  root.check_all_known();
  return config;
}

nlohmann::ordered_json to_json(const RunConfig& config) {
  nlohmann::ordered_json problem{{"name", config.problem.name}};
  for (const auto& [key, value] : config.problem.settings) problem[key] = value;
  if (!config.problem.data_set.empty()) problem["data_set"] = config.problem.data_set;
  nlohmann::ordered_json json{{"problem", problem},
                              {"rule", to_json(config.rule)},
                              {"plan", to_json(config.plan)},
                              {"steps", config.steps},
                              {"schedule", to_json(config.schedule)},
                              {"number", config.number == NumberType::float64 ? "float64" : "float32"},
                              {"seed", config.seed},
                              {"measure_every", config.measure_every},
                              {"trace_every", config.trace_every}};
  // What was not asked for is not written, so that a config keeps its key when the program learns more.
  if (!config.rule_overrides.empty()) json["rule_overrides"] = to_json(config.rule_overrides);
  if (config.micro_batches != 1) json["micro_batches"] = config.micro_batches;
  if (config.multiplicative_schedule) json["multiplicative_schedule"] = to_json(*config.multiplicative_schedule);
  if (config.clipping.kind != ClippingKind::none) json["clip"] = to_json(config.clipping);
  if (config.rate_reference != 0) json["rate_reference"] = config.rate_reference;
  if (const ExtraMeasurements& extra = config.extra; extra != ExtraMeasurements{})
    json["measure"] = {{"results_only", extra.results_only},
                       {"twin", extra.twin},
                       {"dwell", extra.dwell},
                       {"harmful_window", extra.harmful_window},
                       {"descent", extra.descent}};
  if (config.sign_twin_eta) json["sign_twin_eta"] = *config.sign_twin_eta;
  return json;
}

}  // namespace halfulp
