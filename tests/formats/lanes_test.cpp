// The one rounding text in float lanes against double lanes.
#include <doctest/doctest.h>

#include <optional>

#include "formats/catalog.h"
#include "formats/conformance/settings.h"
#include "formats/round_once.h"
#include "tests/formats/sample_points.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

std::vector<float> float_points(const ScalarFormat& f) {
  std::vector<float> points;
  for (const double x : sample_points(f))
    if (static_cast<double>(static_cast<float>(std::fmin(std::fmax(x, -3e38), 3e38))) == x || std::isinf(x) ||
        x != x)
      points.push_back(static_cast<float>(x));
  points.push_back(std::numeric_limits<float>::max());
  points.push_back(std::numeric_limits<float>::denorm_min());
  points.push_back(-std::numeric_limits<float>::min());
  return points;
}

/// The first input on which the two lanes differ.
std::optional<float> first_difference(const ScalarFormat& f, const std::vector<float>& points,
                                      Rounding rounding, std::uint64_t& total) {
  const Grid<float> narrow = make_grid<float>(f);
  const Grid<double> wide = make_grid<double>(f);
  const std::uint64_t count = std::uint64_t{1} << rounding.random_bits;
  std::mt19937 free_choice(7);
  for (const float x : points)
    for (const std::uint64_t r :
         {std::uint64_t{0}, count - 1, count / 2, std::uint64_t{free_choice() % count}}) {
      const float got = round_to_grid(x, narrow, rounding, static_cast<std::uint32_t>(r));
      const double expected = round_to_grid(double{x}, wide, rounding, r);
      ++total;
      if (bits_of(double{got}) != bits_of(expected) && !(got != got && expected != expected)) return x;
      if (!is_stochastic(rounding.mode)) break;
    }
  return std::nullopt;
}

}  // namespace

TEST_CASE("round_to_grid: float lanes equal double lanes in every mode that fits them") {
  std::uint64_t total = 0;
  std::vector<Rounding> roundings = deterministic_roundings();
  for (const auto mode : {RoundingMode::stochastic_a, RoundingMode::stochastic_b, RoundingMode::stochastic_c})
    for (int n = 1; n <= 32; ++n) roundings.push_back({mode, n});
  for (const NamedScalarFormat& named : all_scalar_formats) {
    const std::vector<float> points = float_points(named.format);
    for (const Rounding rounding : roundings) {
      if (!lanes_fit<float>(named.format, guard_bits(rounding.mode, rounding.random_bits))) continue;
      if (named.format.bits() > 8 && rounding.random_bits % 4 == 1) continue;  // three in four, for time
      const std::optional<float> difference = first_difference(named.format, points, rounding, total);
      INFO(std::string(named.name), " ", to_string(rounding), " x=", difference.value_or(0));
      CHECK(!difference.has_value());
    }
  }
  MESSAGE(total, " comparisons");
}

TEST_CASE(
    "lanes_fit: the float lanes serve FP8 with 16 random bits and refuse formats as wide as themselves") {
  for (const ScalarFormat& f : {e4m3, e5m2, e3m2, e2m3, e2m1, e4m3fnuz, e5m2fnuz, ue4m3})
    CHECK(lanes_fit<float>(f, 16));
  for (const ScalarFormat& f : {bf16, tf32, fp32, e8m0}) CHECK(!lanes_fit<float>(f, 0));
  for (const NamedScalarFormat& named : all_scalar_formats)
    CHECK(lanes_fit<double>(named.format, named.format.fraction_bits > 18 ? 27 : 33));
}

TEST_CASE("round: beyond the lanes, fp32 with 32 random bits still decides exactly at the boundary") {
  // nu = 2^-29: of 2^29 random integers one reaches the next number, of 2^32 eight do.
  const double x = 1 + 0x1p-23 * 0x1p-29;
  CHECK(round(x, fp32, {RoundingMode::stochastic_a, 29}, (1u << 29) - 1) == 1 + 0x1p-23);
  CHECK(round(x, fp32, {RoundingMode::stochastic_a, 29}, (1u << 29) - 2) == 1);
  CHECK(round(-x, fp32, {RoundingMode::stochastic_a, 32}, 0xffff'fff8u) == -1 - 0x1p-23);
  CHECK(round(-x, fp32, {RoundingMode::stochastic_a, 32}, 0xffff'fff7u) == -1);
}
