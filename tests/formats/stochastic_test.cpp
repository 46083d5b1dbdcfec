// The probability of a stochastic rounding, counted over all random integers instead of estimated.
#include <doctest/doctest.h>

#include "formats/catalog.h"
#include "formats/encode.h"
#include "tests/formats/sample_points.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

/// Points of up to 60 gaps spread over the format, each at sixteenths, a third, and hairs beside them.
std::vector<double> points_inside_gaps(const ScalarFormat& f) {
  const std::vector<double> values = positive_values(f);
  const std::size_t gaps = values.size() - 1, stride = gaps / 60 + 1;
  std::vector<double> points;
  for (std::size_t i = 0; i < gaps; i += stride) {
    const double low = values[i], gap = values[i + 1] - values[i];
    for (const double nu :
         {0.0, 1 / 16.0, 0x1.8p-9, 0x1p-9, 0x1p-10, 1 / 3.0, 0.5, 0.5 + 0x1p-20, 15 / 16.0, 1 - 0x1p-12}) {
      points.push_back(low + nu * gap);
      points.push_back(-(low + nu * gap));
    }
  }
  return points;
}

struct Counts {
  std::uint64_t away = 0, elsewhere = 0;
};

Counts enumerate(double x, const ScalarFormat& f, Rounding rounding) {
  Counts counts;
  const SpecialValues special = special_values(OverflowPolicy::saturate);
  const std::uint32_t near = convert(x, f, {RoundingMode::toward_zero, 0}, special, 0);
  const std::uint32_t far = convert(x, f, {RoundingMode::away_from_zero, 0}, special, 0);
  for (std::uint32_t r = 0; r < std::uint32_t{1} << rounding.random_bits; ++r) {
    const std::uint32_t code = convert(x, f, rounding, special, r);
    if (code == far && far != near)
      ++counts.away;
    else if (code != near)
      ++counts.elsewhere;
  }
  return counts;
}

}  // namespace

TEST_CASE("stochastic: the share of random integers that go away is the mode's formula, on every format") {
  std::uint64_t points = 0, different = 0;
  for (const NamedScalarFormat& named : all_scalar_formats) {
    const ScalarFormat& f = named.format;
    const oracle::Oracle oracle(f);
    for (const double x : points_inside_gaps(f)) {
      if (!f.is_signed && x < 0) continue;
      const oracle::Bracket b = oracle.bracket(x);
      for (const auto mode :
           {RoundingMode::stochastic_a, RoundingMode::stochastic_b, RoundingMode::stochastic_c,
            RoundingMode::stochastic_odd})
        for (const int bits : {1, 2, 3, 5, 8}) {
          const Counts counts = enumerate(x, f, {mode, bits});
          ++points;
          const bool right =
              counts.away == oracle::outward_count(b, {mode, bits}) && counts.elsewhere == 0;
          if (!right && ++different < 5)
            MESSAGE(std::string(named.name), " x=", x, " bits=", bits, " away=", counts.away);
        }
    }
  }
  CHECK(different == 0);
  CHECK(points > 10000);
  MESSAGE(points, " points");
}

TEST_CASE("stochastic: counts worked by hand for E4M3, gap 1/8 above 1") {
  struct {
    double x;
    int bits;
    std::uint64_t a, b, c, odd;
  } const rows[] = {
      {1 + 1 / 32.0, 2, 1, 1, 1, 1},      // nu = 1/4
      {1 + 1 / 128.0, 2, 0, 0, 0, 0},     // nu = 1/16: below every quarter, and its half
      {1 + 1 / 64.0, 2, 0, 1, 0, 1},      // nu = 1/8: b adds half a last random ulp, c ties to even
      {1 + 15 / 128.0, 2, 3, 4, 4, 4},    // nu = 15/16
      {1 + 15 / 128.0, 3, 7, 8, 8, 7},    // 7.5 in eighths: b up, c to even 8, odd to 7
      {1 + 1 / 24.0, 8, 85, 85, 85, 85},  // nu = 1/3: 85.33 in 256ths
      {1 + 5 / 96.0, 1, 0, 1, 1, 1},      // nu = 5/12: 0.83 in halves
      {-(1 + 1 / 32.0), 2, 1, 1, 1, 1},   // the direction is away from zero, not up
      {0x1p-10, 1, 1, 1, 1, 1},           // half of the smallest subnormal
      {0x1.8p-9, 8, 128, 128, 128, 128},  // between the first two subnormals
  };
  for (const auto& row : rows) {
    INFO(row.x, " with ", row.bits, " bits");
    CHECK(enumerate(row.x, e4m3, {RoundingMode::stochastic_a, row.bits}).away == row.a);
    CHECK(enumerate(row.x, e4m3, {RoundingMode::stochastic_b, row.bits}).away == row.b);
    CHECK(enumerate(row.x, e4m3, {RoundingMode::stochastic_c, row.bits}).away == row.c);
    CHECK(enumerate(row.x, e4m3, {RoundingMode::stochastic_odd, row.bits}).away == row.odd);
    CHECK(enumerate(row.x, e4m3, {RoundingMode::stochastic_equal, 1}).away == 1);
  }
}

TEST_CASE("stochastic: numbers of the format never move, whatever the random bits") {
  for (const NamedScalarFormat& named : all_scalar_formats) {
    if (named.format.bits() > 8) continue;
    for (const double v : positive_values(named.format))
      for (const auto mode :
           {RoundingMode::stochastic_a, RoundingMode::stochastic_b, RoundingMode::stochastic_c,
            RoundingMode::stochastic_odd})
        for (std::uint32_t r = 0; r < 256; ++r) CHECK(round(v, named.format, {mode, 8}, r) == v);
  }
}

TEST_CASE("stochastic: infinities and NaN pass by the random bits") {
  const double infinity = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  const SpecialValues ocp = special_values(OverflowPolicy::ocp),
                      saturate = special_values(OverflowPolicy::saturate);
  for (std::uint32_t r = 0; r < 65536; ++r) {
    const bool right = convert(infinity, bf16, stochastic, ocp, r) == 0x7f80 &&
                       convert(-infinity, bf16, stochastic, ocp, r) == 0xff80 &&
                       convert(infinity, e4m3, stochastic, ocp, r) == 0x7f &&
                       convert(-infinity, e4m3, stochastic, saturate, r) == 0xfe &&
                       convert(-infinity, e5m2, stochastic, ocp, r) == 0xfc &&
                       is_nan_code(bf16, convert(nan, bf16, stochastic, ocp, r)) &&
                       is_nan_code(e4m3, convert(nan, e4m3, stochastic, saturate, r));
    if (!right) REQUIRE(r == 0x10000);
  }
}
