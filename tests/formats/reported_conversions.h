#pragma once
#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats/catalog.h"
#include "formats/overflow.h"
#include "formats/rounding.h"

namespace halfulp::test {

using Probability = boost::multiprecision::cpp_rational;

/// A line of tests/vectors/reported_conversions.txt.
struct ReportedConversion {
  std::string line;
  ScalarFormat format;
  double input;
  OverflowPolicy policy;
  std::array<std::optional<std::uint32_t>, 6> codes;  ///< of reported_modes; none: a NaN that has no code
  std::map<std::uint32_t, Probability> stochastic;    ///< empty for infinities, NaN and -0
};

inline constexpr std::array reported_modes{RoundingMode::nearest_even, RoundingMode::nearest_away,
                                           RoundingMode::toward_zero,  RoundingMode::up,
                                           RoundingMode::down,         RoundingMode::odd};

/// All lines, in the file's order.
/// errors: throws std::runtime_error with the line that cannot be read.
inline std::vector<ReportedConversion> reported_conversions() {
  std::ifstream file(HALFULP_SOURCE_DIR "/tests/vectors/reported_conversions.txt");
  if (!file) throw std::runtime_error("reported_conversions.txt cannot be opened");
  std::vector<ReportedConversion> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto require = [&](bool holds) {
      if (!holds) throw std::runtime_error("reported_conversions.txt: " + line);
    };
    std::istringstream in(line);
    std::string format, input, policy, code;
    require(static_cast<bool>(in >> format >> input >> policy));
    ReportedConversion c{line, {}, std::strtod(input.c_str(), nullptr), parse_overflow(policy), {}, {}};
    bool known = false;
    for (const NamedScalarFormat& named : all_scalar_formats)
      if (named.name == format) c.format = named.format, known = true;
    require(known);
    for (std::optional<std::uint32_t>& expected : c.codes) {
      require(static_cast<bool>(in >> code));
      if (code != "none") expected = static_cast<std::uint32_t>(std::stoul(code, nullptr, 16));
    }
    for (std::string item; in >> item;) {
      const std::size_t equals = item.find('=');
      require(equals != std::string::npos);
      c.stochastic[static_cast<std::uint32_t>(std::stoul(item.substr(0, equals), nullptr, 16))] =
          Probability(item.substr(equals + 1));
    }
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace halfulp::test
