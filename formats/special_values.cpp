#include "formats/special_values.h"

#include <array>
#include <span>

#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {
namespace {

/// One switch: how its values are called and which field holds it.
struct Switch {
  std::string_view key;
  std::span<const std::string_view> values;  // in the order of the enumerators
  std::size_t (*get)(const SpecialValues&);
  void (*set)(SpecialValues&, std::size_t);
};

/// A switch over the enum member `field`.
template <auto field>
constexpr Switch enum_switch(std::string_view key, std::span<const std::string_view> values) {
  using Enum = std::remove_cvref_t<decltype(SpecialValues{}.*field)>;
  return {key, values, [](const SpecialValues& s) { return static_cast<std::size_t>(s.*field); },
          [](SpecialValues& s, std::size_t value) { s.*field = static_cast<Enum>(value); }};
}

constexpr std::array<std::string_view, 4> nan_names{"max_finite_signed", "max_finite_positive", "zero",
                                                    "negative_zero"};
constexpr std::array<std::string_view, 2> sign_names{"keep", "drop"}, symmetric_names{"no", "yes"},
    zero_names{"smallest", "nan"};
constexpr std::array<std::string_view, 3> negative_zero_names{"keep", "drop_source", "drop"},
    payload_names{"canonical", "keep_top", "all_ones"},
    subnormal_names{"keep", "flush_results", "flush_sources"}, negative_names{"nan", "zero", "magnitude"};

constexpr std::array all_switches{
    enum_switch<&SpecialValues::nan_without_code>("nan", nan_names),
    enum_switch<&SpecialValues::nan_sign>("nan_sign", sign_names),
    enum_switch<&SpecialValues::nan_payload>("nan_payload", payload_names),
    enum_switch<&SpecialValues::symmetric_fixed_point>("symmetric", symmetric_names),
    enum_switch<&SpecialValues::negative_zero>("negative_zero", negative_zero_names),
    enum_switch<&SpecialValues::subnormals>("subnormals", subnormal_names),
    enum_switch<&SpecialValues::zero_without_code>("zero_without_code", zero_names),
    enum_switch<&SpecialValues::negative_in_unsigned>("negative_in_unsigned", negative_names),
};

std::vector<std::string> as_strings(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

void apply(SpecialValues& special, std::string_view setting, std::string_view whole) {
  const std::size_t equals = setting.find('=');
  const std::string_view key = setting.substr(0, equals);
  std::vector<std::string> keys;
  for (const Switch& known : all_switches) {
    keys.emplace_back(known.key);
    if (known.key != key) continue;
    const std::string_view value = equals == std::string_view::npos ? "" : setting.substr(equals + 1);
    for (std::size_t i = 0; i < known.values.size(); ++i)
      if (known.values[i] == value) return known.set(special, i);
    throw Error("overflow", "no such value of " + std::string(key) + ": " + std::string(value),
                std::string(whole), name_list(as_strings(known.values)));
  }
  throw Error("overflow",
              "no such switch: " + std::string(key) + " (nearest is " + nearest_name(key, keys) + ")",
              std::string(whole), name_list(keys));
}

}  // namespace

SpecialValues parse_special_values(std::string_view text) {
  const std::size_t brace = text.find('{');
  SpecialValues special = special_values(parse_overflow(text.substr(0, brace)));
  if (brace == std::string_view::npos) return special;
  if (text.back() != '}')
    throw Error("overflow", "the closing brace is missing", std::string(text), "POLICY{switch=value,...}");
  std::string_view rest = text.substr(brace + 1, text.size() - brace - 2);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    apply(special, rest.substr(0, comma), text);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return special;
}

std::string to_string(const SpecialValues& special) {
  const SpecialValues plain = special_values(special.overflow);
  std::string switches;
  for (const Switch& known : all_switches)
    if (known.get(special) != known.get(plain))
      switches += (switches.empty() ? "" : ",") + std::string(known.key) + "=" +
                  std::string(known.values[known.get(special)]);
  const std::string policy(to_string(special.overflow));
  return switches.empty() ? policy : policy + "{" + switches + "}";
}

}  // namespace halfulp
