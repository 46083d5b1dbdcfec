#include "analysis/code_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "analysis/gnuplot.h"
#include "formats/block.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

constexpr int widest_bits = 8;

CodeKind kind_of(const ScalarFormat& f, std::uint32_t code) {
  if (is_nan_code(f, code)) return CodeKind::nan;
  if (is_infinity_code(f, code)) return CodeKind::infinity;
  const double value = decode(f, code);
  if (value == 0) return CodeKind::zero;
  if (value == f.max_finite() || (value < 0 && value == f.lowest())) return CodeKind::largest;
  const bool may_be_subnormal = !f.is_table() && !f.is_fixed_point && f.has_zero;
  return may_be_subnormal && std::fabs(value) < f.min_normal() ? CodeKind::subnormal : CodeKind::normal;
}

CodeRow row_of(const std::string& name, const BlockFormat& format, std::uint32_t scale_code,
               TensorMultiplier t) {
  const ScalarFormat& f = format.element;
  CodeRow row{name, f.bits(), scale_value(format, scale_code, t), {}, std::nullopt};
  for (std::uint32_t code = 0; code < std::uint32_t{1} << f.bits(); ++code)
    row.points.push_back({code, decode_in_block(format, code, scale_code, t), kind_of(f, code)});
  return row;
}

void require_small(const std::string& name, const ScalarFormat& f) {
  if (f.bits() > widest_bits)
    throw Error("codes", "too many codes", fmt::format("{} ({} bits)", name, f.bits()),
                fmt::format("formats of up to {} bits", widest_bits));
}

struct ScaleChoice {
  double factor;
  const char* name;
};
constexpr std::array scale_choices{ScaleChoice{2, "twice that"}, ScaleChoice{1, "of the rule"},
                                   ScaleChoice{0.5, "half of it"}, ScaleChoice{0.25, "a quarter of it"}};

/// Smallest positive magnitude and largest one of a row; infinity and 0 if there are none.
std::pair<double, double> ends_of(const CodeRow& row) {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (const double number : row.numbers())
    if (number != 0)
      smallest = std::min(smallest, std::fabs(number)), largest = std::max(largest, std::fabs(number));
  return {smallest, largest};
}

}  // namespace

std::vector<double> CodeRow::numbers() const {
  std::vector<double> all;
  for (const CodePoint& point : points)
    if (std::isfinite(point.value)) all.push_back(point.value + 0.0);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string CodeRow::codes_text(CodeKind kind) const {
  const int digits = (bits + 3) / 4;
  std::string text;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].kind != kind) continue;
    const std::uint32_t first = points[i].code;
    while (i + 1 < points.size() && points[i + 1].kind == kind) ++i;
    text += fmt::format("{}0x{:0{}x}", text.empty() ? "" : ", ", first, digits);
    if (points[i].code != first) text += fmt::format("-0x{:0{}x}", points[i].code, digits);
  }
  return text;
}

std::vector<CodeRow> code_rows(const std::string& name, const BlockFormat& format, double amax) {
  require_small(name, format.element);
  require_double_view(format, "codes");
  if (!format.has_scale()) return {row_of(name, format, 0, 1.0f)};
  const TensorMultiplier t = choose_tensor_scale(format, amax);
  const double chosen = decode(format.scale, choose_scale(format, amax, t, 0));
  if (!(chosen * t.decode > 0) || std::isinf(chosen))
    throw Error("codes", name + " has no scale for a block of this amax", fmt::format("{}", amax),
                "an amax within the range of its scales");
  std::vector<CodeRow> rows;
  for (const ScaleChoice& choice : scale_choices) {
    const double scale = chosen * choice.factor;
    const std::uint32_t code =
        convert(scale, format.scale, nearest_even, special_values(OverflowPolicy::saturate), 0);
    if (decode(format.scale, code) != scale || rows.size() == 3) continue;
    rows.push_back(row_of("", format, code, t));
    const std::string product =
        format.has_tensor_scale() ? fmt::format(" = {:.6g} x {:.6g}", scale, t.decode) : "";
    rows.back().name =
        fmt::format("{}, scale {:.6g}{} ({}{})", name, rows.back().multiplier, product, choice.name,
                    choice.factor == 1 ? fmt::format(" for amax {:.6g}", amax) : "");
    rows.back().amax = amax;
  }
  return rows;
}

double CodeMap::position(double value) const noexcept {
  if (axis == CodeAxis::linear) return value;
  const double ratio = std::fabs(value) / smallest;
  return std::copysign(ratio < 1 ? ratio : 1 + std::log2(ratio), value);
}

CodeMap code_map(std::vector<CodeRow> rows, std::optional<CodeAxis> axis) {
  if (rows.empty()) throw Error("codes", "nothing to draw", "no format", "a format");
  std::set<std::string> names;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double smallest = infinity, widest = 0, least_top = infinity, top = 0;
  for (const CodeRow& row : rows) {
    if (!names.insert(row.name).second) throw Error("codes", "a format stands twice", row.name, "each once");
    const auto [low, high] = ends_of(row);
    if (high == 0) throw Error("codes", "no number but zero", row.name, "a larger amax");
    smallest = std::min(smallest, low), widest = std::max(widest, high / low);
    least_top = std::min(least_top, high), top = std::max(top, high);
  }
  const bool fits_linear = widest <= 128 && top <= 4 * least_top;
  const CodeAxis chosen = axis.value_or(fits_linear ? CodeAxis::linear : CodeAxis::log);
  return {std::move(rows), chosen, smallest};
}

std::string code_map_csv(const CodeMap& map) {
  std::string text = "row,format,multiplier,code,kind,value,position\n";
  int row_number = 0;
  for (const CodeRow& row : map.rows) {
    const std::string start = fmt::format("{},{},{},", ++row_number, csv_field(row.name), row.multiplier);
    for (const CodePoint& point : row.points) {
      const std::string position =
          std::isfinite(point.value) ? fmt::format("{:.9g}", map.position(point.value)) : "";
      const std::string value = std::isnan(point.value) ? "nan" : fmt::format("{}", point.value);
      text += fmt::format("{}{},{},{},{}\n", start, point.code, name_of(point.kind), value, position);
    }
  }
  return text;
}

}  // namespace halfulp
