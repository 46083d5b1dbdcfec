#pragma once
#include <nlohmann/json.hpp>

#include "analysis/step_counters.h"

namespace halfulp {

/// The counters of some steps as the record keeps them: shares beside the counts they come from.
nlohmann::ordered_json to_json(const CounterProbe& probe);

}  // namespace halfulp
