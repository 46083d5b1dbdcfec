#pragma once
#include <string>
#include <vector>

#include "optimizers/plan.h"

namespace halfulp {

/// Where a named implementation puts its roundings, laid over a scheme: a row of the table in placement.cpp.
/// Formats that depend on the scheme ("the parameter's type") are taken from the plan's weights.
/// errors: throws Error naming the placements.
void apply_placement(const std::string& name, Plan& plan);

/// Names of all placements.
std::vector<std::string> placement_names();

}  // namespace halfulp
