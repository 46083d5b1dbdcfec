// Probabilities of stochastic rounding: exact by enumeration up to 12 random bits, by 1e6 draws beyond.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "emulation/random_bits.h"
#include "formats/catalog.h"
#include "formats/encode.h"
#include "formats/p3109.h"
#include "formats/value_table.h"

using namespace halfulp;

namespace {

constexpr SpecialValues saturate = special_values(OverflowPolicy::saturate);
constexpr int fraction_bits = 20;  // the places tried are multiples of 2^-20 of a gap
constexpr std::uint64_t whole = std::uint64_t{1} << fraction_bits;

/// Random integers of N bits, of 2^N, that go away from zero at nu = place 2^-20: the mode's sentence in integers.
std::uint64_t expected_away(RoundingMode mode, std::uint64_t place, int bits) {
  const std::uint64_t all = std::uint64_t{1} << bits;
  const std::uint64_t floor = place * all / whole, rest = place * all % whole, half = whole / 2;
  switch (mode) {
    case RoundingMode::stochastic_a:
      return floor;
    case RoundingMode::stochastic_b:
      return (2 * place * all / whole + 1) / 2;  // r with floor(nu 2^(N+1)) + 2 r + 1 >= 2^(N+1)
    case RoundingMode::stochastic_c:
      return floor + (rest > half || (rest == half && floor % 2 == 1) ? 1 : 0);
    case RoundingMode::stochastic_odd:
      return floor + (rest > half || (rest == half && floor % 2 == 0) ? 1 : 0);
    case RoundingMode::stochastic_equal:
      return place == 0 ? 0 : 1;
    case RoundingMode::nearest_even:
    case RoundingMode::nearest_away:
    case RoundingMode::nearest_to_zero:
    case RoundingMode::toward_zero:
    case RoundingMode::away_from_zero:
    case RoundingMode::up:
    case RoundingMode::down:
    case RoundingMode::odd:
      break;
  }
  return 0;
}

/// Neighbouring numbers of a format, lower one first; the point between them is exact in double.
struct Gap {
  std::string name;
  ScalarFormat format;
  double lower, upper;

  double at(std::uint64_t place) const {
    return lower + (upper - lower) * (static_cast<double>(place) / static_cast<double>(whole));
  }
};

std::vector<Gap> gaps() {
  const ScalarFormat table = table_format({-3, -1, 0, 0.125, 0.75, 2}, "table{probabilities}");
  return {{"e4m3 above 1", e4m3, 1, 1.125},
          {"e4m3 below a power of two", e4m3, 1.875, 2},
          {"e4m3 first subnormal gap", e4m3, 0, 0x1p-9},
          {"e4m3 last subnormal gap", e4m3, 7 * 0x1p-9, 0x1p-6},
          {"e2m1 first gap", e2m1, 0, 0.5},
          {"e2m1 last gap", e2m1, 4, 6},
          {"e3m0", e3m0, 2, 4},
          {"e8m0", e8m0, 0x1p-3, 0x1p-2},
          {"ue5m3", ue5m3, 1.25, 1.375},
          {"int8", int8, 0.25, 0.265625},
          {"bf16", bf16, 1, 1 + 0x1p-7},
          {"fp16 first subnormal gap", fp16, 0, 0x1p-24},
          {"binary8p3se", p3109(8, 3, true, true), 1, 1.25},
          {"binary8p1uf", p3109(8, 1, false, false), 4, 8},
          {"table", table, 0.125, 0.75}};
}

constexpr RoundingMode modes[] = {RoundingMode::stochastic_a, RoundingMode::stochastic_b,
                                  RoundingMode::stochastic_c, RoundingMode::stochastic_odd};

}  // namespace

TEST_CASE("stochastic probability: exact over all random integers of 1 to 12 bits, in every kind of gap") {
  std::uint64_t conversions = 0;
  for (const Gap& gap : gaps())
    for (const std::uint64_t place : {std::uint64_t{0}, std::uint64_t{1}, whole / 8192, whole / 3, whole / 2,
                                      whole / 2 + 1, whole / 4 * 3, whole - 1})
      for (const double sign : {1.0, -1.0}) {
        if (sign < 0 && !gap.format.is_signed) continue;
        if (sign < 0 && gap.format.is_table()) continue;  // not symmetric
        const std::uint32_t lower = convert(sign * gap.lower, gap.format, nearest_even, saturate, 0),
                            upper = convert(sign * gap.upper, gap.format, nearest_even, saturate, 0);
        for (const RoundingMode mode : modes)
          for (int bits = 1; bits <= 12; ++bits) {
            std::uint64_t away = 0, other = 0;
            for (std::uint32_t r = 0; r < 1u << bits; ++r, ++conversions) {
              const std::uint32_t code = convert(sign * gap.at(place), gap.format, {mode, bits}, saturate, r);
              away += code == upper ? 1 : 0;
              other += code != upper && code != lower ? 1 : 0;
            }
            INFO(gap.name, " place ", place, " ", to_string(Rounding{mode, bits}));
            CHECK(other == 0);
            CHECK(away == expected_away(mode, place, bits));
          }
      }
  MESSAGE(conversions, " conversions");
}

TEST_CASE("stochastic probability: the mean of 1e6 draws lies within 4 sigma for 16, 24 and 32 bits") {
  constexpr std::size_t draws = 1'000'000;
  std::vector<std::uint32_t> random(draws);
  std::uint32_t step = 0;
  for (const Gap& gap : gaps())
    for (const int bits : {16, 24, 32}) {
      const RandomStream stream{2026, ++step, 0, 0, RandomPurpose::rounding, 0};
      fill_random_bits(stream, 0, bits, std::span(random));
      for (const std::uint64_t place : {whole / 1000, whole / 3})
        for (const RoundingMode mode : modes) {
          std::size_t away = 0;
          const std::uint32_t upper = convert(gap.upper, gap.format, nearest_even, saturate, 0);
          for (const std::uint32_t r : random)
            away += convert(gap.at(place), gap.format, {mode, bits}, saturate, r) == upper ? 1 : 0;
          const double p = std::ldexp(static_cast<double>(expected_away(mode, place, bits)), -bits);
          const double sigma = std::sqrt(p * (1 - p) / draws);
          INFO(gap.name, " place ", place, " ", to_string(Rounding{mode, bits}), " p ", p);
          CHECK(std::fabs(static_cast<double>(away) / draws - p) < 4 * sigma);
        }
    }
}
