#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "analysis/element_step.h"
#include "formats/catalog.h"

namespace halfulp::test {

/// Every finite number of a format in ascending order, -0 and 0 once: by decoding all codes.
inline std::vector<double> representable(const ScalarFormat& f) {
  std::vector<double> values;
  for (std::uint64_t code = 0; code < f.code_count(); ++code) {
    const double value = decode(f, static_cast<std::uint32_t>(code));
    if (std::isfinite(value)) values.push_back(value == 0 ? 0.0 : value);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// One step of one element whose scale did not change, rounded to nearest.
inline ElementStep moved(const ScalarFormat& f, double before, double update, double after,
                         double multiplier = 1) {
  return {before, -1, update, before + update, after, before, StoredGrid{f, multiplier}, false};
}

}  // namespace halfulp::test
