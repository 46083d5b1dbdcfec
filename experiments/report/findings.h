#pragma once
#include <string>
#include <vector>

#include "experiments/report/groups.h"

namespace halfulp {

/// Plain sentences that state what the records of one problem say, each by a fixed rule from the numbers
/// alone. "Beyond seed noise" means that a difference of means exceeds the standard deviation that both
/// groups share, sqrt((a^2 + b^2) / 2). Every rule enters with its best setting; a rule of which any seed diverged
/// ranks behind all others.
std::vector<std::string> findings(const ProblemRuns& problem);

/// The same for all problems with one weight together.
std::vector<std::string> one_weight_findings(const std::vector<ProblemRuns>& problems);

}  // namespace halfulp
