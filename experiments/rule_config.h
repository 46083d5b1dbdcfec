#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emulation/registry.h"
#include "experiments/yaml_map.h"
#include "optimizers/any_rule.h"
#include "optimizers/plan.h"

namespace halfulp {

/// Numbers of the rule that are others for the tensors whose name matches a pattern.
struct RuleOverride {
  std::string match;
  std::map<std::string, double> numbers;
};

/// The rule under `rule`: its name, or {name: adamw, setting: value, ...}. Modes are words, everything else numbers.
/// errors: throws Error naming file, key, what was given and what is allowed.
AnyRule parse_rule(YamlMap& root);

/// The list under `rule_overrides`: [{match: "*norm*", eta: 1e-4}, ...]; later ones win.
/// errors: as parse_rule; a setting that is no number of the rule.
std::vector<RuleOverride> parse_rule_overrides(YamlMap& root, const AnyRule& rule);

/// The rule as a tensor gets it.
AnyRule rule_of(const AnyRule& rule, const std::vector<RuleOverride>& overrides, const TensorInfo& tensor);

/// The rule with what a record says of its settings; those it does not know yet keep their values.
AnyRule with_settings(AnyRule rule, const nlohmann::ordered_json& recorded);

/// {name, setting: value, ...}
nlohmann::ordered_json to_json(const AnyRule& rule);
nlohmann::ordered_json to_json(const std::vector<RuleOverride>& overrides);

/// The row of a table: the rule, its modes other than the default; "+sr" where its weights round stochastically though
/// that is not the rule's default, "+nearest_even" where they round to nearest though that is not; "+kahan" and the
/// like where they are compensated.
std::string rule_label(const AnyRule& rule, const Plan& plan);

/// Names of what the rule stores as its weight.
std::vector<std::string> weight_slot_names(const AnyRule& rule);

}  // namespace halfulp
