#include "experiments/plan_config.h"

#include <algorithm>

#include "formats/error.h"
#include "formats/spec.h"
#include "optimizers/placement.h"

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

SlotChange read_slot(YamlMap map) {
  SlotChange change;
  const auto read = [&](const char* key, auto& part, auto parse) {
    const std::string text = map.text(key, "");
    if (map.has(key)) part = parse_at(map.where(key), [&] { return parse(text); });
  };
  read("format", change.format, [](const std::string& text) { return parse_format(text); });
  read("rounding", change.rounding, [](const std::string& text) { return parse_rounding(text); });
  read("overflow", change.overflow, [](const std::string& text) { return parse_overflow(text); });
  read("scale", change.scale, [](const std::string& text) { return parse_scale_policy(text); });
  map.check_all_known();
  return change;
}

/// A word of a list as its place in it.
template <class Mode, std::size_t n>
void read_mode(YamlMap& map, const char* key, const std::array<std::string_view, n>& names, std::optional<Mode>& mode) {
  if (!map.has(key)) return;
  const std::string word = map.choice(key, "", {names.begin(), names.end()});
  mode = static_cast<Mode>(std::find(names.begin(), names.end(), word) - names.begin());
}

TensorChange read_change(YamlMap& map) {
  TensorChange change;
  change.weights = read_slot(map.map("weights"));
  change.first_moment = read_slot(map.map("first_moment"));
  change.second_moment = read_slot(map.map("second_moment"));
  change.gradient = read_slot(map.map("gradient"));
  change.accumulator = read_slot(map.map("accumulator"));
  change.compensation_slot = read_slot(map.map("residual"));
  read_mode(map, "compensation", compensation_names, change.compensation);
  read_mode(map, "decay", decay_placement_names, change.decay);
  read_mode(map, "states_used", states_used_names, change.states_used);
  return change;
}

PlanOverride read_override(YamlMap map) {
  PlanOverride override_{map.text("match", ""), {}};
  if (override_.match.empty())
    throw Error(map.where("match"), "an override needs a name pattern", "", "a pattern");
  override_.change = read_change(map);
  map.check_all_known();
  return override_;
}

/// A scale policy for a slot that has no scale would do nothing.
void require_scale(const SlotChange& change, const SlotPlan& slot, const std::string& where) {
  if (change.scale && (!slot.format || !slot.format->has_scale()))
    throw Error(where, "a scale policy for a slot without a scale", to_string(*change.scale), "none");
}

nlohmann::ordered_json slot_to_json(const SlotPlan& slot) {
  if (!slot.format) return {{"format", "unrounded"}};
  nlohmann::ordered_json json{{"format", to_spec(*slot.format)},
                              {"rounding", to_string(slot.rounding)},
                              {"overflow", to_string(slot.overflow)}};
  if (slot.format->has_scale()) json["scale"] = to_string(slot.scale);
  return json;
}

nlohmann::ordered_json change_to_json(const SlotChange& change) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (change.format) json["format"] = to_spec(*change.format);
  if (change.rounding) json["rounding"] = to_string(*change.rounding);
  if (change.overflow) json["overflow"] = to_string(*change.overflow);
  if (change.scale) json["scale"] = to_string(*change.scale);
  return json;
}

template <class Mode, std::size_t n>
std::string word_of(Mode mode, const std::array<std::string_view, n>& names) {
  return std::string(names[static_cast<std::size_t>(mode)]);
}

nlohmann::ordered_json change_to_json(const PlanOverride& override_) {
  const TensorChange& change = override_.change;
  nlohmann::ordered_json json{{"match", override_.match},
                              {"weights", change_to_json(change.weights)},
                              {"first_moment", change_to_json(change.first_moment)},
                              {"second_moment", change_to_json(change.second_moment)}};
  // What was not asked for is not written, so that a config keeps its key when the program learns more.
  const auto write = [&](const char* key, const SlotChange& slot) {
    if (!(slot == SlotChange{})) json[key] = change_to_json(slot);
  };
  write("gradient", change.gradient);
  write("accumulator", change.accumulator);
  write("residual", change.compensation_slot);
  if (change.compensation) json["compensation"] = word_of(*change.compensation, compensation_names);
  if (change.decay) json["decay"] = word_of(*change.decay, decay_placement_names);
  if (change.states_used) json["states_used"] = word_of(*change.states_used, states_used_names);
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
  if (map.has("placement"))
    parse_at(map.where("placement"), [&] { return apply_placement(map.text("placement", ""), plan); });
  const TensorChange change = read_change(map);
  change.apply_to(plan.base);
  require_scale(change.weights, plan.base.weights, map.path_of("weights"));
  require_scale(change.first_moment, plan.base.first_moment, map.path_of("first_moment"));
  require_scale(change.second_moment, plan.base.second_moment, map.path_of("second_moment"));
  require_scale(change.gradient, plan.base.gradient, map.path_of("gradient"));
  require_scale(change.accumulator, plan.base.accumulator, map.path_of("accumulator"));
  parse_at(parent.where(key), [&] { return plan.base.residual(); });
  // Vectors keep the format of the scheme, but round as the weights do.
  if (plan.weights_of_vectors) plan.weights_of_vectors->rounding = plan.base.weights.rounding;
  const YAML::Node overrides = map.node("overrides");
  for (std::size_t i = 0; overrides.IsSequence() && i < overrides.size(); ++i)
    plan.overrides.push_back(read_override(
        YamlMap(overrides[i], map.file(), map.path_of("overrides[" + std::to_string(i) + "]"))));
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
  const TensorPlan& base = plan.base;
  if (base.gradient != unrounded_slot) json["gradient"] = slot_to_json(base.gradient);
  if (base.accumulator != unrounded_slot) json["accumulator"] = slot_to_json(base.accumulator);
  if (base.compensation != Compensation::none) {
    json["compensation"] = word_of(base.compensation, compensation_names);
    json["residual"] = slot_to_json(*base.residual());
  }
  if (base.decay != DecayPlacement::fused) json["decay"] = word_of(base.decay, decay_placement_names);
  if (base.states_used != StatesUsed::unrounded) json["states_used"] = word_of(base.states_used, states_used_names);
  for (const PlanOverride& override_ : plan.overrides) json["overrides"].push_back(change_to_json(override_));
  return json;
}

}  // namespace halfulp
