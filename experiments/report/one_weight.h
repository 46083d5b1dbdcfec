#pragma once
#include <optional>
#include <string>
#include <vector>

#include "experiments/report/groups.h"
#include "experiments/report/table.h"

namespace halfulp {

/// Where the one weight of a run starts and where the loss is smallest.
struct WeightCase {
  double start, target;
};

/// From a problem's name "quadratic_1d:4->3", else from its settings `start` and `target`; nullopt if neither
/// says.
std::optional<WeightCase> weight_case(const nlohmann::ordered_json& record);

/// How one run with one weight ended.
struct WeightEnding {
  std::string verdict;  ///< "stuck at 4.0", "trapped at 0", "never crosses zero, ...", "reaches 3.0", ...
  bool reached;         ///< the target, or a number at most one gap of the stored format away from it
};

/// By stated rules, the first that applies: diverged at N; reaches the target (exactly, or within one gap of
/// a format without scales); trapped at 0; never crosses zero though the target is beyond it; stuck (no step
/// changed it, or in the last tenth of the steps at least 95 % of the updates were rounded away); else where
/// it ended and how far from the target.
WeightEnding weight_ending(const nlohmann::ordered_json& record);

/// Rows start -> target, rule: final weight, steps that changed it, verdict.
Table one_weight_table(const std::vector<ProblemRuns>& problems);

/// The weight against the step: x from 0, as far as the trace has it.
struct WeightPath {
  std::vector<double> step, weight;
};
WeightPath weight_path(const nlohmann::ordered_json& record);

/// The character drawing of the case 4 -> 3 in BF16 if there is one, else of the first case; "" if no run has
/// a trace of its weight.
std::string one_weight_drawing(const std::vector<ProblemRuns>& problems);

}  // namespace halfulp
