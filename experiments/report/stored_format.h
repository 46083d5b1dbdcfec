#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "analysis/gap.h"

namespace halfulp {

/// What a recorded config says about stored weights and the size of updates.

/// Spec of the format that weights are stored in; "" where they are not rounded.
std::string weight_spec(const nlohmann::ordered_json& config);

/// That format; nullopt where weights are not rounded, or this build does not know the spec.
std::optional<BlockFormat> weight_format(const nlohmann::ordered_json& config);

/// The same, only if it is a format of fields without a scale.
std::optional<ScalarFormat> plain_weight_format(const nlohmann::ordered_json& config);

/// Whether weights are rounded to nearest_even, which the predictions are about.
bool rounds_to_nearest(const nlohmann::ordered_json& config);

/// Size of the rule's update at its peak rate, as `halfulp gap --update` takes it ("adamw=0.01"); "" for a
/// rule whose update is neither.
std::string update_spec(const nlohmann::ordered_json& config);

/// The rates of the rule: "eta 0.01", "eta_a 0.003, eta_m 0.01".
std::string rates_text(const nlohmann::ordered_json& config);

}  // namespace halfulp
