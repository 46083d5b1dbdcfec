#pragma once
#include <string>
#include <vector>

#include "experiments/report/groups.h"

namespace halfulp {

/// The report for a terminal: tables, the drawing of one weight, sentences.
std::string terminal_report(const RecordSet& set, const std::vector<ProblemRuns>& problems);

/// The sentences about one problem, or about all single weights.
struct NamedFindings {
  std::string name;
  std::vector<std::string> sentences;
};

/// All sentences: the models first, then the single weights and the toy problems.
std::vector<NamedFindings> all_findings(const std::vector<ProblemRuns>& problems);

/// Lines of at most `columns` characters, broken at spaces, all but the first indented by two.
std::string wrapped(const std::string& text, std::size_t columns);

}  // namespace halfulp
