#pragma once
#include <string>
#include <vector>

namespace halfulp {

/// One line of a character drawing; y[i] at x[i], x ascending, a y that is not finite is left out.
struct TextLine {
  char mark;
  std::string label;
  std::vector<double> x, y;
};

/// A drawing of `columns` times `rows` characters with the values of y at its left, each line's mark at the
/// right of its end, and the labels of the marks below. A level is a row of '-' with its name at the right.
/// Where lines share a place their marks alternate. Empty if no line has two points.
std::string draw_lines(const std::vector<TextLine>& lines, double level, const std::string& level_name,
                       std::size_t columns = 84, std::size_t rows = 20);

}  // namespace halfulp
