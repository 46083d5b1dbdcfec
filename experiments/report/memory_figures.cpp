#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/report/report_figure.h"

// Pictures of what is remembered of every element from step to step, or taken apart by micro-batches: measured on demand
// (measure: {dwell: ..., harmful_window: ...}, micro_batches: ...).
namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

/// The entries, one a tensor and weight slot, of a measurement of a group's first seed.
const Json* entries_of(const Group& group, const char* pointer) {
  const Json& run = *group.runs.front();
  const Json::json_pointer at(pointer);
  return run.contains(at) && run.at(at).is_array() ? &run.at(at) : nullptr;
}

std::string label_of(const Group& group, const Json& entry, std::size_t entries) {
  std::string label = group.row_name() + ", " + group.scheme;
  if (entries > 1) label += ", " + entry.at("tensor").get<std::string>();
  if (entry.at("weight_slot").get<std::size_t>() > 0)
    label += fmt::format(" part {}", entry.at("weight_slot").get<std::size_t>() + 1);
  return label;
}

/// One line for each entry of each group.
template <class LineOf>
std::vector<RunLine> lines_of(const ProblemRuns& problem, const char* pointer, LineOf line_of) {
  std::vector<RunLine> lines;
  for (const Group& group : problem.groups)
    if (const Json* entries = entries_of(group, pointer))
      for (const Json& entry : *entries)
        lines.push_back(line_of(entry, label_of(group, entry, entries->size())));
  return lines;
}

/// Share of harmful elements in each window, at the step that ends it.
RunLine harmful_line(const Json& entry, std::string label) {
  RunLine line{std::move(label), {}, numbers_at(entry, "/harmful_share")};
  for (std::size_t i = 0; i < line.y.size(); ++i)
    line.x.push_back(entry.at("window").get<double>() * static_cast<double>(i + 1));
  return line;
}

/// Of the dwells near zero, finished or not, the share that lasts at least 1, 2, 4, ... steps.
RunLine dwell_line(const Json& entry, std::string label) {
  std::vector<double> counts = numbers_at(entry, "/near_zero/finished/counts");
  const std::vector<double> open = numbers_at(entry, "/near_zero/unfinished/counts");
  for (std::size_t i = 0; i < std::min(counts.size(), open.size()); ++i) counts[i] += open[i];
  RunLine line{std::move(label), {}, {}};
  double all = 0;
  for (const double count : counts) all += count;
  double left = all;
  for (std::size_t i = 0; i < counts.size() && left > 0; ++i) {
    line.x.push_back(std::ldexp(1.0, static_cast<int>(i)));
    line.y.push_back(left / all);
    left -= counts[i];
  }
  return line;
}

/// The trace of one tensor's gradient variance.
std::vector<RunLine> variance_lines(const ProblemRuns& problem) {
  constexpr std::string_view prefix = "gradient_variance ";
  std::vector<RunLine> lines;
  for (const Group& group : problem.groups) {
    const Json& run = *group.runs.front();
    if (!run.contains("trace")) continue;
    for (const auto& [name, column] : run.at("trace").items()) {
      if (!name.starts_with(prefix)) continue;
      RunLine line{group.row_name() + ", " + group.scheme + ", " + name.substr(prefix.size()),
                   numbers_at(run, "/trace/step"), numbers_at(column, "")};
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace

std::vector<ReportFigure> memory_figures(const ProblemRuns& problem) {
  std::vector<ReportFigure> figures;
  const auto draw = [&](const LineFigure& words, std::vector<RunLine> lines) {
    if (auto figure = figure_of_lines(problem, words, std::move(lines)))
      figures.push_back(std::move(*figure));
  };
  draw({"harmful_share",
        "stagnation that harms",
        {"step", AxisScale::linear, 0.0},
        {"share of the updated elements", AxisScale::linear, 0.0},
        "Share of the elements that never moved in a window of steps although their updates add up to more "
        "than half a "
        "gap; at the step that ends the window.",
        0.01},
       lines_of(problem, "/measurements/harmful_stagnation", harmful_line));
  draw({"dwell",
        "how long elements dwell near zero",
        {"steps", AxisScale::log2},
        {"share of dwells that last as long", AxisScale::linear, 0.0, 1.0},
        "Of the dwells at or below the smallest positive number, under gradients that are not zero, the "
        "share that lasts "
        "at least so many steps; those that had not ended count with their length so far.",
        0.0},
       lines_of(problem, "/measurements/dwell", dwell_line));
  draw({"gradient_variance",
        "gradient variance",
        {"step", AxisScale::linear, 0.0},
        {"variance / |mean|^2", AxisScale::log10},
        "Variance of a tensor's gradient over the micro-batches of a step, at fixed weights, over the "
        "squared norm of "
        "its mean.",
        0},
       variance_lines(problem));
  return figures;
}

}  // namespace halfulp
