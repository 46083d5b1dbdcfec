#include "analysis/code_map_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/code_map_layout.h"
#include "analysis/gnuplot.h"
#include "formats/quotient.h"

namespace halfulp {
namespace {

constexpr int top_margin = 48, bottom_margin = 128;

/// Point size of a radius in units of the PNG terminal: the SVG terminal draws points half as large again.
double point_size(PictureKind kind, double size) {
  switch (kind) {
    case PictureKind::svg:
      return size / 1.5;
    case PictureKind::png:
      return size;
  }
  return size;
}

/// Font of a size in pixels: the PNG terminal counts in points.
std::string font(PictureKind kind, int pixels) {
  switch (kind) {
    case PictureKind::svg:
      return fmt::format("sans-serif,{}", pixels);
    case PictureKind::png:
      return fmt::format("sans-serif,{:.3g}", pixels * 0.75);
  }
  return "";
}

std::string label_line(const std::string& text, double x, double y, const std::string& words) {
  return fmt::format("set label {} at {:.9g},{:.9g} {} noenhanced\n", quoted(text), x, y, words);
}

/// Heading, details, line, and labels of a row whose top is at `top`.
std::string row_lines(const CodeMap& map, const CodeRow& row, const RowLayout& layout, int top,
                      const PositionSpan& span, PictureKind kind) {
  const double base = -(top + layout.baseline);
  std::string lines =
      label_line(row.name, span.from, -(top + heading_at), fmt::format("left font '{}'", font(kind, 17)));
  int text_at = top + details_at;
  for (const std::string& details : layout.details) {
    lines += label_line(details, span.from, -text_at,
                        fmt::format("left font '{}' textcolor rgb '#333333'", font(kind, 13)));
    text_at += details_height;
  }
  lines += fmt::format(
      "set arrow from {0:.9g},{1} to {2:.9g},{1} nohead linewidth 1 linecolor rgb '#999999' back\n",
      span.from, base, span.to);
  const std::string small = fmt::format("font '{}'", font(kind, 13));
  for (const TickLabel& label : layout.values)
    lines += label_line(label.text, label.position, base + tick_height + (layout.turned ? 4 : 9),
                        (layout.turned ? "left rotate by 90 " : "center ") + small);
  for (const TickLabel& label : layout.codes)
    lines += label_line(label.text, label.position, base - codes_at,
                        "center " + small + " textcolor rgb '#333333'");
  if (row.amax)
    for (const double side : {1.0, -1.0})
      if (side > 0 || row.numbers().front() < 0)
        lines +=
            fmt::format("set label '' at {:.9g},{} point pointtype 6 pointsize {:.3g} linewidth 2 front\n",
                        map.position(side * *row.amax), base, point_size(kind, 1.3));
  return lines;
}

/// Ticks of the log axis: 0 and powers of two of both signs, at most some seventeen.
std::string log_tick_lines(const CodeMap& map, const PositionSpan& span, double pixels_per_unit) {
  const int lowest = floor_log2(map.smallest), most = span.from < -1 ? 8 : 16;
  int highest = lowest;
  for (const CodeRow& row : map.rows)
    for (const double number : row.numbers())
      if (number != 0) highest = std::max(highest, floor_log2(std::fabs(number)));
  const int step = 1 + (highest - lowest) / most;
  std::string ticks = "'0' 0";
  for (int k = lowest; k <= highest; ++k) {
    if (k % step != 0) continue;
    for (const double side : {1.0, -1.0}) {
      const double position = map.position(side * std::ldexp(1.0, k));
      const bool clear_of_zero = std::fabs(position) * pixels_per_unit >= 45;
      if (clear_of_zero && position >= span.from && position <= span.to)
        ticks += fmt::format(", '{}2^{{{}}}' {:.9g}", side < 0 ? "-" : "", k, position);
    }
  }
  return "set xtics (" + ticks + ")\n";
}

struct KindLook {
  CodeKind kind;
  int height;  ///< of a tick; 0: a disc
  const char* style;
  const char* title;
};
// The first two of Okabe and Ito's colours; in grey, lengths and widths tell the kinds apart.
constexpr std::array looks{
    KindLook{CodeKind::subnormal, 18, "linewidth 2 linecolor rgb '#E69F00'", "subnormal (short)"},
    KindLook{CodeKind::normal, 26, "linewidth 1.6 linecolor rgb '#0072B2'", "normal (long)"},
    KindLook{CodeKind::largest, tick_height, "linewidth 3.5 linecolor rgb '#000000'",
             "largest (longest, thick)"},
    KindLook{CodeKind::zero, 0, "pointtype 7 linecolor rgb '#000000'", "zero"}};

std::string plot_lines(const CodeMap& map, PictureKind kind, const std::string& data) {
  std::string lines;
  const auto next = [&](const std::string& element) {
    lines += (lines.empty() ? "plot " : ", \\\n     ") + element;
  };
  for (const KindLook& look : looks) {
    const bool present = std::any_of(map.rows.begin(), map.rows.end(),
                                     [&](const CodeRow& row) { return !row.codes_text(look.kind).empty(); });
    if (!present) continue;
    const std::string source =
        fmt::format("{} skip 1 using (strcol(5) eq '{}' ? column(7) : NaN):(baseline(column(1)))",
                    quoted(data), name_of(look.kind));
    if (look.height == 0) {
      next(fmt::format("{} with points pointsize {:.3g} {} title '{}'", source, point_size(kind, 0.9),
                       look.style, look.title));
      continue;
    }
    next(fmt::format("{}:(0):({}) with vectors nohead {} notitle", source, look.height, look.style));
    next(fmt::format("keyentry with lines {} title '{}'", look.style, look.title));
  }
  const bool any_amax =
      std::any_of(map.rows.begin(), map.rows.end(), [](const CodeRow& row) { return row.amax.has_value(); });
  if (any_amax)
    next(
        fmt::format("keyentry with points pointtype 6 pointsize {:.3g} linewidth 2 linecolor rgb '#000000' "
                    "title 'amax of the block'",
                    point_size(kind, 1.3)));
  return lines + "\n";
}

/// A text in the middle of the picture, `from_bottom` pixels above its lower edge.
std::string centred_line(const std::string& text, int from_bottom, int height, const std::string& font_name) {
  return fmt::format("set label {} at screen 0.5,{:.6f} center noenhanced font '{}'\n", quoted(text),
                     static_cast<double>(from_bottom) / height, font_name);
}

/// Title, margins, legend and x axis around rows of this height altogether.
std::string frame_lines(const CodeMap& map, PictureKind kind, const PositionSpan& span, int rows_height,
                        double pixels_per_unit) {
  const int height = top_margin + rows_height + bottom_margin;
  const auto share = [](int pixels, int whole) { return static_cast<double>(pixels) / whole; };
  std::string lines = fmt::format(
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
      "set tmargin at screen {:.6f}\nset bmargin at screen {:.6f}\n"
      "set border 1 linewidth 1.5 linecolor rgb '#444444'\n"
      "set tics nomirror\nunset ytics\n"
      "set grid xtics linetype 1 linewidth 0.6 linecolor rgb '#dddddd'\n"
      "set key at screen 0.5,{:.6f} center horizontal maxrows 1 Left reverse noenhanced samplen 2 "
      "spacing 1.2 font '{}'\n"
      "set xrange [{:.9g}:{:.9g}]\nset yrange [{}:0]\n",
      share(code_map_side, code_map_width), share(code_map_width - code_map_side, code_map_width),
      share(height - top_margin, height), share(bottom_margin, height), share(30, height), font(kind, 14),
      span.from, span.to, -rows_height);
  lines += centred_line("every number of each format on a line", height - 24, height, font(kind, 18));
  const int axis_label_at = bottom_margin - 50;
  switch (map.axis) {
    case CodeAxis::linear:
      return lines + centred_line("value", axis_label_at, height, font(kind, 15));
    case CodeAxis::log:
      break;
  }
  return lines + log_tick_lines(map, span, pixels_per_unit) +
         centred_line("value, by powers of two on both sides of zero", axis_label_at, height, font(kind, 15));
}

}  // namespace

std::string code_map_script(const CodeMap& map, PictureKind kind, const std::string& data,
                            const std::string& picture) {
  const PositionSpan span = axis_span(map);
  const double pixels_per_unit = code_map_plot_width / (span.to - span.from);
  int total = 0;
  std::string rows, baselines;
  for (const CodeRow& row : map.rows) {
    const RowLayout layout = row_layout(map, row, pixels_per_unit);
    rows += row_lines(map, row, layout, total, span, kind);
    baselines += fmt::format("{}{}", baselines.empty() ? "" : " ", -(total + layout.baseline));
    total += layout.height;
  }
  const char* terminal = kind == PictureKind::svg ? "svg fixed" : "pngcairo";
  std::string script = fmt::format("set terminal {} font '{}' background '#ffffff' size {},{}\n", terminal,
                                   font(kind, 15), code_map_width, top_margin + total + bottom_margin);
  if (!picture.empty()) script += fmt::format("set output {}\n", quoted(picture));
  script +=
      "set encoding utf8\n"
      "set datafile separator comma\n";
  script += fmt::format("baseline(row) = word('{}', int(row)) + 0\n", baselines);
  return script + frame_lines(map, kind, span, total, pixels_per_unit) + rows + plot_lines(map, kind, data);
}

std::vector<std::string> write_code_map(const CodeMap& map, const std::string& path) {
  return write_picture(path, code_map_csv(map),
                       [&](PictureKind kind, const std::string& data, const std::string& picture) {
                         return code_map_script(map, kind, data, picture);
                       });
}

}  // namespace halfulp
