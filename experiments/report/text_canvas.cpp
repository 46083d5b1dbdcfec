#include "experiments/report/text_canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace halfulp {
namespace {

/// What the axes span.
struct Span {
  double low, high;
};

class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows, Span x, Span y)
      : columns_(columns), rows_(rows), x_(x), y_(y), marks_(columns * rows), names_(rows) {}

  std::size_t row_of(double y) const {
    const double place = (y_.high - y) / (y_.high - y_.low) * static_cast<double>(rows_ - 1);
    return static_cast<std::size_t>(std::lround(std::clamp(place, 0.0, static_cast<double>(rows_ - 1))));
  }
  double value_of_row(std::size_t row) const {
    return y_.high - (y_.high - y_.low) * static_cast<double>(row) / static_cast<double>(rows_ - 1);
  }

  void name_row(std::size_t row, const std::string& name) {
    names_[row] += (names_[row].empty() ? "" : " ") + name;
  }
  void rule(double level) {
    level_ = level;
    ruled_ = row_of(level);
  }

  /// One mark a column: the last value up to its right edge.
  void add(const TextLine& line) {
    double last = NAN;
    std::size_t next = 0;
    for (std::size_t column = 0; column < columns_; ++column) {
      const double end = x_.low + (x_.high - x_.low) * (static_cast<double>(column) + 0.5) /
                                      static_cast<double>(columns_ - 1);
      for (; next < line.x.size() && line.x[next] <= end; ++next)
        if (std::isfinite(line.y[next])) last = line.y[next];
      if (!std::isnan(last)) marks_[row_of(last) * columns_ + column] += line.mark;
    }
    if (!std::isnan(last)) name_row(row_of(last), std::string(1, line.mark));
  }

  std::string text() const {
    std::string text;
    for (std::size_t row = 0; row < rows_; ++row) {
      std::string drawn;
      for (std::size_t column = 0; column < columns_; ++column) {
        const std::string& here = marks_[row * columns_ + column];
        drawn += !here.empty() ? here[column % here.size()] : row == ruled_ && column % 2 == 0 ? '-' : ' ';
      }
      const bool beside_rule = row + 1 == ruled_ || row == ruled_ + 1;
      const bool has_value = row == ruled_ || ((row % 4 == 0 || row + 1 == rows_) && !beside_rule);
      const double value = row == ruled_ ? level_ : value_of_row(row);
      text += (has_value ? fmt::format("{:>9.4g} |", value) : std::string(9, ' ') + " |") + drawn;
      text += names_[row].empty() ? "" : " " + names_[row];
      text = text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    }
    const std::string from = fmt::format("{:g}", x_.low), to = fmt::format("{:g}", x_.high);
    const std::string axis(10, ' ');
    text += axis + "+" + std::string(columns_, '-') + "\n" + axis + " " + from +
            std::string(columns_ - from.size() - to.size(), ' ') + to + " steps\n";
    return text;
  }

 private:
  std::size_t columns_, rows_;
  Span x_, y_;
  std::vector<std::string> marks_;  ///< of the lines in each place
  std::vector<std::string> names_;
  std::size_t ruled_ = ~std::size_t{0};
  double level_ = 0;
};

}  // namespace

std::string draw_lines(const std::vector<TextLine>& lines, double level, const std::string& level_name,
                       std::size_t columns, std::size_t rows) {
  Span x{INFINITY, -INFINITY}, y{level, level};
  for (const TextLine& line : lines)
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (!std::isfinite(line.y[i])) continue;
      x = {std::min(x.low, line.x[i]), std::max(x.high, line.x[i])};
      y = {std::min(y.low, line.y[i]), std::max(y.high, line.y[i])};
    }
  if (!(x.high > x.low)) return "";
  if (y.low == y.high) y = {y.low - 1, y.high + 1};
  Canvas canvas(columns, rows, x, y);
  canvas.rule(level);
  canvas.name_row(canvas.row_of(level), level_name);
  std::string key(11, ' ');
  for (const TextLine& line : lines) {
    canvas.add(line);
    key += fmt::format("{} {}   ", line.mark, line.label);
  }
  return canvas.text() + key.substr(0, key.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace halfulp
