#include "analysis/relative_error.h"

#include <doctest/doctest.h>

#include <limits>
#include <optional>

#include "formats/error.h"
#include "formats/quotient.h"
#include "formats/spec.h"
#include "tests/analysis/small_formats.h"

using namespace halfulp;
using halfulp::test::numbers_by_codes;
using halfulp::test::small_formats;

namespace {

/// |x - the nearest number| / |x|, by looking for it among all numbers.
double error_by_search(const std::vector<double>& numbers, double x) {
  const auto above = std::lower_bound(numbers.begin(), numbers.end(), x);
  double distance = std::numeric_limits<double>::infinity();
  if (above != numbers.end()) distance = std::min(distance, *above - x);
  if (above != numbers.begin()) distance = std::min(distance, x - *std::prev(above));
  return distance / std::fabs(x);
}

/// The largest error in a range of one sign, by all midpoints and ends: nothing else can be a maximum.
double worst_by_search(const std::vector<double>& numbers, double from, double to, double side) {
  double worst = std::max(error_by_search(numbers, side * from), error_by_search(numbers, side * to));
  const double low = std::min(side * from, side * to), high = std::max(side * from, side * to);
  auto at = std::lower_bound(numbers.begin(), numbers.end(), low);
  if (at != numbers.begin()) --at;
  for (; std::next(at) != numbers.end() && *at <= high; ++at) {
    const double middle = *at + (*std::next(at) - *at) / 2;
    if (middle >= low && middle <= high && middle != 0)
      worst = std::max(worst, error_by_search(numbers, middle));
  }
  return worst;
}

/// Errors are shares of x, whose midpoints are rounded once: some 2^-53 of 1.
bool nearly(double a, double b) { return std::fabs(a - b) <= 0x1p-50 * std::max(1.0, a); }

const Series* find_series(const Figure& figure, const std::string& label) {
  for (const Series& series : figure.series)
    if (series.label == label) return &series;
  return nullptr;
}

}  // namespace

TEST_CASE("relative error e2m1: worked by hand") {
  const GapSubject f{"e2m1", e2m1, 1};
  CHECK(relative_error(f, 0x1p-30) == 1);                    // to zero
  CHECK(relative_error(f, 0.25) == 1);                       // a tie, to zero
  CHECK(relative_error(f, 0.5) == 0);                        // a number
  CHECK(relative_error(f, 0.375) == 1.0 / 3);                // 1/8 of 3/8
  CHECK(relative_error(f, 2.5) == 0.2);                      // half a gap of 1
  CHECK(relative_error(f, 5) == 0.2);                        // half a gap of 2
  CHECK(relative_error(f, 12) == 0.5);                       // saturates at 6
  CHECK(relative_error({"scaled", e2m1, 0.5}, 2.5) == 0.2);  // quotient 5, to 4: 2
}

TEST_CASE("relative error: binades of e2m1 worked by hand") {
  const GapSubject f{"e2m1", e2m1, 1};
  const std::vector<GapStretch> stretches = gap_stretches(e2m1, 1);
  const auto worst = [&](double from, double to) { return worst_relative_error(f, stretches, from, to); };
  CHECK(worst(0x1p-9, 0x1p-8) == 1);
  CHECK(worst(0.25, 0.5) == 1);
  CHECK(worst(0.5, 1) == 0.25 / 0.75);
  CHECK(worst(1, 2) == 0.2);
  CHECK(worst(2, 4) == 0.2);
  CHECK(worst(4, 8) == 0.25);  // 2 of 8 beyond the largest, more than 1 of 5
  CHECK(worst(5.5, 6) == 0.5 / 5.5);
}

TEST_CASE("relative error: every small format against a search among its numbers") {
  for (const auto& [name, f] : small_formats()) {
    const std::vector<double> numbers = numbers_by_codes(f);
    for (const Side side : {Side::positive, Side::negative}) {
      if (side == Side::negative && numbers.front() >= 0) continue;
      const double sign = side == Side::positive ? 1 : -1;
      const GapSubject subject{name, f, 1, side};
      const std::vector<GapStretch> stretches = gap_stretches(f, 1, side);
      const int lowest = std::max(floor_log2(f.min_positive()) - 3, -1020),
                highest = std::min(floor_log2(f.max_finite()) + 3, 1020);
      for (int k = lowest; k <= highest; ++k)
        for (const double part : {1.0, 1.3}) {
          const double from = std::ldexp(part, k), to = 2 * from;
          INFO(name, " ", static_cast<int>(side), " from ", from);
          REQUIRE(nearly(relative_error(subject, from), error_by_search(numbers, sign * from)));
          REQUIRE(nearly(worst_relative_error(subject, stretches, from, to),
                         worst_by_search(numbers, from, to, sign)));
        }
    }
  }
}

