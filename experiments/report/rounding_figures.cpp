#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/gap_figure.h"
#include "analysis/prediction.h"
#include "experiments/report/octave_counts.h"
#include "experiments/report/report_figure.h"
#include "experiments/report/stored_format.h"
#include "formats/error.h"

namespace halfulp {
namespace {

/// Octaves with fewer updates than this, or less than a millionth of all, show chance.
constexpr double fewest_updates = 100;

Series unchanged_series(const Group& group, std::size_t place) {
  Series series = series_like(group.label, place, group.label);
  if (series.style == SeriesStyle::marked_line) series.style = SeriesStyle::line_and_points;
  const Octaves updated = octaves_of(group, "updated"), stayed = octaves_of(group, "stayed");
  const double enough = std::max(fewest_updates, 1e-6 * updated.total());
  for (std::size_t i = 0; i < updated.counts.size() && i < stayed.counts.size(); ++i) {
    if (updated.counts[i] < enough) continue;
    series.x.push_back(std::ldexp(std::sqrt(2.0), updated.lowest + static_cast<int>(i)));
    series.y.push_back(stayed.counts[i] / updated.counts[i]);
  }
  return series;
}

/// The magnitude above which nearest_even freezes the rule's additive update at its peak rate; 0 where no
/// prediction applies.
double frozen_above(const Group& group) {
  const std::optional<ScalarFormat> format = plain_weight_format(group.config());
  const std::string spec = update_spec(group.config());
  if (!format || !rounds_to_nearest(group.config()) || spec.empty()) return 0;
  const UpdateSize update = parse_update(spec);
  return update.relative != 0 ? 0 : additive_thresholds(*format, 1, update.additive).frozen_above;
}

Figure octave_figure(const ProblemRuns& problem, const std::string& scheme) {
  Figure figure{fmt::format("share of updates rounded away, by size of the weight: {}, scheme {}",
                            problem.name, scheme),
                {"|w| (one point an octave)", AxisScale::log2},
                {"share unchanged", AxisScale::linear, 0.0, 1.02},
                {}};
  double low = INFINITY, high = 0;
  for (const Group* group : problem.best_of(scheme)) {
    Series series = unchanged_series(*group, figure.series.size());
    if (series.x.empty()) continue;
    low = std::min(low, series.x.front()), high = std::max(high, series.x.back());
    figure.series.push_back(std::move(series));
  }
  for (const Group* group : problem.best_of(scheme)) {
    const double threshold = frozen_above(*group);
    if (threshold >= low && threshold <= high)
      figure.series.push_back(marker_line(
          fmt::format("predicted: {} frozen above {:.4g} at its peak rate", group->label, threshold),
          threshold, 0, threshold, 1));
  }
  return figure;
}

Figure update_figure(const ProblemRuns& problem, const std::string& scheme) {
  Figure figure{fmt::format("size of the updates in half gaps: {}, scheme {}", problem.name, scheme),
                {"log2(|update| / half gap)"},
                {"share of updates in the bin", AxisScale::linear, 0.0, std::nullopt},
                {}};
  double top = 0;
  for (const Group* group : problem.best_of(scheme)) {
    const Octaves sizes = octaves_of(*group, "update_over_half_gap");
    const double total = sizes.total();
    if (total == 0) continue;
    Series series = series_like(group->label, figure.series.size(), group->label);
    if (series.style == SeriesStyle::marked_line) series.style = SeriesStyle::line_and_points;
    for (std::size_t i = 0; i < sizes.counts.size(); ++i) {
      series.x.push_back(sizes.lowest + static_cast<int>(i) + 0.5);
      series.y.push_back(sizes.counts[i] / total);
      top = std::max(top, series.y.back());
    }
    figure.series.push_back(std::move(series));
  }
  if (top > 0) figure.series.push_back(marker_line("threshold of nearest rounding", 0, 0, 0, top));
  return figure;
}

struct NamedUpdate {
  std::string spec;
  Series look;
};

/// The updates of a scheme's rules, each size once.
std::vector<NamedUpdate> updates_of(const std::vector<const Group*>& groups) {
  std::vector<NamedUpdate> updates;
  for (const Group* group : groups) {
    const std::string spec = update_spec(group->config());
    const bool known = std::any_of(updates.begin(), updates.end(),
                                   [&](const NamedUpdate& update) { return update.spec == spec; });
    if (!spec.empty() && !known) updates.push_back({spec, series_like(group->label, updates.size(), "")});
  }
  return updates;
}

/// One picture of a format with all updates, their lines drawn as the rules' lines are elsewhere.
std::optional<ReportFigure> gap_picture(const ProblemRuns& problem, const std::string& scheme) {
  const std::vector<const Group*> groups = problem.best_of(scheme);
  const std::vector<NamedUpdate> updates = updates_of(groups);
  const std::optional<BlockFormat> format = weight_format(groups.front()->config());
  double amax = 0;
  for (const Group* group : groups)
    if (group->rule != "lmd") amax = std::max(amax, largest_usual_magnitude(*group));
  if (!format || updates.empty() || (format->has_scale() && amax == 0)) return std::nullopt;
  const std::string spec = weight_spec(groups.front()->config());
  GapSubject subject;
  try {
    subject = gap_subject(spec, *format, amax);
  } catch (const Error&) {  // weights so small that their scale is zero have no gaps to draw
    return std::nullopt;
  }
  MagnitudeRange range = default_range({subject});
  if (amax > 0) range = {std::max(range.from, amax * 0x1p-16), std::min(range.to, amax * 4)};
  if (!(range.to > range.from)) range = default_range({subject});
  std::vector<UpdateSize> sizes;
  std::string command = fmt::format("halfulp gap {} --from {} --to {}", spec, range.from, range.to);
  if (format->has_scale()) command += fmt::format(" --amax {}", amax);
  for (const NamedUpdate& update : updates) {
    sizes.push_back(parse_update(update.spec));
    command += " --update " + update.spec;
  }
  Figure figure = gap_figure({subject}, sizes, range);
  for (std::size_t u = 0; u < sizes.size(); ++u)
    for (Series& series : figure.series)
      if (series.label == sizes[u].name + " update")
        series.colour = updates[u].look.colour, series.style = SeriesStyle::line;
  // Blue, the first colour of formats, is a rule's here: the format is grey and black.
  for (Series& series : figure.series)
    if (series.label.rfind(spec, 0) == 0) series.colour = series.style == SeriesStyle::thin_line ? 7 : 0;
  figure.title =
      fmt::format("gap (thin) and half gap (marked) of {}, and the updates of scheme {}", spec, scheme);
  return ReportFigure{
      file_stem(problem.name + "_" + scheme + "_gaps"),
      fmt::format(
          "Gaps between stored numbers of {}{} and the size of each rule's update at its peak rate, for "
          "a gradient as large as the rule expects. Where a rule's line is below the half gap, nearest "
          "rounding removes the update.",
          spec,
          format->has_scale()
              ? fmt::format(", under the scale of a block whose largest magnitude is {} (the upper end "
                            "of the highest octave that holds a thousandth of the elements)",
                            amax)
              : std::string()),
      "magnitude",
      "size",
      std::move(figure),
      command + " --out gaps.svg"};
}

}  // namespace

std::vector<ReportFigure> octave_figures(const ProblemRuns& problem) {
  std::vector<ReportFigure> figures;
  for (const std::string& scheme : problem.schemes()) {
    Figure figure = octave_figure(problem, scheme);
    if (figure.series.empty()) continue;
    figures.push_back(
        {file_stem(problem.name + "_" + scheme + "_unchanged"),
         "Of the updates to weights of each octave of |w|, the share that left the stored number "
         "as it was; all measured steps, seeds together, octaves with fewer than 100 updates left "
         "out. Theory: with updates of one size the "
         "share rises to 1 with |w|; with updates proportional to |w| it does not depend on |w|. For lmd |w| "
         "is the size of its stored parts.",
         "magnitude", "share_unchanged", std::move(figure)});
  }
  return figures;
}

std::vector<ReportFigure> update_figures(const ProblemRuns& problem) {
  std::vector<ReportFigure> figures;
  for (const std::string& scheme : problem.schemes()) {
    Figure figure = update_figure(problem, scheme);
    if (figure.series.empty()) continue;
    figures.push_back(
        {file_stem(problem.name + "_" + scheme + "_updates"),
         "How large the updates are, counted in half gaps of the stored format: left of the dashed "
         "line nearest rounding removes them, while stochastic rounding lets them through with a "
         "probability. The first and the last bin hold all that is smaller or larger.",
         "log2_update_over_half_gap", "share", std::move(figure)});
  }
  return figures;
}

std::vector<ReportFigure> gap_figures(const ProblemRuns& problem) {
  std::vector<ReportFigure> figures;
  for (const std::string& scheme : problem.schemes())
    if (auto figure = gap_picture(problem, scheme)) figures.push_back(std::move(*figure));
  return figures;
}

}  // namespace halfulp
