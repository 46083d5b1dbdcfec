#include "analysis/code_map_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace halfulp {
namespace {

constexpr int character_width = 8, line_height = 15;  // of labels at ticks
constexpr int row_end = 22;
constexpr std::size_t most_labels = 16;

/// Labels of `width(text)` pixels that keep clear of each other; the outer ones go first.
template <class Width>
std::vector<TickLabel> that_fit(const std::vector<TickLabel>& labels, double pixels_per_unit, Width width) {
  std::vector<TickLabel> order = labels, kept;
  std::stable_sort(order.begin(), order.end(), [](const TickLabel& a, const TickLabel& b) {
    return std::fabs(a.position) > std::fabs(b.position);
  });
  for (const TickLabel& label : order) {
    const bool clear = std::all_of(kept.begin(), kept.end(), [&](const TickLabel& other) {
      const double distance = std::fabs(label.position - other.position) * pixels_per_unit;
      return distance >= (width(label.text) + width(other.text)) / 2.0 + 2;
    });
    if (clear) kept.push_back(label);
  }
  return kept;
}

int flat_width(const std::string& text) { return character_width * static_cast<int>(text.size()); }
int turned_width(const std::string&) { return line_height; }

/// Under the heading of a row: its numbers, then its other codes; on one line if that is not too long.
std::vector<std::string> details_of(const CodeRow& row) {
  const std::vector<double> numbers = row.numbers();
  double smallest = std::max(-numbers.front(), numbers.back());
  for (const double number : numbers)
    if (number != 0) smallest = std::min(smallest, std::fabs(number));
  const auto listed = [&](CodeKind kind) {
    const std::string codes = row.codes_text(kind);
    return codes.empty() ? "none" : codes;
  };
  std::vector<std::string> lines{
      fmt::format("{} codes; {} numbers, {:.6g} to {:.6g}, least magnitude {:.6g}", row.points.size(),
                  numbers.size(), numbers.front(), numbers.back(), smallest),
      fmt::format("zero: {}; Inf: {}; NaN: {}", listed(CodeKind::zero), listed(CodeKind::infinity),
                  listed(CodeKind::nan))};
  constexpr std::size_t longest_line = 104;
  if (lines[0].size() + lines[1].size() + 2 <= longest_line) lines = {lines[0] + "; " + lines[1]};
  return lines;
}

}  // namespace

PositionSpan axis_span(const CodeMap& map) {
  PositionSpan span{0, 0};
  const auto take = [&](double value) {
    span = {std::min(span.from, map.position(value)), std::max(span.to, map.position(value))};
  };
  for (const CodeRow& row : map.rows) {
    const std::vector<double> numbers = row.numbers();
    take(numbers.front());
    take(numbers.back());
    if (!row.amax) continue;
    take(*row.amax);
    if (numbers.front() < 0) take(-*row.amax);
  }
  const double margin = (span.to - span.from) * 0.03;
  return {span.from - margin, span.to + margin};
}

RowLayout row_layout(const CodeMap& map, const CodeRow& row, double pixels_per_unit) {
  RowLayout layout{details_of(row), {}, {}, false, 0, 0};
  const std::vector<double> numbers = row.numbers();
  int values_height = 0;
  if (numbers.size() <= most_labels) {
    std::size_t longest = 0;
    for (const double number : numbers) {
      std::string codes;
      for (const CodePoint& point : row.points)
        if (point.value == number) codes += fmt::format("{}{:x}", codes.empty() ? "" : ",", point.code);
      layout.values.push_back({map.position(number), fmt::format("{:.3g}", number)});
      layout.codes.push_back({map.position(number), codes});
      longest = std::max(longest, layout.values.back().text.size());
    }
    layout.turned = that_fit(layout.values, pixels_per_unit, flat_width).size() != numbers.size();
    if (layout.turned) layout.values = that_fit(layout.values, pixels_per_unit, turned_width);
    layout.codes = that_fit(layout.codes, pixels_per_unit, flat_width);
    values_height = layout.turned ? character_width * static_cast<int>(longest) + 4 : line_height + 3;
  }
  const int details = details_height * static_cast<int>(layout.details.size());
  layout.baseline = details_at + details + values_height + tick_height;
  layout.height = layout.baseline + (layout.codes.empty() ? 0 : codes_at) + row_end;
  return layout;
}

}  // namespace halfulp
