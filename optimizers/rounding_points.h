#pragma once
#include <string>
#include <vector>

#include "emulation/registry.h"
#include "optimizers/any_rule.h"
#include "optimizers/plan.h"

namespace halfulp {

/// Every point of one step at which a number of this tensor is rounded to a storage format, in order, in
/// words; and what is computed without such a rounding between them.
std::vector<std::string> rounding_points(const AnyRule& rule, const TensorPlan& plan,
                                         const std::string& number_type);

/// Stored bytes per parameter of a tensor: weight slots and states, scales included.
/// number_bytes: of the rule's number type, for unrounded slots
struct StoredBytes {
  double weights = 0, states = 0;
};
StoredBytes bytes_per_parameter(const AnyRule& rule, const TensorPlan& plan, const TensorInfo& tensor,
                                int number_bytes);

}  // namespace halfulp
