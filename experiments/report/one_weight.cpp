#include "experiments/report/one_weight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/gap.h"
#include "experiments/report/stored_format.h"
#include "experiments/report/text_canvas.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

constexpr double stuck_share = 0.95;

double final_weight(const Json& record) {
  const std::vector<double> final = numbers_at(record, "/final_weights");
  return final.size() == 1 ? final[0] : NAN;
}

/// Whether the numbers are equal or neighbours on the format's grid.
bool within_one_gap(const Json& record, double weight, double target) {
  if (weight == target) return true;
  const std::optional<ScalarFormat> format = plain_weight_format(record.at("config"));
  if (!format) return false;
  const double smaller = std::min(std::fabs(weight), std::fabs(target));
  return std::fabs(weight - target) <= gap_above(gap_stretches(*format, 1), smaller);
}

bool is_stuck_at_end(const Json& record) {
  if (number_at(record, "/measurements/changed_steps") == 0) return true;
  return number_at(record, "/measurements/last_tenth/stagnation/updated") > 0 &&
         number_at(record, "/measurements/last_tenth/stagnation/share") >= stuck_share;
}

/// Row and column names of one run.
std::string run_name(const ProblemRuns& problem, const Group& group, const Json& run) {
  std::string name = group.row_name();
  if (problem.schemes().size() > 1) name += " on " + group.scheme;
  if (group.runs.size() > 1) name += fmt::format(", seed {}", number_at(run, "/config/seed"));
  return name;
}

std::string drawing_of(const ProblemRuns& problem, const std::string& scheme) {
  std::vector<TextLine> lines;
  std::optional<WeightCase> known;
  for (const Group* group : problem.best_of(scheme)) {
    const WeightPath path = weight_path(*group->runs.front());
    if (path.step.empty() || lines.size() == 26) continue;
    known = weight_case(*group->runs.front());
    lines.push_back({static_cast<char>('a' + lines.size()), group->label, path.step, path.weight});
  }
  if (lines.empty() || !known) return "";
  const std::string drawing = draw_lines(lines, known->target, "target " + weight_text(known->target));
  if (drawing.empty()) return "";
  return fmt::format("weight against step, {} to {}, weights and states {}\n{}", weight_text(known->start),
                     weight_text(known->target), scheme, drawing);
}

}  // namespace

std::optional<WeightCase> weight_case(const Json& record) {
  const std::string name = record.at("config").at("problem").at("name").get<std::string>();
  const std::size_t colon = name.find(':'), arrow = name.find("->");
  if (colon != std::string::npos && arrow != std::string::npos && colon < arrow) {
    const std::string from = name.substr(colon + 1, arrow - colon - 1), to = name.substr(arrow + 2);
    char *from_end = nullptr, *to_end = nullptr;
    const WeightCase found{std::strtod(from.c_str(), &from_end), std::strtod(to.c_str(), &to_end)};
    if (!from.empty() && !to.empty() && *from_end == '\0' && *to_end == '\0') return found;
  }
  const WeightCase settings{number_at(record, "/config/problem/start"),
                            number_at(record, "/config/problem/target")};
  if (std::isnan(settings.start) || std::isnan(settings.target)) return std::nullopt;
  return settings;
}

WeightEnding weight_ending(const Json& record) {
  if (record.at("status") == "diverged")
    return {"diverged at " + record.value("diverged_at", Json("?")).dump(), false};
  const double weight = final_weight(record);
  const std::optional<WeightCase> known = weight_case(record);
  if (!std::isfinite(weight)) return {"no final weight recorded", false};
  const std::string at = weight_text(weight);
  if (!known) return {"ends at " + at, false};
  const double target = known->target;
  if (weight == target) return {"reaches " + at, true};
  if (within_one_gap(record, weight, target))
    return {"reaches " + at + (at == weight_text(target) ? "" : ", within one gap of " + weight_text(target)),
            true};
  if (weight == 0) return {"trapped at 0", false};
  const bool stuck = is_stuck_at_end(record);
  const bool crossing = known->start * target < 0;
  if (crossing && weight * target < 0)
    return {fmt::format("never crosses zero, {} at {}", stuck ? "stuck" : "ends", at), false};
  if (stuck) return {"stuck at " + at, false};
  return {fmt::format("ends at {}, {} from the target", at, weight_text(std::fabs(weight - target))), false};
}

Table one_weight_table(const std::vector<ProblemRuns>& problems) {
  Table table{{"start -> target", "rule", "final weight", "changed in", "verdict"}, {}, {0, 1, 4}};
  for (const ProblemRuns& problem : problems) {
    if (problem.kind != ProblemKind::one_weight) continue;
    for (const Group& group : problem.groups)
      for (const Json* run : group.runs) {
        const std::optional<WeightCase> known = weight_case(*run);
        const double changed = number_at(*run, "/measurements/changed_steps");
        const WeightEnding ending = weight_ending(*run);
        if (ending.reached) table.strong_rows.push_back(table.rows.size());
        table.rows.push_back({known ? fmt::format("{:g} -> {:g}", known->start, known->target) : problem.name,
                              run_name(problem, group, *run), weight_text(final_weight(*run)),
                              std::isnan(changed)
                                  ? "-"
                                  : fmt::format("{:g} of {:g}", changed, number_at(*run, "/config/steps")),
                              ending.verdict});
      }
  }
  return table;
}

WeightPath weight_path(const Json& record) {
  WeightPath path;
  const std::vector<double> steps = numbers_at(record, "/trace/step");
  const Json::json_pointer place("/trace/weights");
  if (!record.contains(place) || !record.at(place).is_array()) return path;
  const Json& rows = record.at(place);
  // The first row is the start, before step 1.
  for (std::size_t i = 0; i < rows.size() && i <= steps.size(); ++i) {
    const std::vector<double> weights = numbers_at(rows, "/" + std::to_string(i));
    if (weights.size() != 1) return {};
    path.step.push_back(i == 0 ? 0 : steps[i - 1]);
    path.weight.push_back(weights[0]);
  }
  return path;
}

std::string one_weight_drawing(const std::vector<ProblemRuns>& problems) {
  std::string first;
  for (const ProblemRuns& problem : problems) {
    if (problem.kind != ProblemKind::one_weight) continue;
    for (const std::string& scheme : problem.schemes()) {
      const bool wanted = problem.name == "quadratic_1d:4->3" && scheme.rfind("bf16", 0) == 0;
      if (!wanted && !first.empty()) continue;
      const std::string drawing = drawing_of(problem, scheme);
      if (wanted && !drawing.empty()) return drawing;
      if (first.empty()) first = drawing;
    }
  }
  return first;
}

}  // namespace halfulp
