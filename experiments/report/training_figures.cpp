#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/report/one_weight.h"
#include "experiments/report/report_figure.h"
#include "experiments/report/stored_format.h"

namespace halfulp {
namespace {

struct Curve {
  std::vector<double> step, value;
};

/// Mean over the seeds at each row of the trace, over those that got so far.
Curve mean_curve(const Group& group, const std::string& pointer) {
  Curve curve;
  std::vector<std::vector<double>> all;
  for (const auto* run : group.runs) {
    const std::vector<double> steps = numbers_at(*run, "/trace/step");
    all.push_back(numbers_at(*run, pointer));
    all.back().resize(std::min(all.back().size(), steps.size()));
    if (steps.size() > curve.step.size()) curve.step = steps;
  }
  for (std::size_t i = 0; i < curve.step.size(); ++i) {
    std::vector<double> here;
    for (const auto& values : all)
      if (i < values.size()) here.push_back(values[i]);
    curve.value.push_back(spread_of(here).mean);
  }
  return curve;
}

constexpr std::size_t rows_each_side = 2;

/// Centred mean over up to five rows, fewer at the ends.
void smooth(Curve& curve) {
  const std::vector<double> raw = curve.value;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const std::size_t reach = std::min({rows_each_side, i, raw.size() - 1 - i});
    curve.value[i] = spread_of({raw.begin() + static_cast<std::ptrdiff_t>(i - reach),
                                raw.begin() + static_cast<std::ptrdiff_t>(i + reach + 1)})
                         .mean;
  }
}

std::vector<Series> curves_of(const ProblemRuns& problem, const std::string& scheme,
                              const std::string& pointer, bool is_smooth) {
  std::vector<Series> all;
  for (const Group* group : problem.best_of(scheme)) {
    Curve curve = mean_curve(*group, pointer);
    if (is_smooth) smooth(curve);
    if (std::none_of(curve.value.begin(), curve.value.end(), [](double y) { return std::isfinite(y); }))
      continue;
    Series series = series_like(group->label, all.size(), group->label);
    series.x = std::move(curve.step);
    series.y = std::move(curve.value);
    all.push_back(std::move(series));
  }
  return all;
}

struct Range {
  double low = INFINITY, high = -INFINITY;
};

/// Of the positive finite values.
Range positive_range(const std::vector<Series>& all) {
  Range range;
  for (const Series& series : all)
    for (const double y : series.y)
      if (std::isfinite(y) && y > 0) range = {std::min(range.low, y), std::max(range.high, y)};
  return range;
}

/// Log from a factor of 30 on; a linear axis begins at zero, unless something lies below.
Axis size_axis(const std::string& label, const std::vector<Series>& all) {
  for (const Series& series : all)
    if (std::any_of(series.y.begin(), series.y.end(), [](double y) { return y < 0; }))
      return {label, AxisScale::linear, std::nullopt, std::nullopt};
  const Range range = positive_range(all);
  if (range.high > 30 * range.low) return {label, AxisScale::log10, std::nullopt, std::nullopt};
  return {label, AxisScale::linear, 0.0, std::nullopt};
}

/// What a linear axis of losses shows: the start of training and everything below 1.2 times that.
double loss_ceiling(const std::vector<Series>& all) {
  double start = 0;
  for (const Series& series : all)
    if (std::isfinite(series.y.front())) start = std::max(start, series.y.front());
  return 1.2 * start;
}

std::string weights_text(const ProblemRuns& problem, const std::string& scheme) {
  return fmt::format("{}, scheme {}", problem.name, scheme);
}

/// Whether all values differ by at most 1 %.
bool coincide(const Series& a, const Series& b) {
  if (a.y.size() != b.y.size()) return false;
  for (std::size_t i = 0; i < a.y.size(); ++i)
    if (!(std::fabs(a.y[i] - b.y[i]) <= 0.01 * std::max(std::fabs(a.y[i]), std::fabs(b.y[i])))) return false;
  return true;
}

/// Which lines cannot be seen because a later one lies on them.
std::string hidden_text(const std::vector<Series>& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = all.size(); j-- > i + 1;)
      if (coincide(all[i], all[j])) {
        text += (text.empty() ? " Hidden under another line (within 1 %): " : ", ") + all[i].label +
                " under " + all[j].label;
        break;
      }
  return text.empty() ? "" : text + ".";
}

/// The axis ends where the runs do.
Axis step_axis(const std::vector<Series>& all) {
  double last = 0;
  for (const Series& series : all)
    if (!series.x.empty()) last = std::max(last, series.x.back());
  return {"step", AxisScale::linear, 0.0, last > 0 ? std::optional(last) : std::nullopt};
}

