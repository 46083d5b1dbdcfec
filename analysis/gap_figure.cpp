#include "analysis/gap_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/prediction.h"
#include "formats/block.h"
#include "formats/error.h"

namespace halfulp {
namespace {

/// Black is left to the updates.
int colour_of(std::size_t subject) { return 1 + static_cast<int>(subject % 7); }

Series gap_series(const GapSubject& subject, const MagnitudeRange& range, double part, int colour) {
  const bool whole = part == 1;
  Series series{subject.name + (whole ? " gap" : " half gap"),
                whole ? SeriesStyle::thin_line : SeriesStyle::marked_line,
                colour,
                whole ? 0 : colour,
                {},
                {},
                !whole};
  for (const GapStretch& stretch : gap_stretches(subject.element, subject.scale)) {
    const double from = std::max(stretch.from, range.from), to = std::min(stretch.to, range.to);
    if (from >= to) continue;
    series.x.insert(series.x.end(), {from, to});
    series.y.insert(series.y.end(), {part * stretch.gap, part * stretch.gap});
  }
  return series;
}

/// Four points a binade: a sum of a constant and a proportional part is curved on log axes, and is drawn
/// within 1 %.
Series update_series(const UpdateSize& update, const MagnitudeRange& range, int order) {
  Series series{update.name + " update", SeriesStyle::thin_line, 0, 1 + order, {}, {}};
  const bool curved = update.additive != 0 && update.relative != 0;
  const auto append = [&](double x) {
    series.x.push_back(x);
    series.y.push_back(update.at(x));
  };
  append(range.from);
  for (int k = floor_log2(range.from); curved && k <= floor_log2(range.to); ++k)
    for (const double mantissa : {1.0, 1.25, 1.5, 1.75})
      if (const double x = std::ldexp(mantissa, k); x > range.from && x < range.to) append(x);
  append(range.to);
  return series;
}

/// The point on the line of an additive update beyond which nearest_even rounds it away.
void append_threshold(std::vector<Series>& all, const GapSubject& subject, const UpdateSize& update,
                      const MagnitudeRange& range, int colour) {
  if (update.relative != 0) return;
  const AdditiveThresholds thresholds = additive_thresholds(subject.element, subject.scale, update.additive);
  const double frozen = thresholds.frozen_above;
  if (frozen >= subject.element.max_finite() * subject.scale || frozen > range.to) return;
  const std::string where = frozen == 0 ? "everywhere" : fmt::format("above {}", frozen);
  all.push_back({fmt::format("{}: {} frozen {}", subject.name, update.name, where),
                 SeriesStyle::points,
                 colour,
                 colour,
                 {std::max(frozen, range.from)},
                 {update.additive}});
}

template <class Named>
void require_distinct(const std::vector<Named>& all, const std::string& what) {
  std::set<std::string> names;
  for (const Named& one : all)
    if (!names.insert(one.name).second)
      throw Error("gap", "a " + what + " stands twice", one.name, "each once");
}

}  // namespace

MagnitudeRange default_range(const std::vector<GapSubject>& subjects) {
  double smallest = 0x1p10, largest = 0x1p-20;
  for (const GapSubject& subject : subjects) {
    smallest = std::min(smallest, subject.element.min_positive() * subject.scale / 4);
    largest = std::max(largest, subject.element.max_finite() * subject.scale * 2);
  }
  // Whole binades, so that the axis starts and ends at a labelled tick.
  const auto binade = [](double x) { return power_of_two(floor_log2(x)); };
  return {binade(std::clamp(smallest, 0x1p-20, 0x1p8)), binade(std::clamp(largest, 0x1p-18, 0x1p10))};
}

Figure gap_figure(const std::vector<GapSubject>& subjects, const std::vector<UpdateSize>& updates,
                  const MagnitudeRange& range) {
  if (!(range.from > 0) || !(range.to > range.from) || std::isinf(range.to))
    throw Error("gap", "the range of magnitudes is empty or not positive",
                fmt::format("{} to {}", range.from, range.to), "0 < from < to");
  require_distinct(subjects, "format");
  require_distinct(updates, "rule");
  Figure figure{"half gap (thick) and gap (thin) to the next number; size of updates (black)",
                {"magnitude |w|", AxisScale::log2, range.from, range.to},
                {"size of gap or update", AxisScale::log10},
                {}};
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    figure.series.push_back(gap_series(subjects[s], range, 0.5, colour_of(s)));
    figure.series.push_back(gap_series(subjects[s], range, 1, colour_of(s)));
  }
  int order = 0;
  for (const UpdateSize& update : updates) figure.series.push_back(update_series(update, range, order++));
  for (std::size_t u = 0; u < updates.size(); ++u)
    for (std::size_t s = 0; s < subjects.size(); ++s)
      append_threshold(figure.series, subjects[s], updates[u], range, colour_of(s));
  return figure;
}

}  // namespace halfulp
