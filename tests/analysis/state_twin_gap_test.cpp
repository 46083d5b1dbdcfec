// A stored state against its double twin.
#include "analysis/state_twin_gap.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "formats/error.h"
#include "tests/analysis/random_tiles.h"

namespace halfulp {
namespace {

StateTwinGap gap(const std::vector<double>& stored, const std::vector<double>& twin) {
  return state_twin_gap(stored, twin);
}

TEST_CASE("state twin gap: ratios in octaves, and the distance") {
  // Ratios 1/4, 2 and 1: logarithms -2, 1 and 0.
  const StateTwinGap g = gap({0.25, 4, 8}, {1, 2, 8});
  CHECK(g.compared == 3);
  CHECK(g.mean_log2_ratio == -1.0 / 3);
  CHECK(g.largest_log2_ratio == 2);
  CHECK(g.off_by_two == 2);
  CHECK(g.relative_distance == std::sqrt(0.75 * 0.75 + 4) / std::sqrt(1.0 + 4 + 64));
  CHECK(g.wrong_sign == 0);
  // The moving average of ones that stalls at a quarter doubles Adam's step.
  CHECK(std::exp2(-gap({0.25}, {1}).mean_log2_ratio / 2) == 2);
}

TEST_CASE("state twin gap: zeros have no ratio and are told apart") {
  const StateTwinGap g = gap({0, 1e-3, 0, -0.0, -2}, {1e-9, 0, -0.0, 5, 2});
  CHECK(g.elements == 5);
  CHECK(g.lost == 2);
  CHECK(g.spurious == 1);
  CHECK(g.both_zero == 1);
  CHECK(g.compared == 1);
  CHECK(g.wrong_sign == 1);
  CHECK(g.mean_log2_ratio == 0);
  const StateTwinGap zeros = gap({0, 0}, {0, 0});
  CHECK(zeros.relative_distance == 0);
  CHECK(zeros.compared == 0);
  CHECK(zeros.mean_log2_ratio == 0);
  CHECK(gap({1}, {0}).relative_distance == std::numeric_limits<double>::infinity());
  CHECK(gap({}, {}).elements == 0);
}

TEST_CASE("state twin gap: numbers that are not finite are counted and left out, extreme ratios are not") {
  const double infinity = std::numeric_limits<double>::infinity();
  const StateTwinGap g = gap({std::nan(""), 1, infinity, 2}, {1, infinity, 1, 1});
  CHECK(g.nonfinite == 3);
  CHECK(g.elements == 1);
  CHECK(g.mean_log2_ratio == 1);
  CHECK(gap({0x1p-1074}, {0x1p1000}).largest_log2_ratio == 2074);
  CHECK(gap({0x1p1000}, {0x1p-1000}).mean_log2_ratio == 2000);
}

TEST_CASE("state twin gap: sizes must agree") { CHECK_THROWS_AS(gap({1}, {1, 2}), Error); }

TEST_CASE("state twin gap: random vectors against sums in long double") {
  test::Draws draw(8);
  std::vector<double> stored, twin;
  for (int i = 0; i < 3000; ++i) {
    twin.push_back(draw.one_in(10) ? 0 : draw.number() * draw.number());
    stored.push_back(draw.one_in(10) ? 0 : draw.one_in(3) ? twin.back() : draw.number());
  }
  long double logs = 0, distance = 0, norm = 0;
  std::uint64_t pairs = 0, wrong = 0;
  for (std::size_t i = 0; i < twin.size(); ++i) {
    const long double s = stored[i], t = twin[i];
    distance += (s - t) * (s - t);
    norm += t * t;
    if (s * t == 0) continue;
    ++pairs;
    wrong += s * t < 0;
    logs += std::log2(std::fabs(s)) - std::log2(std::fabs(t));
  }
  const StateTwinGap g = state_twin_gap(stored, twin);
  CHECK(g.compared == pairs);
  CHECK(g.wrong_sign == wrong);
  CHECK(g.lost + g.spurious + g.both_zero + g.compared == 3000);
  CHECK(g.mean_log2_ratio == doctest::Approx(static_cast<double>(logs / pairs)).epsilon(1e-12));
  CHECK(g.relative_distance ==
        doctest::Approx(static_cast<double>(std::sqrt(distance / norm))).epsilon(1e-12));
}

}  // namespace
}  // namespace halfulp
