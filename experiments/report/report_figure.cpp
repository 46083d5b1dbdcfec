#include "experiments/report/report_figure.h"

#include <array>

namespace halfulp {
namespace {

struct Look {
  std::string_view label;
  SeriesStyle style;
  int colour, dash;
};

// No two rules share a dash or mark in one style, so that a grey print tells them apart.
constexpr std::array<Look, 6> usual_looks{{{"adamw", SeriesStyle::line, 1, 0},
                                           {"adamw+sr", SeriesStyle::line, 6, 1},
                                           {"madam", SeriesStyle::line, 2, 2},
                                           {"lmd", SeriesStyle::thin_line, 3, 0},
                                           {"m_adam", SeriesStyle::marked_line, 5, 0},
                                           {"m_adam+sr", SeriesStyle::marked_line, 4, 1}}};

}  // namespace

std::string file_stem(const std::string& words) {
  std::string stem;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char c = words[i];
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '_';
    if (words.compare(i, 2, "->") == 0) {
      stem += "_to_";
      ++i;
    } else {
      stem += plain ? c : '-';
    }
  }
  return stem;
}

Series series_like(const std::string& rule_label, std::size_t place, const std::string& label) {
  for (const Look& look : usual_looks)
    if (look.label == rule_label) return {label, look.style, look.colour, look.dash, {}, {}};
  return {label, SeriesStyle::thin_line, static_cast<int>(1 + place % 7), static_cast<int>(place % 5), {},
          {}};
}

Series marker_line(const std::string& label, double x0, double y0, double x1, double y1) {
  return {label, SeriesStyle::thin_line, 0, 1, {x0, x1}, {y0, y1}};
}

}  // namespace halfulp
