#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analysis/gap.h"
#include "formats/catalog.h"
#include "formats/p3109.h"
#include "formats/value_table.h"

namespace halfulp::test {

/// The catalog's formats of at most 16 bits, P3109 formats of all four kinds, formats without subnormals,
/// tables that differ on both sides, have no zero or one sign, and logarithmic ones.
inline std::vector<std::pair<std::string, ScalarFormat>> small_formats() {
  std::vector<std::pair<std::string, ScalarFormat>> formats;
  for (const NamedScalarFormat& known : all_scalar_formats)
    if (known.format.bits() <= 16) formats.emplace_back(known.name, known.format);
  for (const int k : {3, 5, 8, 12})
    for (int p = 1; p < k; ++p)
      for (const bool is_signed : {false, true})
        for (const bool is_extended : {false, true}) {
          const ScalarFormat f = p3109(k, p, is_signed, is_extended);
          if (f.has_double_view())
            formats.emplace_back("p3109 " + std::to_string(k) + " " + std::to_string(p), f);
        }
  ScalarFormat flushing = e4m3;
  flushing.has_subnormals = false;
  formats.emplace_back("e4m3 without subnormals", flushing);
  formats.emplace_back("skewed", table_format({-4, -1, 0, 1, 2, 4}, "skewed"));
  formats.emplace_back("no zero", table_format({-3, -1, 2, 5}, "no zero"));
  formats.emplace_back("positive", table_format({0.25, 0.5, 3}, "positive"));
  formats.emplace_back("decimal", table_format({-1, -0.7, -0.1, 0, 0.2, 0.3, 1}, "decimal"));
  formats.emplace_back("lns 4", lns_format(4, 2));
  formats.emplace_back("lns 8", lns_format(8, 8));
  formats.emplace_back("lns 16", lns_format(16, 2048));
  return formats;
}

/// All finite numbers, ascending, -0 and 0 once: by decoding all codes.
inline std::vector<double> numbers_by_codes(const ScalarFormat& f) {
  std::vector<double> all;
  for (std::uint64_t code = 0; code < f.code_count(); ++code) {
    const double value = decode(f, static_cast<std::uint32_t>(code));
    if (std::isfinite(value)) all.push_back(value == 0 ? 0.0 : value);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Magnitudes of all finite numbers on one side, zero included, ascending and once each: by decoding all
/// codes.
inline std::vector<double> magnitudes_by_codes(const ScalarFormat& f, Side side) {
  std::vector<double> all;
  for (const double value : numbers_by_codes(f))
    if (side == Side::positive ? value >= 0 : value <= 0) all.push_back(std::fabs(value));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace halfulp::test
