#pragma once
#include <vector>

#include "formats/overflow.h"
#include "formats/rounding.h"

namespace halfulp {

// What there is to try: every way to round, and every way to treat what a format does not have.

std::vector<Rounding> deterministic_roundings();

/// Every stochastic mode with 1, 3, 8, 16 and 32 random bits; stochastic_equal has one.
std::vector<Rounding> stochastic_roundings();

/// Both.
std::vector<Rounding> all_roundings();

/// Every policy, everything else by its plain use.
std::vector<SpecialValues> all_policies();

/// Every policy with each value of each switch, and under `saturate` and `ocp` each two of them together.
std::vector<SpecialValues> all_special_values();

}  // namespace halfulp
