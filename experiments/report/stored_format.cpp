#include "experiments/report/stored_format.h"

#include <fmt/format.h>

#include "experiments/report/record_set.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

std::string text_at(const Json& config, const std::string& pointer) {
  const Json::json_pointer path(pointer);
  return config.contains(path) && config.at(path).is_string() ? config.at(path).get<std::string>() : "";
}

}  // namespace

std::string weight_spec(const Json& config) {
  const std::string spec = text_at(config, "/plan/weights/format");
  return spec == "unrounded" ? "" : spec;
}

std::optional<BlockFormat> weight_format(const Json& config) {
  const std::string spec = weight_spec(config);
  if (spec.empty()) return std::nullopt;
  try {
    return parse_format(spec);
  } catch (const Error&) {  // a record of another build may name a format that this one lacks
    return std::nullopt;
  }
}

std::optional<ScalarFormat> plain_weight_format(const Json& config) {
  const std::optional<BlockFormat> format = weight_format(config);
  if (!format || format->has_scale() || format->element.is_table()) return std::nullopt;
  return format->element;
}

bool rounds_to_nearest(const Json& config) {
  return text_at(config, "/plan/weights/rounding") == "nearest_even";
}

std::string update_spec(const Json& config) {
  const std::string rule = text_at(config, "/rule/name");
  const auto rate = [&](const char* key) { return number_at(config, std::string("/rule/") + key); };
  if (rule == "m_adam" && rate("eta_a") > 0 && rate("eta_m") > 0)
    return fmt::format("m+adam={},{}", rate("eta_a"), rate("eta_m"));
  if ((rule == "adamw" || rule == "madam") && rate("eta") > 0) return fmt::format("{}={}", rule, rate("eta"));
  if (rule == "lmd" && rate("alpha") > 0) return fmt::format("lmd={}", rate("alpha"));
  return "";
}

std::string rates_text(const Json& config) {
  std::string text;
  const Json& rule = config.at("rule");
  for (const auto& [key, value] : rule.items()) {
    const bool is_rate = key.rfind("eta", 0) == 0 || key == "alpha";
    if (is_rate) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, value.dump());
  }
  return text;
}

}  // namespace halfulp
