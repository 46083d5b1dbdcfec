#pragma once
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "emulation/elementary.h"
#include "emulation/fp_environment.h"
#include "formats/error.h"

namespace halfulp {

/// Returns `count`.
/// errors: Error, naming `where`, unless it is 1..2^24
inline std::size_t checked_size(const std::string& where, std::size_t count) {
  if (count == 0 || count > std::size_t{1} << 24)
    throw Error(where + ", size", "wrong number of coordinates", std::to_string(count), "1..16777216");
  return count;
}

/// Returns `count` numbers that rise (or fall) from first to last by a constant ratio; the ends are exact.
/// errors: Error, naming `where`, as checked_size, and unless both ends are positive, normal and finite
inline std::vector<double> log_spaced(const std::string& where, double first, double last,
                                      std::size_t count) {
  for (const double end : {first, last})
    if (!std::isnormal(end) || end < 0)
      throw Error(where, "end of a logarithmic range", std::to_string(end), "a positive finite number");
  std::vector<double> values(checked_size(where, count), first);
  const FpEnvironment environment;
  const double log_first = elementary::log<double>(first), log_last = elementary::log<double>(last);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count - 1);
    values[i] = elementary::exp<double>(log_first + share * (log_last - log_first));
  }
  if (count > 1) values.back() = last;
  return values;
}

}  // namespace halfulp
