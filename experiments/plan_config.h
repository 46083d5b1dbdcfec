#pragma once
#include <nlohmann/json.hpp>

#include "experiments/yaml_map.h"
#include "optimizers/plan.h"

namespace halfulp {

/// The plan under `key`: the name of a scheme, or a map
///   scheme: bf16/fp32
///   placement: torchao                    roundings as a named implementation places them, laid over the scheme
///   weights:       {format: SPEC, rounding: R, overflow: P, scale: S}     each part optional; so are
///   first_moment, second_moment, gradient, accumulator, residual          (the same)
///   compensation: none | kahan | collage_light | collage_plus
///   decay: fused | own_rounding
///   states_used: unrounded | rounded
///   overrides: [{match: "*norm*", weights: {...}, ...}, ...]              any of the above but scheme, placement
/// weight_rounding: of the weights where the plan does not say.
/// errors: throws Error naming file, key, what was given and what is allowed.
Plan parse_plan(YamlMap& parent, const std::string& key, Rounding weight_rounding);

/// The plan with every slot written out.
nlohmann::ordered_json to_json(const Plan& plan);

}  // namespace halfulp
