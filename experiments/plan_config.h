#pragma once
#include <nlohmann/json.hpp>

#include "experiments/yaml_map.h"
#include "optimizers/plan.h"

namespace halfulp {

/// The plan under `key`: the name of a scheme, or a map
///   scheme: bf16/fp32
///   weights:       {format: SPEC, rounding: R, overflow: P, scale: S}     each part optional; so are
///   first_moment:  {...}                                                   these three
///   second_moment: {...}
///   overrides: [{match: "*norm*", weights: {...}, ...}, ...]
/// weight_rounding: of the weights where the plan does not say.
/// errors: throws Error naming file, key, what was given and what is allowed.
Plan parse_plan(YamlMap& parent, const std::string& key, Rounding weight_rounding);

/// The plan with every slot written out.
nlohmann::ordered_json to_json(const Plan& plan);

}  // namespace halfulp
