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
    names_[row] += (names_[row].empty() ? "" : ", ") + name;
  }
  void rule_row(std::size_t row) { ruled_ = row; }

  /// Joins the points: within a column every row between the last value before it and those inside it.
  void add(const TextLine& line) {
    double last = NAN;
    std::size_t next = 0;
    for (std::size_t column = 0; column < columns_; ++column) {
      const double end = x_.low + (x_.high - x_.low) * (static_cast<double>(column) + 0.5) /
                                      static_cast<double>(columns_ - 1);
      double low = last, high = last;
      for (; next < line.x.size() && line.x[next] <= end; ++next) {
        if (!std::isfinite(line.y[next])) continue;
        last = line.y[next];
        low = std::isnan(low) ? last : std::min(low, last);
        high = std::isnan(high) ? last : std::max(high, last);
      }
      if (std::isnan(last)) continue;
      for (std::size_t row = row_of(high); row <= row_of(low); ++row)
        marks_[row * columns_ + column] += line.mark;
    }
    if (!std::isnan(last)) name_row(row_of(last), fmt::format("{} {}", line.mark, line.label));
  }

  std::string text() const {
    std::string text;
    for (std::size_t row = 0; row < rows_; ++row) {
      std::string drawn;
      for (std::size_t column = 0; column < columns_; ++column) {
        const std::string& here = marks_[row * columns_ + column];
        drawn += !here.empty() ? here[column % here.size()] : row == ruled_ && column % 2 == 0 ? '-' : ' ';
      }
      const bool has_value = row % 4 == 0 || row + 1 == rows_ || row == ruled_;
      text += (has_value ? fmt::format("{:>9.4g} |", value_of_row(row)) : std::string(9, ' ') + " |") + drawn;
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
  canvas.rule_row(canvas.row_of(level));
  canvas.name_row(canvas.row_of(level), level_name);
  for (const TextLine& line : lines) canvas.add(line);
  return canvas.text();
}

}  // namespace halfulp
