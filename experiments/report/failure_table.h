#pragma once
#include "experiments/report/groups.h"
#include "experiments/report/table.h"

namespace halfulp {

/// Which rule fails how, where: a row for each rule, a column for each scheme, in a cell the failures that its best
/// setting shows beyond fixed thresholds on any of these problems, each with its worst value and the problem.
Table failure_table(const std::vector<ProblemRuns>& problems);

/// The thresholds, in words.
extern const char* const failure_table_key;

/// Loss of the best setting of each rule (rows) on each scheme (columns), mean+-standard deviation over the seeds, the
/// smallest of a scheme marked with a star.
Table best_table(const ProblemRuns& problem);

}  // namespace halfulp
