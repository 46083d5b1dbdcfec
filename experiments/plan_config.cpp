#include "experiments/plan_config.h"

#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

/// Runs a parser of one text; its error gets the place in the file in front.
template <class Parse>
auto parse_at(const std::string& where, Parse parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw Error::at(where, error);
  }
}

/// Reads the parts that are given over `slot`. A new format brings its own default scale policy.
void read_slot(YamlMap map, SlotPlan& slot, bool is_weight) {
  if (map.has("format")) {
    const BlockFormat format =
        parse_at(map.where("format"), [&] { return parse_format(map.text("format", "")); });
    slot.scale = is_weight ? default_weight_scale(format) : recompute_scale;
    slot.format = format;
  }
  if (map.has("rounding"))
    slot.rounding = parse_at(map.where("rounding"), [&] { return parse_rounding(map.text("rounding", "")); });
  if (map.has("overflow"))
    slot.overflow = parse_at(map.where("overflow"), [&] { return parse_overflow(map.text("overflow", "")); });
  if (map.has("scale"))
    slot.scale = parse_at(map.where("scale"), [&] { return parse_scale_policy(map.text("scale", "")); });
  map.node("format"), map.node("rounding"), map.node("overflow"), map.node("scale");
  map.check_all_known();
}

void read_slots(YamlMap& map, TensorPlan& plan) {
  read_slot(map.map("weights"), plan.weights, true);
  read_slot(map.map("first_moment"), plan.first_moment, false);
  read_slot(map.map("second_moment"), plan.second_moment, false);
}

PlanOverride read_override(YamlMap map, const TensorPlan& base) {
  PlanOverride override_{map.text("match", ""), {}, {}, {}};
  if (override_.match.empty())
    throw Error(map.where("match"), "an override needs a name pattern", "", "a pattern");
  TensorPlan changed = base;
  read_slots(map, changed);
  map.check_all_known();
  if (map.has("weights")) override_.weights = changed.weights;
  if (map.has("first_moment")) override_.first_moment = changed.first_moment;
  if (map.has("second_moment")) override_.second_moment = changed.second_moment;
  return override_;
}

nlohmann::ordered_json slot_to_json(const SlotPlan& slot) {
  if (!slot.format) return {{"format", "unrounded"}};
  nlohmann::ordered_json json{{"format", to_spec(*slot.format)},
                              {"rounding", to_string(slot.rounding)},
                              {"overflow", to_string(slot.overflow)}};
  if (slot.format->has_scale()) json["scale"] = to_string(slot.scale);
  return json;
}

}  // namespace

Plan parse_plan(YamlMap& parent, const std::string& key, Rounding weight_rounding) {
  const YAML::Node node = parent.node(key);
  const bool is_name = node.IsDefined() && node.IsScalar();
  YamlMap map = is_name ? YamlMap(YAML::Node(), parent.file(), parent.path_of(key)) : parent.map(key);
  const std::string scheme = is_name ? node.Scalar() : map.text("scheme", "fp32");
  Plan plan = parse_at(parent.where(key), [&] { return parse_scheme(scheme); });
  plan.base.weights.rounding = weight_rounding;
  if (plan.weights_of_vectors) plan.weights_of_vectors->rounding = weight_rounding;
  read_slots(map, plan.base);
  // Vectors keep the format of the scheme, but round as the weights do.
  if (plan.weights_of_vectors) plan.weights_of_vectors->rounding = plan.base.weights.rounding;
  const YAML::Node overrides = map.node("overrides");
  for (std::size_t i = 0; overrides.IsSequence() && i < overrides.size(); ++i)
    plan.overrides.push_back(read_override(
        YamlMap(overrides[i], map.file(), map.path_of("overrides[" + std::to_string(i) + "]")), plan.base));
  if (overrides.IsDefined() && !overrides.IsSequence())
    throw Error(map.where("overrides"), "a list is needed", YAML::Dump(overrides),
                "[{match: PATTERN, weights: {...}}]");
  map.check_all_known();
  return plan;
}

nlohmann::ordered_json to_json(const Plan& plan) {
  nlohmann::ordered_json json{{"scheme", plan.scheme},
                              {"weights", slot_to_json(plan.base.weights)},
                              {"first_moment", slot_to_json(plan.base.first_moment)},
                              {"second_moment", slot_to_json(plan.base.second_moment)}};
  if (plan.weights_of_vectors) json["weights_of_vectors"] = slot_to_json(*plan.weights_of_vectors);
  for (const PlanOverride& override_ : plan.overrides) {
    nlohmann::ordered_json one{{"match", override_.match}};
    if (override_.weights) one["weights"] = slot_to_json(*override_.weights);
    if (override_.first_moment) one["first_moment"] = slot_to_json(*override_.first_moment);
    if (override_.second_moment) one["second_moment"] = slot_to_json(*override_.second_moment);
    json["overrides"].push_back(one);
  }
  return json;
}

}  // namespace halfulp
