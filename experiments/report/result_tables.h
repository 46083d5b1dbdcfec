#pragma once
#include <string>
#include <vector>

#include "experiments/report/groups.h"
#include "experiments/report/table.h"

namespace halfulp {

/// Rows of one scheme: a rule's losses and what rounding did to it, means over seeds; the smallest loss is
/// strong.
Table model_table(const ProblemRuns& problem, const std::string& scheme);

/// What its columns mean.
extern const char* const model_table_key;

/// What each tensor lost under the best setting of each rule, where there are several tensors: a row for each scheme,
/// rule and tensor.
Table tensor_table(const ProblemRuns& problem);
extern const char* const tensor_table_key;

/// Rows scheme and rule of one toy problem.
Table toy_table(const ProblemRuns& problem);
extern const char* const toy_table_key;

/// Settings of each rule and scheme: rates, formats, rounding, steps, schedule, seeds.
Table settings_table(const ProblemRuns& problem);

/// Key, what was run, status, hash of the stored bytes, commit: one row a record.
Table record_table(const RecordSet& set);

/// "diverged at 120, 133"; "" if no run did.
std::string divergence_text(const Group& group);

}  // namespace halfulp
