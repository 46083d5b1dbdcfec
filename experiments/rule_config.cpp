#include "experiments/rule_config.h"

#include <algorithm>

#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {
namespace {

template <std::size_t n>
std::vector<std::string> words(const std::array<std::string_view, n>& names) {
  return {names.begin(), names.end()};
}

/// Reads every setting of a rule from a map, those left out as they are.
struct ReadSettings {
  YamlMap& map;

  void operator()(const char* key, double& value, double low, double high) const {
    value = map.number(key, value, low, high);
  }
  void operator()(const char* key, int& value, int low, int high) const {
    value = static_cast<int>(map.count(key, static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(low),
                                       static_cast<std::uint64_t>(high)));
  }
  template <class Mode, std::size_t n>
  void operator()(const char* key, Mode& mode, const std::array<std::string_view, n>& names) const {
    const std::string word = map.choice(key, std::string(names[static_cast<std::size_t>(mode)]), words(names));
    for (std::size_t i = 0; i < n; ++i)
      if (names[i] == word) mode = static_cast<Mode>(i);
  }
};

struct WriteSettings {
  nlohmann::ordered_json& json;

  template <class Number>
  void operator()(const char* key, const Number& value, Number, Number) const {
    json[key] = value;
  }
  template <class Mode, std::size_t n>
  void operator()(const char* key, const Mode& mode, const std::array<std::string_view, n>& names) const {
    json[key] = std::string(names[static_cast<std::size_t>(mode)]);
  }
};

/// Sets the numbers that an override names, and counts them.
struct SetNumbers {
  const std::map<std::string, double>& numbers;

  template <class Number>
  void operator()(const char* key, Number& value, Number, Number) const {
    if (const auto found = numbers.find(key); found != numbers.end()) value = static_cast<Number>(found->second);
  }
  template <class Mode, std::size_t n>
  void operator()(const char*, Mode&, const std::array<std::string_view, n>&) const {}
};

struct ReadNumbers {
  YamlMap& map;
  std::map<std::string, double>& numbers;

  template <class Number>
  void operator()(const char* key, Number& value, Number low, Number high) const {
    if (!map.has(key)) return;
    ReadSettings{map}(key, value, low, high);
    numbers[key] = static_cast<double>(value);
  }
  template <class Mode, std::size_t n>
  void operator()(const char*, Mode&, const std::array<std::string_view, n>&) const {}
};

struct ReadRecord {
  const nlohmann::ordered_json& recorded;

  template <class Number>
  void operator()(const char* key, Number& value, Number, Number) const {
    if (recorded.contains(key)) value = recorded.at(key).template get<Number>();
  }
  template <class Mode, std::size_t n>
  void operator()(const char* key, Mode& mode, const std::array<std::string_view, n>& names) const {
    if (!recorded.contains(key)) return;
    const auto found = std::find(names.begin(), names.end(), recorded.at(key).template get<std::string>());
    if (found != names.end()) mode = static_cast<Mode>(found - names.begin());
  }
};

/// The words of all modes, by key.
struct ListModes {
  std::vector<std::pair<std::string, std::string>>& modes;

  template <class Number>
  void operator()(const char*, const Number&, Number, Number) const {}
  template <class Mode, std::size_t n>
  void operator()(const char* key, const Mode& mode, const std::array<std::string_view, n>& names) const {
    modes.emplace_back(key, names[static_cast<std::size_t>(mode)]);
  }
};

/// Calls the rule's settings() on its numbers and modes.
template <class Any, class See>
void for_each_setting(Any& any, See see) {
  std::visit([&](auto& choice) { std::decay_t<decltype(choice)>::Rule::settings(choice.config, see); }, any);
}

}  // namespace

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
        ((decltype(rule)::name == name ? void(chosen = RuleChoice<decltype(rule)>{}) : void()), ...);
      },
      AllRules{});
  for_each_setting(chosen, ReadSettings{map});
  map.check_all_known();
  return chosen;
}

std::vector<RuleOverride> parse_rule_overrides(YamlMap& root, const AnyRule& rule) {
  const YAML::Node list = root.node("rule_overrides");
  std::vector<RuleOverride> overrides;
  if (!list.IsDefined()) return overrides;
  if (!list.IsSequence())
    throw Error(root.where("rule_overrides"), "a list is needed", YAML::Dump(list), "[{match: PATTERN, eta: 1e-4}]");
  for (std::size_t i = 0; i < list.size(); ++i) {
    YamlMap map(list[i], root.file(), root.path_of("rule_overrides[" + std::to_string(i) + "]"));
    RuleOverride override_{map.text("match", ""), {}};
    if (override_.match.empty())
      throw Error(map.where("match"), "an override needs a name pattern", "", "a pattern");
    AnyRule scratch = rule;
    for_each_setting(scratch, ReadNumbers{map, override_.numbers});
    map.check_all_known();
    overrides.push_back(override_);
  }
  return overrides;
}

AnyRule rule_of(const AnyRule& rule, const std::vector<RuleOverride>& overrides, const TensorInfo& tensor) {
  AnyRule own = rule;
  for (const RuleOverride& override_ : overrides)
    if (matches_pattern(override_.match, tensor.name)) for_each_setting(own, SetNumbers{override_.numbers});
  return own;
}

AnyRule with_settings(AnyRule rule, const nlohmann::ordered_json& recorded) {
  for_each_setting(rule, ReadRecord{recorded});
  return rule;
}

nlohmann::ordered_json to_json(const AnyRule& rule) {
  nlohmann::ordered_json json{{"name", rule_name(rule)}};
  for_each_setting(rule, WriteSettings{json});
  return json;
}

nlohmann::ordered_json to_json(const std::vector<RuleOverride>& overrides) {
  nlohmann::ordered_json list = nlohmann::json::array();
  for (const RuleOverride& override_ : overrides) {
    nlohmann::ordered_json json{{"match", override_.match}};
    for (const auto& [key, value] : override_.numbers) json[key] = value;
    list.push_back(json);
  }
  return list;
}

std::string rule_label(const AnyRule& rule, const Plan& plan) {
  std::string label(rule_name(rule));
  std::vector<std::pair<std::string, std::string>> modes, usual;
  for_each_setting(rule, ListModes{modes});
  const AnyRule fresh = std::visit([](const auto& choice) -> AnyRule { return std::decay_t<decltype(choice)>{}; }, rule);
  for_each_setting(fresh, ListModes{usual});
  for (std::size_t i = 0; i < modes.size(); ++i)
    if (modes[i] != usual[i]) label += " " + modes[i].second;
  const Rounding rounding = plan.base.weights.rounding;
  if (rounding != default_rounding(rule)) label += is_stochastic(rounding.mode) ? "+sr" : "+" + to_string(rounding);
  if (plan.base.compensation != Compensation::none)
    label += "+" + std::string(compensation_names[static_cast<std::size_t>(plan.base.compensation)]);
  return label;
}

std::vector<std::string> weight_slot_names(const AnyRule& rule) {
  return std::visit(
      [](const auto& choice) {
        const auto& slots = std::decay_t<decltype(choice)>::Rule::weight_slots;
        return std::vector<std::string>(slots.begin(), slots.end());
      },
      rule);
}

}  // namespace halfulp
