#include "analysis/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "analysis/gnuplot.h"
#include "analysis/whole_file.h"
#include "formats/error.h"

namespace halfulp {
namespace {

// Okabe and Ito's colours ("Color Universal Design", 2008), without yellow, in an order whose first
// neighbours also differ in lightness; grey stands in for yellow.
constexpr std::array colours{"#000000", "#0072B2", "#E69F00", "#009E73",
                             "#CC79A7", "#D55E00", "#56B4E9", "#888888"};
constexpr std::array dashes{"solid", "'- '", "'-. '", "'-.. '", "'. '"};
// Filled disc, square, triangle, diamond, triangle upside down, pentagon; open disc, open square.
constexpr std::array symbols{7, 5, 9, 13, 11, 15, 6, 4};

bool can_stand_on(const Axis& axis, double value) {
  return std::isfinite(value) && (axis.scale == AxisScale::linear || value > 0);
}

bool has_point(const Figure& figure, const Series& series) {
  for (std::size_t i = 0; i < series.x.size(); ++i)
    if (can_stand_on(figure.x, series.x[i]) && can_stand_on(figure.y, series.y[i])) return true;
  return false;
}

void check(const Figure& figure) {
  std::set<std::string> labels;
  bool any = false;
  for (const Series& series : figure.series) {
    if (series.x.size() != series.y.size())
      throw Error("plot", "x and y of series " + series.label + " differ in length",
                  fmt::format("{} and {}", series.x.size(), series.y.size()), "one length");
    if (!labels.insert(series.label).second)
      throw Error("plot", "two series have one label", series.label, "labels that tell them apart");
    any = any || has_point(figure, series);
  }
  if (!any) throw Error("plot", "nothing to draw", figure.title, "a series with a finite point");
}

std::string axis_lines(const Axis& axis, char name) {
  std::string lines = fmt::format("set {}label {} noenhanced\n", name, quoted(axis.label));
  const auto bound = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "*";
  };
  lines += fmt::format("set {}range [{}:{}]\n", name, bound(axis.from), bound(axis.to));
  switch (axis.scale) {
    case AxisScale::linear:
      break;
    case AxisScale::log2:
      lines += fmt::format("set logscale {0} 2\nset format {0} '2^{{%L}}'\n", name);
      break;
    case AxisScale::log10:
      lines += fmt::format("set logscale {0} 10\nset format {0} '10^{{%L}}'\n", name);
      break;
  }
  return lines;
}

std::string style_words(const Series& series) {
  const char* colour = colours[static_cast<std::size_t>(series.colour) % colours.size()];
  const char* dash = dashes[static_cast<std::size_t>(series.dash) % dashes.size()];
  const int symbol = symbols[static_cast<std::size_t>(series.dash) % symbols.size()];
  switch (series.style) {
    case SeriesStyle::line:
      return fmt::format("lines linewidth 3 linecolor rgb '{}' dashtype {}", colour, dash);
    case SeriesStyle::thin_line:
      return fmt::format("lines linewidth 1.6 linecolor rgb '{}' dashtype {}", colour, dash);
    case SeriesStyle::marked_line:
      return fmt::format(
          "linespoints linewidth 3 linecolor rgb '{}' dashtype solid pointtype {} pointsize 0.9 pointnumber "
          "7",
          colour, symbol);
    case SeriesStyle::points:
      return fmt::format("points pointtype {} pointsize 1.5 linecolor rgb '{}'", symbol, colour);
    case SeriesStyle::line_and_points:
      return fmt::format(
          "linespoints linewidth 2.5 linecolor rgb '{}' dashtype {} pointtype {} pointsize 0.8", colour, dash,
          symbol);
    case SeriesStyle::bars:
      return fmt::format("boxes linecolor rgb '{}' fillstyle transparent solid 0.6 border", colour);
  }
  return "";
}

/// Rows are told apart by the first column: gnuplot ends a quoted text at a comma inside it, but counts
/// columns well.
std::string plot_lines(const Figure& figure, const std::string& data) {
  std::string lines;
  int index = 0;
  for (const Series& series : figure.series) {
    ++index;
    if (!has_point(figure, series)) continue;
    const std::string title = series.in_legend ? "title " + quoted(series.label) + " noenhanced" : "notitle";
    lines +=
        fmt::format("{}{} using (column(1) == {} ? column(3) : NaN):4 with {} {}",
                    lines.empty() ? "plot " : ", \\\n     ", quoted(data), index, style_words(series), title);
  }
  return lines + "\n";
}

/// The legend stands below the plot: two columns if the longest label fits half the width, else one.
int legend_rows(const Figure& figure) {
  int labels = 0;
  std::size_t longest = 0;
  for (const Series& series : figure.series) {
    if (!series.in_legend || !has_point(figure, series)) continue;
    ++labels;
    longest = std::max(longest, series.label.size());
  }
  constexpr std::size_t column_characters = 42;
  return longest <= column_characters ? (labels + 1) / 2 : labels;
}

const char* terminal_words(PictureKind kind) {
  switch (kind) {
    case PictureKind::svg:
      return "svg font 'sans-serif,16' background '#ffffff' linewidth 1 dashlength 0.6 fixed";
    case PictureKind::png:
      return "pngcairo font 'sans-serif,13' background '#ffffff' linewidth 1.2 dashlength 1";
  }
  return "";
}

}  // namespace

