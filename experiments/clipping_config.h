#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/yaml_map.h"
#include "optimizers/gradient_clipping.h"

namespace halfulp {

/// The clipping under `key`: none, {norm: 1.0} or {growing: 1.0}; none where the key is absent. The number is max_norm.
/// errors: throws Error naming file, key, what was given and what is allowed.
GradientClipping parse_clipping(YamlMap& parent, const std::string& key);

/// What parse_clipping reads back.
nlohmann::ordered_json to_json(const GradientClipping& clipping);

}  // namespace halfulp
