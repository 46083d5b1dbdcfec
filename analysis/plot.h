#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace halfulp {

enum class AxisScale : std::uint8_t { linear, log2, log10 };

struct Axis {
  std::string label;
  AxisScale scale = AxisScale::linear;
  std::optional<double> from = std::nullopt, to = std::nullopt;  ///< left out: what the data need
};

enum class SeriesStyle : std::uint8_t { line, thin_line, marked_line, points, line_and_points, bars };

/// One line of the legend. Colours and dashes are numbers into fixed palettes (of 8 and 5, taken modulo),
/// chosen so that colour-blind readers and a grey print can tell them apart; colour 0 is black and dash 0 is
/// solid.
struct Series {
  std::string label;  ///< unique in its figure
  SeriesStyle style;
  int colour, dash;
  std::vector<double> x,
      y;  ///< of one length; a point that is not finite, or <= 0 on a log axis, is left out
  bool in_legend = true;
};

struct Figure {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
};

enum class PictureKind : std::uint8_t { svg, png };

/// The figure's numbers: a header `series,X,Y`, then one row a point, shortest decimals that read back
/// exactly. Labels with a comma or a quote are quoted as RFC 4180 says.
std::string csv_text(const Figure& figure, const std::string& x_name, const std::string& y_name);

/// A gnuplot script that draws the figure from its CSV file; `picture` empty: to standard output.
/// errors: throws Error if there is nothing to draw, lengths differ or two labels are the same.
std::string gnuplot_script(const Figure& figure, PictureKind kind, const std::string& data,
                           const std::string& picture);

/// The picture's bytes, drawn by gnuplot: the same figure gives the same SVG bytes (with one gnuplot
/// version).
/// errors: throws Error if gnuplot is missing (it says what to install) or fails.
std::string render_picture(const Figure& figure, PictureKind kind);

/// An SVG document without an XML prologue, fit for standing inside HTML.
std::string render_svg(const Figure& figure);

/// The gnuplot script of a picture: of this kind, from this data file, into this picture file ("" for standard output).
using PictureScript =
    std::function<std::string(PictureKind kind, const std::string& data, const std::string& picture)>;

/// A picture by its script, with the data and the script that redraws it beside it: FILE.svg or FILE.png, FILE.csv and
/// FILE.gp; the data alone for FILE.csv. All of them or none; returns the paths.
/// errors: throws Error on another ending, without gnuplot, or if a file cannot be written.
std::vector<std::string> write_picture(const std::string& path, const std::string& data,
                                       const PictureScript& script_of);

/// Writes the figure to a path that ends in .svg or .png together with its CSV and script of the same stem,
/// or, for a path in .csv, the data alone: all of the files or none. The script redraws the picture from the
/// data, run in that folder. Returns the paths written, picture first.
/// errors: throws Error on another ending
/// and as render_picture and write_whole_files do.
std::vector<std::string> write_figure(const Figure& figure, const std::string& path,
                                      const std::string& x_name, const std::string& y_name);

}  // namespace halfulp
