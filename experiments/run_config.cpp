#include "experiments/run_config.h"

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

template <class Choice>
AnyRule parse_settings(YamlMap& map) {
  Choice choice;
  Choice::Rule::settings(choice.config, [&]<class Number>(const char* key, Number& value, Number low,
                                                          Number high) {
    if constexpr (std::is_same_v<Number, double>)
      value = map.number(key, value, low, high);
    else
      value =
          static_cast<Number>(map.count(key, static_cast<std::uint64_t>(value),
                                        static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)));
  });
  map.check_all_known();
  return choice;
}

AnyRule parse_rule(YamlMap& root) {
  if (!root.has("rule"))
    throw Error(root.where("rule"), "a run needs a rule", "", "rule: {name: adamw, eta: 1e-3}");
  const bool is_name = root.node("rule").IsScalar();
  YamlMap map = is_name ? YamlMap(YAML::Node(), root.file(), "rule") : root.map("rule");
  const std::string name =
      is_name ? root.choice("rule", "", rule_names()) : map.choice("name", "", rule_names());
  AnyRule chosen;
  std::apply(
      [&](auto... rule) {
        ((decltype(rule)::name == name ? void(chosen = parse_settings<RuleChoice<decltype(rule)>>(map))
                                       : void()),
         ...);
      },
      AllRules{});
  return chosen;
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
  config.steps = read_steps(root);
  config.schedule = root.choice("schedule", "constant", {"constant", "cosine"}) == "cosine"
                        ? Schedule::cosine
                        : Schedule::constant;
  const std::string number = config.plan.scheme == "fp64" ? "float64" : "float32";
  config.number = root.choice("number", number, {"float32", "float64"}) == "float64" ? NumberType::float64
                                                                                     : NumberType::float32;
  if (config.plan.scheme == "fp64" && config.number == NumberType::float32)
    throw Error(root.where("number"), "scheme fp64 stores the rule's own numbers", "float32", "float64");
  require_effect(root, config);
  config.seed = root.count("seed", 0, 0, ~std::uint64_t{0});
  config.measure_every = root.count("measure_every", 1, 1, 1'000'000'000);
  config.trace_every = root.count("trace_every", 50, 1, 1'000'000'000);
  if (root.has("sign_twin_eta")) config.sign_twin_eta = root.number("sign_twin_eta", 0, 0, 1e6);
  root.check_all_known();
  return config;
}

nlohmann::ordered_json to_json(const AnyRule& any) {
  nlohmann::ordered_json json{{"name", rule_name(any)}};
  std::visit(
      [&]<class Choice>(const Choice& choice) {
        Choice::Rule::settings(choice.config,
                               [&](const char* key, const auto& value, auto, auto) { json[key] = value; });
      },
      any);
  return json;
}

nlohmann::ordered_json to_json(const RunConfig& config) {
  nlohmann::ordered_json problem{{"name", config.problem.name}};
  for (const auto& [key, value] : config.problem.settings) problem[key] = value;
  if (!config.problem.data_set.empty()) problem["data_set"] = config.problem.data_set;
  nlohmann::ordered_json json{{"problem", problem},
                              {"rule", to_json(config.rule)},
                              {"plan", to_json(config.plan)},
                              {"steps", config.steps},
                              {"schedule", config.schedule == Schedule::cosine ? "cosine" : "constant"},
                              {"number", config.number == NumberType::float64 ? "float64" : "float32"},
                              {"seed", config.seed},
                              {"measure_every", config.measure_every},
                              {"trace_every", config.trace_every}};
  if (config.sign_twin_eta) json["sign_twin_eta"] = *config.sign_twin_eta;
  return json;
}

std::string rule_label(const AnyRule& rule, const Plan& plan) {
  std::string label(rule_name(rule));
  const bool draws = is_stochastic(plan.base.weights.rounding.mode);
  if (plan.base.weights.rounding == default_rounding(rule)) return label;
  return label + (draws ? "+sr" : "+" + to_string(plan.base.weights.rounding));
}

double schedule_factor(Schedule schedule, std::uint64_t step, std::uint64_t steps) {
  switch (schedule) {
    case Schedule::constant:
      return 1;
    case Schedule::cosine: {
      // (1 + cos x) / 2 = cos^2(x / 2), by the Taylor series of the cosine on [0, pi/2]: the terms after
      // x^24/24! are below 2e-21. Own arithmetic, because a library's cosine differs from machine to machine.
      const double half = 0x1.921fb54442d18p+0 * (static_cast<double>(step - 1) / static_cast<double>(steps));
      double term = 1, cosine = 1;
      for (int k = 1; k <= 12; ++k) {
        term = -term * half * half / ((2 * k - 1) * (2 * k));
        cosine += term;
      }
      return cosine * cosine;
    }
  }
  return 1;
}

}  // namespace halfulp