std::string csv_text(const Figure& figure, const std::string& x_name, const std::string& y_name) {
  check(figure);
  std::string text = fmt::format("index,series,{},{}\n", csv_field(x_name), csv_field(y_name));
  int index = 0;
  for (const Series& series : figure.series) {
    const std::string start = fmt::format("{},{},", ++index, csv_field(series.label));
    for (std::size_t i = 0; i < series.x.size(); ++i)
      text += fmt::format("{}{},{}\n", start, series.x[i], series.y[i]);
  }
  return text;
}

std::string gnuplot_script(const Figure& figure, PictureKind kind, const std::string& data,
                           const std::string& picture) {
  check(figure);
  const int rows = legend_rows(figure), height = 540 + 24 * rows;
  std::string script = fmt::format("set terminal {} size 960,{}\n", terminal_words(kind), height);
  if (!picture.empty()) script += fmt::format("set output {}\n", quoted(picture));
  script +=
      "set encoding utf8\n"
      "set datafile separator comma\n"
      "set style fill transparent solid 0.6\n"
      "set border 3 linewidth 1.5 linecolor rgb '#444444'\n"
      "set tics nomirror\n"
      "set grid linetype 1 linewidth 0.6 linecolor rgb '#dddddd'\n"
      "unset mytics\n"
      "set rmargin 3\n";
  script += fmt::format(
      "set key below left vertical maxrows {} Left reverse noenhanced samplen 3 spacing 1.3 font ',{}' "
      "height 1\n",
      std::max(rows, 1), kind == PictureKind::svg ? 14 : 11);
  script += fmt::format("set title {} noenhanced\n", quoted(figure.title));
  return script + axis_lines(figure.x, 'x') + axis_lines(figure.y, 'y') + plot_lines(figure, data);
}

std::string render_picture(const Figure& figure, PictureKind kind) {
  const std::string script = gnuplot_script(figure, kind, gnuplot_data_name, "");
  return run_gnuplot(script, csv_text(figure, "x", "y"));
}

std::string render_svg(const Figure& figure) {
  std::string document = render_picture(figure, PictureKind::svg);
  return document.erase(0, document.find("<svg"));
}

std::vector<std::string> write_picture(const std::string& path, const std::string& data,
                                       const PictureScript& script_of) {
  const std::filesystem::path target(path);
  const std::string ending = target.extension().string();
  if (ending == ".csv") {
    write_whole_file(path, data);
    return {path};
  }
  if (ending != ".svg" && ending != ".png")
    throw Error("plot", "no such kind of file", path, "a name that ends in .svg, .png or .csv");
  const PictureKind kind = ending == ".svg" ? PictureKind::svg : PictureKind::png;
  auto data_path = target, script_path = target;
  data_path.replace_extension(".csv");
  script_path.replace_extension(".gp");
  const std::string picture = run_gnuplot(script_of(kind, gnuplot_data_name, ""), data);
  const std::string script = script_of(kind, data_path.filename().string(), target.filename().string());
  const std::array files{FileContent{path, picture}, FileContent{data_path.string(), data},
                         FileContent{script_path.string(), script}};
  write_whole_files(files);
  return {files[0].path, files[1].path, files[2].path};
}

std::vector<std::string> write_figure(const Figure& figure, const std::string& path,
                                      const std::string& x_name, const std::string& y_name) {
  return write_picture(path, csv_text(figure, x_name, y_name),
                       [&](PictureKind kind, const std::string& data, const std::string& picture) {
                         return gnuplot_script(figure, kind, data, picture);
                       });
}

}  // namespace halfulp
