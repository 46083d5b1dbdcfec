#pragma once
#include <string>
#include <vector>

#include "analysis/code_map.h"

namespace halfulp {

// Lengths of a code map's picture in pixels; the y axis of the plot counts them, down from its top.
inline constexpr int code_map_width = 960, code_map_side = 36;
inline constexpr int code_map_plot_width = code_map_width - 2 * code_map_side;
/// Of a row's heading and the first line under it below the row's top; of a line under it; of the longest
/// tick; of the codes below the ticks' feet.
inline constexpr int heading_at = 14, details_at = 34, details_height = 17, tick_height = 32, codes_at = 14;

struct PositionSpan {
  double from, to;
};

/// The positions that the axis shows: every number and amax, zero, and a margin.
PositionSpan axis_span(const CodeMap& map);

struct TickLabel {
  double position;
  std::string text;
};

/// What stands around the ticks of one row, and how much room it takes.
struct RowLayout {
  std::vector<std::string> details;  ///< under the heading: counts, ends, and the codes that have no tick
  std::vector<TickLabel> values;     ///< above the ticks, as far as they keep clear of each other
  std::vector<TickLabel> codes;      ///< below them, as well
  bool turned;                       ///< values are written upwards
  int baseline, height;              ///< of the ticks' feet below the row's top; of the row
};

/// in: pixels_per_unit of the position axis
RowLayout row_layout(const CodeMap& map, const CodeRow& row, double pixels_per_unit);

}  // namespace halfulp
