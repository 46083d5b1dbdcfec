// Known answers, one file a format, from specifications and public bug reports.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "formats/catalog.h"
#include "formats/encode.h"

using namespace halfulp;

namespace {

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

std::uint32_t hexadecimal(const std::string& text) {
  return static_cast<std::uint32_t>(std::stoul(text, nullptr, 16));
}

bool same_value(double a, double b) { return (a != a && b != b) || bits_of(a) == bits_of(b); }

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

constexpr std::array columns{RoundingMode::nearest_even, RoundingMode::nearest_away,
                             RoundingMode::toward_zero,  RoundingMode::up,
                             RoundingMode::down,         RoundingMode::odd};

void replay_encode(const ScalarFormat& f, std::istringstream& in) {
  std::string input, policies, code;
  in >> input >> policies;
  for (const RoundingMode mode : columns) {
    REQUIRE(static_cast<bool>(in >> code));
    for (const std::string& policy : split(policies, ',')) {
      INFO(to_string(Rounding{mode, 0}), " ", policy);
      CHECK(convert(number(input), f, {mode, 0}, special_values(parse_overflow(policy)), 0) ==
            hexadecimal(code));
    }
  }
}

/// The stated probabilities have a power of two 2^k below: with k random bits modes a and c deliver them
/// exactly, and b, which decides at half steps, too.
void replay_stochastic(const ScalarFormat& f, std::istringstream& in) {
  std::string input;
  in >> input;
  std::map<std::uint32_t, std::uint64_t> expected;
  std::uint64_t draws = 0;
  for (std::string item; in >> item;) {
    const std::size_t equals = item.find('='), slash = item.find('/');
    expected[hexadecimal(item.substr(0, equals))] = std::stoul(item.substr(equals + 1, slash - equals - 1));
    draws = std::stoul(item.substr(slash + 1));
  }
  const int bits = std::bit_width(draws) - 1;
  for (const auto mode :
       {RoundingMode::stochastic_a, RoundingMode::stochastic_b, RoundingMode::stochastic_c}) {
    std::map<std::uint32_t, std::uint64_t> counted;
    for (std::uint32_t r = 0; r < draws; ++r)
      ++counted[convert(number(input), f, {mode, bits}, special_values(OverflowPolicy::saturate), r)];
    CHECK(counted == expected);
  }
}

}  // namespace

TEST_CASE("vectors: every format of the catalog has known answers and gives them") {
  int lines = 0;
  for (const NamedScalarFormat& named : all_scalar_formats) {
    const std::string path = HALFULP_SOURCE_DIR "/tests/vectors/" + std::string(named.name) + ".txt";
    std::ifstream file(path);
    INFO(path);
    REQUIRE(file.is_open());
    int decoded = 0, encoded = 0;
    for (std::string line; std::getline(file, line);) {
      INFO(line);
      std::istringstream in(line);
      std::string kind, code, value;
      if (!(in >> kind) || kind[0] == '#') continue;
      ++lines;
      if (kind == "decode") {
        REQUIRE(static_cast<bool>(in >> code >> value));
        CHECK(same_value(decode(named.format, hexadecimal(code)), number(value)));
        ++decoded;
      } else if (kind == "encode") {
        replay_encode(named.format, in);
        ++encoded;
      } else {
        REQUIRE(kind == "stochastic");
        replay_stochastic(named.format, in);
      }
    }
    CHECK(decoded >= 8);
    CHECK(encoded >= 8);
  }
  MESSAGE(lines, " lines");
}
