#pragma once
#include <nlohmann/json.hpp>

#include "analysis/dwell.h"
#include "analysis/harmful_stagnation.h"
#include "analysis/state_twin_gap.h"
#include "analysis/step_counters.h"
#include "emulation/registry.h"

namespace halfulp {

/// The counters of some steps as the record keeps them: shares beside the counts they come from.
nlohmann::ordered_json to_json(const CounterProbe& probe);

/// The shares of one tensor among several: a row of a table.
nlohmann::ordered_json summary_to_json(const CounterProbe& probe);

/// Dwell times and harmful windows, by tensor (and weight slot, where there are several).
nlohmann::ordered_json to_json(const DwellProbe& probe, const std::vector<TensorInfo>& tensors);
nlohmann::ordered_json to_json(const HarmfulStagnationProbe& probe, const std::vector<TensorInfo>& tensors);

nlohmann::ordered_json to_json(const StateTwinGap& gap);

}  // namespace halfulp
