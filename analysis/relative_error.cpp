#include "analysis/relative_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/block.h"

namespace halfulp {
namespace {

constexpr std::size_t most_teeth = 48;

/// The teeth's points on one flank, as parts of the way from a number to its midpoint. The number itself, of
/// error 0, stands in the data; no log axis shows it, so that its place is a break in the line.
constexpr std::array flank{0.0, 0x1p-9, 0x1p-7, 0x1p-5, 0x1p-4, 0x1p-3, 0.25, 0.5, 0.75, 0.9, 1.0};

/// Numbers of the subject within the range, ascending; the last one below it stands first, the first one
/// above it last. Empty if there are more than teeth can be drawn for.
std::vector<double> numbers_around(const std::vector<GapStretch>& stretches, const MagnitudeRange& range) {
  std::vector<double> numbers;
  for (const GapStretch& stretch : stretches) {
    if (stretch.to < range.from) continue;
    if (stretch.from > range.to) {
      if (!numbers.empty()) numbers.push_back(stretch.from);
      break;
    }
    const double skipped = std::floor(std::max(range.from - stretch.from, 0.0) / stretch.gap);
    const double end =
        std::min(stretch.to - stretch.gap / 2, range.to + stretch.gap);  // no number stands between
    for (double x = stretch.from + skipped * stretch.gap; x < end; x += stretch.gap) {
      if (numbers.empty() || x > numbers.back()) numbers.push_back(x);
      if (numbers.size() > most_teeth) return {};
    }
  }
  if (!stretches.empty() && stretches.back().to <= range.to) numbers.push_back(stretches.back().to);
  return numbers;
}

Series tooth_series(const GapSubject& subject, const std::vector<double>& numbers,
                    const MagnitudeRange& range, int colour) {
  Series series{subject.name + " error", SeriesStyle::thin_line, colour, 0, {}, {}, false};
  const auto append = [&](double x) {
    if (!(x >= range.from && x <= range.to)) return;
    series.x.push_back(x);
    series.y.push_back(relative_error(subject, x));
  };
  append(range.from);
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
    const double low = numbers[i], high = numbers[i + 1], half = (high - low) / 2;
    for (const double part : flank)
      if (low + part * half > range.from) append(low + part * half);
    for (std::size_t k = flank.size() - 1; k-- > 1;)
      if (high - flank[k] * half > range.from) append(high - flank[k] * half);
  }
  // Saturation: ever larger steps, since the error bends towards 1.
  const double largest = numbers.back();
  append(largest);
  for (double excess = 0x1p-9; largest * (1 + excess) < range.to; excess *= 1.5)
    append(largest * (1 + excess));
  append(range.to);
  return series;
}

Series worst_series(const GapSubject& subject, const std::vector<GapStretch>& stretches,
                    const MagnitudeRange& range, int colour) {
  Series series{subject.name + " worst", SeriesStyle::marked_line, colour, colour, {}, {}};
  for (double start = power_of_two(floor_log2(range.from)); start < range.to; start *= 2) {
    const double from = std::max(start, range.from), to = std::min(2 * start, range.to);
    const double worst = worst_relative_error(subject, stretches, from, to);
    series.x.insert(series.x.end(), {from, to});
    series.y.insert(series.y.end(), {worst, worst});
  }
  return series;
}

/// The scale that the elements stand under belongs to the picture.
GapSubject with_scale_in_name(GapSubject subject) {
  if (subject.scale != 1) subject.name += fmt::format(", scale {:.6g}", subject.scale);
  return subject;
}

}  // namespace

double relative_error(const GapSubject& subject, double magnitude) noexcept {
  const Converter nearest(subject.element, nearest_even, special_values(OverflowPolicy::saturate));
  const double x = subject.side == Side::positive ? magnitude : -magnitude;
  const double element = element_in_block(x, subject.scale != 1, exact_divisor(subject.scale), nearest, 0);
  return std::fabs(element * subject.scale - x) / magnitude;
}

double worst_relative_error(const GapSubject& subject, const std::vector<GapStretch>& stretches, double from,
                            double to) noexcept {
  double worst = std::max(relative_error(subject, from), relative_error(subject, to));
  for (const GapStretch& stretch : stretches) {
    if (stretch.to <= from || stretch.from >= to) continue;
    const double skipped = std::max(std::ceil((from - stretch.from) / stretch.gap - 0.5), 0.0);
    const double midpoint = stretch.from + (skipped + 0.5) * stretch.gap;
    if (midpoint < stretch.to && midpoint <= to) worst = std::max(worst, stretch.gap / 2 / midpoint);
  }
  return worst;
}

MagnitudeRange relative_error_range(const std::vector<GapSubject>& subjects) {
  const MagnitudeRange widest{0x1p-28, 0x1p20};
  const MagnitudeRange inner = default_range(subjects, widest);
  // One binade beyond each end is inside already.
  const double from = std::min(inner.from, std::max(inner.from / 2, widest.from));
  return {from, std::max(inner.to, std::min(inner.to * 4, widest.to))};
}

Figure relative_error_figure(const std::vector<GapSubject>& subjects, const MagnitudeRange& range) {
  require_range(range, "error");
  require_distinct(subjects, "error");
  Figure figure{
      "largest relative error per binade (thick), error of formats with few numbers (thin); nearest_even",
      {"magnitude |x|", AxisScale::log2, range.from, range.to},
      {"relative error |round(x) - x| / |x|", AxisScale::log2},
      {}};
  std::size_t place = 0;
  double smallest = 1, largest = 0;
  for (const GapSubject& one : subjects)
    for (const GapSubject& side : sides_of(with_scale_in_name(one))) {
      const std::vector<GapStretch> stretches = gap_stretches(side.element, side.scale, side.side);
      const int colour = format_colour(place++);
      figure.series.push_back(worst_series(side, stretches, range, colour));
      for (const double y : figure.series.back().y)
        if (y > 0) smallest = std::min(smallest, y), largest = std::max(largest, y);
      const std::vector<double> numbers = numbers_around(stretches, range);
      if (!numbers.empty()) figure.series.push_back(tooth_series(side, numbers, range, colour));
    }
  // Teeth reach down to zero; two binades of them show enough.
  figure.y.from = power_of_two(floor_log2(smallest) - 2);
  figure.y.to = power_of_two(std::max(floor_log2(largest) + 1, 1));
  return figure;
}

}  // namespace halfulp
