#pragma once
#include <string>
#include <vector>

#include "emulation/registry.h"
#include "optimizers/any_rule.h"
#include "optimizers/plan.h"

namespace halfulp {

/// Every point of one step at which a number of this tensor is rounded to a storage format, in order, in
/// words; and what is computed without such a rounding between them.
/// number_type: of the rule, for example "float32"
/// errors: throws Error where the plan's compensation cannot serve (TensorPlan::residual).
std::vector<std::string> rounding_points(const AnyRule& rule, const TensorPlan& plan,
                                         const TensorInfo& tensor, const std::string& number_type);

}  // namespace halfulp
