#pragma once
#include <string>
#include <variant>
#include <vector>

#include "optimizers/all_rules.h"

namespace halfulp {

/// One rule with its settings.
template <class Rule_>
struct RuleChoice {
  using Rule = Rule_;
  typename Rule::Config config;
};

namespace detail {
template <class Tuple>
struct AnyRuleOf;
template <class... Rules>
struct AnyRuleOf<std::tuple<Rules...>> {
  using type = std::variant<RuleChoice<Rules>...>;
};
}  // namespace detail

/// Any rule of AllRules with its settings; std::visit reaches the rule as decltype(choice)::Rule.
using AnyRule = detail::AnyRuleOf<AllRules>::type;

/// Names of all rules, in list order.
inline std::vector<std::string> rule_names() {
  return std::apply(
      [](auto... rule) { return std::vector<std::string>{std::string(decltype(rule)::name)...}; },
      AllRules{});
}

inline std::string_view rule_name(const AnyRule& any) {
  return std::visit([](const auto& choice) { return std::decay_t<decltype(choice)>::Rule::name; }, any);
}

/// How the rule rounds its stored weights where the plan does not say.
inline Rounding default_rounding(const AnyRule& any) {
  return std::visit([](const auto& choice) { return std::decay_t<decltype(choice)>::Rule::default_rounding; },
                    any);
}

}  // namespace halfulp
