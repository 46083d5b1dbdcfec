#pragma once
#include <string>
#include <vector>

#include "experiments/report/groups.h"

namespace halfulp {

/// The report for a terminal: tables, the drawing of one weight, sentences.
std::string terminal_report(const RecordSet& set, const std::vector<ProblemRuns>& problems);

/// All sentences: of the single weights, the toy problems and the models.
std::vector<std::string> all_findings(const std::vector<ProblemRuns>& problems);

/// Lines of at most `columns` characters, broken at spaces, all but the first indented by two.
std::string wrapped(const std::string& text, std::size_t columns);

}  // namespace halfulp
