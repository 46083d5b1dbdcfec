#pragma once
#include "experiments/report/groups.h"
#include "experiments/report/table.h"

namespace halfulp {

/// What follows from format, rule and rate alone (analysis/prediction.h), beside what was counted: where
/// additive updates freeze, below which relative update nothing moves, where a single weight must stop, and
/// which moving averages freeze. Predictions are for nearest_even, formats without a scale, and updates of
/// the peak rate's size; others get no row.
Table prediction_table(const std::vector<ProblemRuns>& problems);

}  // namespace halfulp
