#include "experiments/report/failure_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace halfulp {
namespace {

/// A failure, read off one number of the record.
struct Failure {
  const char* name;
  const char* pointer;  ///< below /measurements/all
  double threshold;
  bool is_high;  ///< whether it fails above the threshold, else below
};

// Shares of elements and steps; growth is a factor. The thresholds are ours: a tenth of the elements, half of what was
// wanted, a doubling.
constexpr std::array<Failure, 8> failures{{
    {"loses movement", "delivery/ratio", 0.5, false},
    {"trapped", "trapping/trapped_share", 0.1, true},
    {"flips refused", "sign_flips/refused_share", 0.5, true},
    {"scales run away", "scale_runaway/growth", 2, true},
    {"ceiling", "ceiling_trap/trapped_share", 0.01, true},
    {"explodes", "exploding_steps/share", 0.001, true},
    {"second moment frozen", "states/v/frozen_share", 0.5, true},
    {"wrong sign", "", 0.1, true},
}};

double value_of(const ProblemRuns& problem, const Group& group, const Failure& failure) {
  if (*failure.pointer != '\0') return group.mean(std::string("/measurements/all/") + failure.pointer);
  // Signs that fp32 does not bring over in the same steps either are no failure of the format.
  const double own = group.mean("/signs/failure");
  const Group* reference = group.scheme == "fp32" ? nullptr : problem.in_fp32(group);
  return reference ? own - reference->mean("/signs/failure") : own;
}

bool is_worse(const Failure& failure, double a, double b) { return failure.is_high ? a > b : a < b; }

std::string value_text(const Failure& failure, double value) {
  return std::string(failure.pointer) == "scale_runaway/growth" ? fmt::format("x{:.3g}", value) : share_text(value);
}

std::vector<std::string> all_schemes(const std::vector<ProblemRuns>& problems) {
  std::vector<std::string> names;
  for (const ProblemRuns& problem : problems)
    for (const std::string& scheme : problem.schemes())
      if (std::find(names.begin(), names.end(), scheme) == names.end()) names.push_back(scheme);
  return names;
}

/// Labels in the order of their first group.
std::vector<std::string> all_labels(const std::vector<ProblemRuns>& problems) {
  std::vector<std::string> labels;
  for (const ProblemRuns& problem : problems)
    for (const Group& group : problem.groups)
      if (std::find(labels.begin(), labels.end(), group.label) == labels.end()) labels.push_back(group.label);
  return labels;
}

std::string cell(const std::vector<ProblemRuns>& problems, const std::string& scheme, const std::string& label) {
  std::string text;
  bool was_run = false;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const ProblemRuns& problem : problems)
    for (const Group* group : problem.best_of(scheme)) {
      if (group->label != label) continue;
      was_run = true;
      if (!group->diverged_at().empty()) add("diverges (" + problem.name + ")");
    }
  for (const Failure& failure : failures) {
    double worst = NAN;
    std::string where;
    for (const ProblemRuns& problem : problems)
      for (const Group* group : problem.best_of(scheme)) {
        if (group->label != label) continue;
        const double value = value_of(problem, *group, failure);
        if (!std::isfinite(value) || !is_worse(failure, value, failure.threshold)) continue;
        if (std::isfinite(worst) && !is_worse(failure, value, worst)) continue;
        worst = value;
        where = problem.name;
      }
    if (std::isfinite(worst)) add(fmt::format("{} {} ({})", failure.name, value_text(failure, worst), where));
  }
  return was_run ? (text.empty() ? "none" : text) : "-";
}

}  // namespace

const char* const failure_table_key =
    "Failures of each rule's best setting, worst problem in brackets. Loses movement: <movement, update> / |update|^2 "
    "below 0.5. Trapped: more than 0.1 of the elements stay at or below the smallest positive number with a gradient. "
    "Flips refused: more than half of the wanted sign changes. Scales run away: weights without an outward update at "
    "least doubled by their scales alone. Ceiling: more than 0.01 of the elements are held at the end of their format. "
    "Explodes: more than 0.001 of the updates exceed ten usual ones. Second moment frozen: more than half of its wanted "
    "changes are rounded away. Wrong sign: more than 0.1 of those that had to change their sign did not; on other schemes "
    "than fp32, that share less the same rule's in fp32. \"none\" means none of these; \"-\" was not run.";

Table failure_table(const std::vector<ProblemRuns>& problems) {
  std::vector<ProblemRuns> some;
  for (const ProblemRuns& problem : problems)
    if (problem.kind != ProblemKind::one_weight) some.push_back(problem);
  Table table{{"rule"}, {}, {0}};
  const std::vector<std::string> schemes = all_schemes(some);
  for (std::size_t i = 0; i < schemes.size(); ++i) {
    table.header.push_back(schemes[i]);
    table.word_columns.push_back(i + 1);
  }
  for (const std::string& label : all_labels(some)) {
    std::vector<std::string> row{label};
    for (const std::string& scheme : schemes) row.push_back(cell(some, scheme, label));
    table.rows.push_back(row);
  }
  return table;
}

Table best_table(const ProblemRuns& problem) {
  Table table{{"rule"}, {}, {0}};
  const std::vector<std::string> schemes = problem.schemes();
  std::map<std::string, double> smallest;
  for (const std::string& scheme : schemes) {
    table.header.push_back(scheme);
    smallest[scheme] = INFINITY;
    for (const Group* group : problem.best_of(scheme))
      smallest[scheme] = std::min(smallest[scheme], group->judged_loss(problem.split));
  }
  for (const std::string& label : all_labels({problem})) {
    std::vector<std::string> row{label};
    for (const std::string& scheme : schemes) {
      std::string text = "-";
      for (const Group* group : problem.best_of(scheme))
        if (group->label == label) {
          const double loss = group->judged_loss(problem.split);
          text = std::isfinite(loss) ? spread_text(group->spread("/result/" + problem.split + "/loss")) : "diverged";
          if (loss == smallest[scheme]) text += "*";
        }
      row.push_back(text);
    }
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace halfulp