ReportFigure loss_figure(const ProblemRuns& problem, const std::string& scheme, std::vector<Series> curves) {
  const bool is_model = problem.kind == ProblemKind::model;
  Axis y = size_axis("training loss", curves);
  std::string caption =
      fmt::format("Training loss of {} with weights and states stored as {}, {}.", problem.name, scheme,
                  is_model ? "on each row's mini-batch: mean over the seeds, smoothed by a "
                             "centred mean over 5 rows of the trace (fewer at the ends)"
                           : "mean over the seeds, not smoothed");
  caption += " A line that stays at the height of the start belongs to a rule that does not train." +
             hidden_text(curves);
  if (is_model) {
    y = {"training loss of the mini-batch", AxisScale::linear, 0.0, loss_ceiling(curves)};
    if (positive_range(curves).high > *y.to) caption += " What rises beyond 1.2 times the start is cut off.";
  }
  return {file_stem(problem.name + "_" + scheme + "_loss"),
          caption,
          "step",
          "loss",
          {"training loss: " + weights_text(problem, scheme), step_axis(curves), y, std::move(curves)}};
}

/// Values over the first one.
void relate_to_start(std::vector<Series>& all) {
  for (Series& series : all) {
    const double first = series.y.front();
    for (double& y : series.y) y /= first;
  }
}

std::vector<Series> weight_curves(const ProblemRuns& problem, const std::string& scheme) {
  std::vector<Series> all;
  for (const Group* group : problem.best_of(scheme)) {
    const auto& run = *group->runs.front();
    const WeightPath path = weight_path(run);
    if (path.step.size() < 2) continue;
    Series series = series_like(group->label, all.size(), group->label + ": " + weight_ending(run).verdict);
    series.x = path.step;
    series.y = path.weight;
    all.push_back(std::move(series));
  }
  return all;
}

ReportFigure growth_figure(const ProblemRuns& problem, const std::string& scheme, std::vector<Series> rms) {
  return {
      file_stem(problem.name + "_" + scheme + "_rms"),
      "Root mean square of the weights, over its value at the first row of the trace (mean over the seeds). "
      "Growth that the same rule does not show in fp32 comes from the format, for instance from a scale that "
      "follows the largest weight and drags the others along." +
          hidden_text(rms),
      "step",
      "rms_over_first",
      {"growth of the weights: " + weights_text(problem, scheme), step_axis(rms),
       size_axis("rms of the weights / first row", rms), rms}};
}

ReportFigure zeros_figure(const ProblemRuns& problem, const std::string& scheme, std::vector<Series> zeros) {
  return {file_stem(problem.name + "_" + scheme + "_zeros"),
          "Share of stored numbers that are zero (mean over the seeds; for lmd of its two parts). A rising "
          "line is "
          "a sink: rounding puts numbers at zero faster than the rule takes them out." +
              hidden_text(zeros),
          "step",
          "zero_share",
          {"numbers stored as zero: " + weights_text(problem, scheme),
           step_axis(zeros),
           {"share stored as zero", AxisScale::linear, 0.0, std::nullopt},
           zeros}};
}

}  // namespace

std::vector<ReportFigure> weight_figures(const std::vector<ProblemRuns>& problems) {
  std::vector<ReportFigure> figures;
  for (const ProblemRuns& problem : problems) {
    if (problem.kind != ProblemKind::one_weight) continue;
    for (const std::string& scheme : problem.schemes()) {
      std::vector<Series> curves = weight_curves(problem, scheme);
      if (curves.empty()) continue;
      double last = 0;
      for (const Series& series : curves) last = std::max(last, series.x.back());
      const std::optional<WeightCase> known = weight_case(*problem.groups.front().runs.front());
      std::string title = problem.name, caption = "One weight against the step";
      if (known) {
        title =
            fmt::format("one weight from {} to {}", weight_text(known->start), weight_text(known->target));
        caption = fmt::format("One weight that starts at {} and should reach {} (dashed)",
                              weight_text(known->start), weight_text(known->target));
        curves.insert(curves.begin(), marker_line("target " + weight_text(known->target), 0, known->target,
                                                  last, known->target));
      }
      caption += ", every number stored as scheme " + scheme +
                 " says; the legend says how each rule ended. Only a line that meets the dashed one is a "
                 "success.";
      figures.push_back({file_stem(problem.name + "_" + scheme + "_weight"),
                         caption,
                         "step",
                         "weight",
                         {title + ", scheme " + scheme, step_axis(curves), {"weight"}, std::move(curves)}});
    }
  }
  return figures;
}

std::vector<ReportFigure> loss_figures(const ProblemRuns& problem) {
  std::vector<ReportFigure> figures;
  for (const std::string& scheme : problem.schemes()) {
    std::vector<Series> curves =
        curves_of(problem, scheme, "/trace/loss", problem.kind == ProblemKind::model);
    if (!curves.empty()) figures.push_back(loss_figure(problem, scheme, std::move(curves)));
  }
  return figures;
}

std::vector<ReportFigure> drift_figures(const ProblemRuns& problem) {
  std::vector<ReportFigure> figures;
  for (const std::string& scheme : problem.schemes()) {
    std::vector<Series> rms = curves_of(problem, scheme, "/trace/rms", false);
    relate_to_start(rms);
    if (positive_range(rms).high >= 2) figures.push_back(growth_figure(problem, scheme, std::move(rms)));
    std::vector<Series> zeros = curves_of(problem, scheme, "/trace/zero_share", false);
    if (positive_range(zeros).high >= 0.01)
      figures.push_back(zeros_figure(problem, scheme, std::move(zeros)));
  }
  return figures;
}

}  // namespace halfulp