TEST_CASE("relative error: a scale moves the whole curve") {
  const double scale = gap_subject("nvfp4", parse_format("nvfp4"), 0.7).scale;
  const GapSubject plain{"e2m1", e2m1, 1}, scaled{"nvfp4", e2m1, scale};
  for (double x = 0x1p-8; x < 32; x *= 1.07)
    CHECK(std::fabs(relative_error(scaled, x * scale) - relative_error(plain, x)) < 1e-14);
}

TEST_CASE("relative error figure: envelope steps, teeth of small formats, scales in the names") {
  const std::vector<GapSubject> subjects{{"e2m1", e2m1, 1}, {"bf16", bf16, 1}, {"b", e2m1, 0.25}};
  const Figure figure = relative_error_figure(subjects, {0.25, 8});
  const Series* worst = find_series(figure, "e2m1 worst");
  REQUIRE(worst != nullptr);
  CHECK(worst->x == std::vector<double>{0.25, 0.5, 0.5, 1, 1, 2, 2, 4, 4, 8});
  CHECK(worst->y[0] == 1);
  CHECK(worst->y[2] == 0.25 / 0.75);
  CHECK(worst->y[9] == 0.25);
  CHECK(find_series(figure, "bf16 error") == nullptr);  // too many teeth
  CHECK(find_series(figure, "bf16 worst") != nullptr);
  CHECK(find_series(figure, "b, scale 0.25 worst") != nullptr);
  const Series* teeth = find_series(figure, "e2m1 error");
  REQUIRE(teeth != nullptr);
  CHECK(!teeth->in_legend);
  CHECK(teeth->x.front() == 0.25);
  CHECK(teeth->x.back() == 8);
  CHECK(std::is_sorted(teeth->x.begin(), teeth->x.end()));
  for (std::size_t i = 0; i < teeth->x.size(); ++i)
    CHECK(teeth->y[i] == relative_error(subjects[0], teeth->x[i]));
  // every number and every midpoint in the range is a point
  for (const double x : {0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0})
    CHECK(std::count(teeth->x.begin(), teeth->x.end(), x) >= 1);
}

TEST_CASE("relative error figure: a range that ends inside a gap still has its peak") {
  const GapSubject f{"e2m1", e2m1, 1};
  const Figure figure = relative_error_figure({f}, {1.6, 3.75});
  const Series* teeth = find_series(figure, "e2m1 error");
  REQUIRE(teeth != nullptr);
  CHECK(std::count(teeth->x.begin(), teeth->x.end(), 1.75) == 1);
  CHECK(std::count(teeth->x.begin(), teeth->x.end(), 3.5) == 1);
  CHECK(teeth->x.front() == 1.6);
  CHECK(teeth->x.back() == 3.75);
}

TEST_CASE("relative error figure: a table that differs below zero has a second line") {
  const Figure figure =
      relative_error_figure({{"t", table_format({-4, -1, 0, 1, 2, 4}, "skewed"), 1}}, {1, 4});
  REQUIRE(find_series(figure, "t worst") != nullptr);
  REQUIRE(find_series(figure, "t negative worst") != nullptr);
  CHECK(find_series(figure, "t worst")->y.back() == 1.0 / 3);
  CHECK(find_series(figure, "t negative worst")->y.back() == 1.5 / 2.5);
}

TEST_CASE("relative error figure: bad ranges and repeated names are refused, the range shows both ends") {
  const GapSubject f{"e4m3", e4m3, 1};
  CHECK_THROWS_AS(relative_error_figure({f}, {2, 1}), Error);
  CHECK_THROWS_AS(relative_error_figure({f}, {0, 1}), Error);
  CHECK_THROWS_AS(relative_error_figure({f}, {0x1p-1060, 1}), Error);
  CHECK_THROWS_AS(relative_error_figure({f, f}, {1, 2}), Error);
  const MagnitudeRange range = relative_error_range({f});
  CHECK(range.from == 0x1p-12);
  CHECK(range.to == 0x1p11);
  CHECK(relative_error_range({{"bf16", bf16, 1}}).from == 0x1p-28);
  CHECK(relative_error_range({{"bf16", bf16, 1}}).to == 0x1p20);
}
