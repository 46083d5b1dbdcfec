#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/report/report_figure.h"

namespace halfulp {
namespace {

/// One failure as a column of the trace.
struct Column {
  const char* name;
  const char* title;
  const char* axis;
  const char* caption;
  double shows_from;  ///< drawn where a line reaches this
  AxisScale scale;
};

constexpr Column columns[] = {
    {"scale_growth", "scales that run away", "growth by scales alone",
     "Factor by which weights without an outward update grew, through their scales alone. 1 is right; a "
     "scale that "
     "follows the largest weight drags the others along.",
     1.05, AxisScale::log10},
    {"ceiling_trapped", "maxima at the ceiling", "share held at the end of the format",
     "Share of the elements that want to grow beyond the largest number of their block and are stored where "
     "they were.",
     0.01, AxisScale::linear},
    {"trapped_share", "trapped near zero", "share trapped",
     "Share of the elements that have a gradient and stay at or below the smallest positive number of their "
     "block.",
     0.05, AxisScale::linear},
    {"refused_flips", "refused sign flips", "share of wanted flips refused",
     "Share of the wanted sign changes after which the stored sign is what it was.", 0.05, AxisScale::linear},
    {"exploding", "exploding steps", "share of updates beyond ten usual ones",
     "Share of the updates that exceed ten times what a step of the rule usually is: a second moment stored "
     "as zero "
     "divides by epsilon.",
     1e-4, AxisScale::linear},
    {"decay_lost", "lost weight decay", "share of elements whose decay had no effect",
     "Share of the elements that are stored as they would be without weight decay.", 0.05, AxisScale::linear},
    {"frozen v", "frozen second moments", "share of wanted changes rounded away",
     "Share of the changes of the second moment that storing rounds away.", 0.05, AxisScale::linear},
    {"twin_distance", "distance to the double twin", "|w - twin| / |twin|",
     "Relative distance of the stored weights to a twin in double that sees the same gradients.", 1e-3,
     AxisScale::log10},
    {"log_deviation", "spread of the weights", "standard deviation of ln |w|",
     "Standard deviation of the logarithms of the weights that are not zero, that is of the log-normal "
     "fitted to them.",
     0.01, AxisScale::linear},
};

constexpr std::size_t most_lines = 8;

double largest_of(const RunLine& line) {
  double largest = 0;
  for (const double y : line.y)
    if (std::isfinite(y)) largest = std::max(largest, y);
  return largest;
}

/// A column of a group's first seed: a mean over seeds would hide when it happens.
RunLine line_of(const Group& group, const Column& column) {
  const auto& run = *group.runs.front();
  return {group.row_name() + ", " + group.scheme, numbers_at(run, "/trace/step"),
          numbers_at(run, std::string("/trace/") + column.name)};
}

}  // namespace

std::optional<ReportFigure> figure_of_lines(const ProblemRuns& problem, const LineFigure& words,
                                            std::vector<RunLine> lines) {
  for (RunLine& line : lines) {
    line.x.resize(std::min(line.x.size(), line.y.size()));
    line.y.resize(line.x.size());
  }
  std::erase_if(lines, [&](const RunLine& line) {
    // On a log axis only what is above zero can be drawn.
    const bool can_be_drawn =
        words.y.scale == AxisScale::linear
            ? std::any_of(line.y.begin(), line.y.end(), [](double y) { return std::isfinite(y); })
            : largest_of(line) > 0;
    return line.x.size() < 2 || !can_be_drawn;
  });
  std::stable_sort(lines.begin(), lines.end(),
                   [](const RunLine& a, const RunLine& b) { return largest_of(a) > largest_of(b); });
  if (lines.empty() || largest_of(lines.front()) < words.shows_from) return std::nullopt;
  const std::size_t all = lines.size();
  if (all > most_lines) lines.resize(most_lines);
  std::vector<Series> series;
  for (std::size_t i = 0; i < lines.size(); ++i)
    // Colour and dash by place: lines of one rule on several schemes would look alike.
    series.push_back({std::move(lines[i].label), SeriesStyle::line, static_cast<int>(1 + i % 7),
                      static_cast<int>(i % 5), std::move(lines[i].x), std::move(lines[i].y)});
  std::string caption = words.caption;
  if (all > most_lines)
    caption += fmt::format(" The {} of {} runs with the largest values.", most_lines, all);
  return ReportFigure{file_stem(problem.name + "_" + words.name),
                      caption + " First seed.",
                      file_stem(words.x.label),
                      file_stem(words.name),
                      {words.title + ": " + problem.name, words.x, words.y, std::move(series)}};
}

std::vector<ReportFigure> trace_figures(const ProblemRuns& problem) {
  std::vector<ReportFigure> figures;
  for (const Column& column : columns) {
    std::vector<RunLine> lines;
    for (const Group& group : problem.groups) lines.push_back(line_of(group, column));
    const std::optional<double> from = column.scale == AxisScale::linear ? std::optional(0.0) : std::nullopt;
    auto figure = figure_of_lines(problem,
                                  {column.name,
                                   column.title,
                                   {"step", AxisScale::linear, 0.0, std::nullopt},
                                   {column.axis, column.scale, from, std::nullopt},
                                   column.caption,
                                   column.shows_from},
                                  std::move(lines));
    if (figure) figures.push_back(std::move(*figure));
  }
  return figures;
}

}  // namespace halfulp
