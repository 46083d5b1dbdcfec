#include "analysis/gap_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "formats/block.h"
#include "formats/error.h"

namespace halfulp {
namespace {

/// The stretches within the range. More than 1024 steps are narrower than a pixel: neighbours then stand
/// together under their largest gap.
std::vector<GapStretch> visible_stretches(const GapSubject& subject, const MagnitudeRange& range) {
  std::vector<GapStretch> visible;
  for (const GapStretch& stretch : gap_stretches(subject.element, subject.scale, subject.side)) {
    const double from = std::max(stretch.from, range.from), to = std::min(stretch.to, range.to);
    if (from < to) visible.push_back({from, to, stretch.gap});
  }
  const std::size_t group = (visible.size() + 1023) / 1024;
  if (group < 2) return visible;
  std::vector<GapStretch> drawn;
  for (std::size_t i = 0; i < visible.size(); ++i) {
    if (i % group == 0)
      drawn.push_back(visible[i]);
    else
      drawn.back() = {drawn.back().from, visible[i].to, std::max(drawn.back().gap, visible[i].gap)};
  }
  return drawn;
}

Series gap_series(const GapSubject& subject, const MagnitudeRange& range, double part, int colour) {
  const bool whole = part == 1;
  Series series{subject.name + (whole ? " gap" : " half gap"),
                whole ? SeriesStyle::thin_line : SeriesStyle::marked_line,
                colour,
                whole ? 1 : colour,
                {},
                {},
                !whole};
  for (const GapStretch& stretch : visible_stretches(subject, range)) {
    series.x.insert(series.x.end(), {stretch.from, stretch.to});
    series.y.insert(series.y.end(), {part * stretch.gap, part * stretch.gap});
  }
  return series;
}

/// The dash of gaps (1) is left out.
int update_dash(int order) { return order == 0 ? 0 : 2 + (order - 1) % 3; }

/// Four points a binade: a sum of a constant and a proportional part is curved on log axes, and is drawn
/// within 1 %.
Series update_series(const UpdateSize& update, const MagnitudeRange& range, int order) {
  Series series{update.name + " update", SeriesStyle::thin_line, 0, update_dash(order), {}, {}};
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
  const double frozen = frozen_above(subject, update.additive);
  if (frozen >= subject.largest() || frozen > range.to) return;
  const std::string where = frozen == 0 ? "everywhere" : fmt::format("above {:.6g}", frozen);
  all.push_back({fmt::format("{}: {} frozen {}", subject.name, update.name, where),
                 SeriesStyle::points,
                 colour,
                 colour,
                 {std::max(frozen, range.from)},
                 {update.additive}});
}

/// The largest power of two that is not larger.
/// in: x in double's normal range
double binade(double x) { return power_of_two(floor_log2(x)); }

}  // namespace

int format_colour(std::size_t place) noexcept { return 1 + static_cast<int>(place % 7); }

void require_range(const MagnitudeRange& range, const std::string& where) {
  if (!(range.from >= 0x1p-1022) || !(range.to > range.from) || std::isinf(range.to))
    throw Error(where, "the range of magnitudes is empty or not positive",
                fmt::format("{} to {}", range.from, range.to), "0 < from < to, both normal doubles");
}

void require_distinct(const std::vector<GapSubject>& subjects, const std::string& where) {
  std::set<std::string> names;
  for (const GapSubject& subject : subjects)
    if (!names.insert(subject.name).second)
      throw Error(where, "a format stands twice", subject.name, "each once");
}

MagnitudeRange default_range(const std::vector<GapSubject>& subjects, const MagnitudeRange& widest) {
  MagnitudeRange shown{std::numeric_limits<double>::infinity(), 0};
  for (const GapSubject& one : subjects)
    for (const GapSubject& subject : sides_of(one)) {
      const double from = std::max(subject.element.min_positive() * subject.scale / 4, 0x1p-1000);
      const double to = std::clamp(subject.largest() * 2, from * 2, 0x1p1000);
      MagnitudeRange own{std::max(from, widest.from), std::min(to, widest.to)};
      if (to <= widest.from * 4) own = {std::max(from, to * 0x1p-20), to};
      if (from >= widest.to / 4) own = {from, std::min(to, from * 0x1p20)};
      shown = {std::min(shown.from, own.from), std::max(shown.to, own.to)};
    }
  // Whole binades, so that the axis starts and ends at a labelled tick.
  return {binade(shown.from), binade(shown.to)};
}

Figure gap_figure(const std::vector<GapSubject>& subjects, const std::vector<UpdateSize>& updates,
                  const MagnitudeRange& range) {
  require_range(range, "gap");
  require_distinct(subjects, "gap");
  std::set<std::string> rules;
  for (const UpdateSize& update : updates)
    if (!rules.insert(update.name).second)
      throw Error("gap", "a rule stands twice", update.name, "each once");
  Figure figure{
      "half gap (thick), gap (dashed), updates (black); an additive one freezes beyond the large marks",
      {"magnitude |w|", AxisScale::log2, range.from, range.to},
      {"size of gap or update", AxisScale::log10},
      {}};
  std::vector<GapSubject> lines;
  for (const GapSubject& subject : subjects)
    for (GapSubject& side : sides_of(subject)) lines.push_back(std::move(side));
  for (std::size_t s = 0; s < lines.size(); ++s) {
    figure.series.push_back(gap_series(lines[s], range, 0.5, format_colour(s)));
    figure.series.push_back(gap_series(lines[s], range, 1, format_colour(s)));
  }
  int order = 0;
  for (const UpdateSize& update : updates) figure.series.push_back(update_series(update, range, order++));
  const std::size_t first_threshold = figure.series.size();
  for (const UpdateSize& update : updates)
    for (std::size_t s = 0; s < lines.size(); ++s)
      append_threshold(figure.series, lines[s], update, range, format_colour(s));
  // A legend of more lines than the plot has helps nobody: colour and shape say whose mark it is.
  const bool few = figure.series.size() - first_threshold <= 3;
  for (std::size_t i = first_threshold; i < figure.series.size(); ++i) figure.series[i].in_legend = few;
  return figure;
}

}  // namespace halfulp
