// Distance of weights to their double twin.
#include "analysis/twin_distance.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "formats/error.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

TwinDistance distance(const std::vector<double>& w, const std::vector<double>& twin) {
  return twin_distance(w, twin);
}

TEST_CASE("twin distance: a 3-4-5 triangle, the largest difference, the cosine") {
  const TwinDistance d = distance({3, 0}, {3, 4});
  CHECK(d.relative == 4.0 / 5);
  CHECK(d.largest == 4);
  CHECK(d.cosine == 9.0 / 15);
  const TwinDistance same = distance({1, -2, 2}, {1, -2, 2});
  CHECK(same.relative == 0);
  CHECK(same.largest == 0);
  CHECK(same.cosine == 1);
  CHECK(distance({-3, -4}, {3, 4}).cosine == -1);
  CHECK(distance({-3, -4}, {3, 4}).relative == 2);
}

TEST_CASE("twin distance: zeros, numbers that are not finite, sizes") {
  CHECK(distance({0, 0}, {0, -0.0}).relative == 0);
  CHECK(distance({0, 0}, {0, 0}).cosine == 0);
  CHECK(distance({1}, {0}).relative == std::numeric_limits<double>::infinity());
  CHECK(distance({1}, {0}).cosine == 0);
  CHECK(distance({}, {}).largest == 0);
  const TwinDistance bad = distance({std::nan(""), 1}, {1, 1});
  CHECK(std::isnan(bad.relative));
  CHECK(std::isnan(bad.largest));
  CHECK(std::isnan(bad.cosine));
  CHECK_THROWS_AS(distance({1}, {1, 2}), Error);
}

TEST_CASE("twin distance: random vectors against long double") {
  std::vector<double> w, twin;
  long double apart = 0, norm = 0, own = 0, product = 0;
  double largest = 0;
  for (std::size_t i = 0; i < 5000; ++i) {
    twin.push_back(test::log_spread(1, 0, i, 10));
    w.push_back(twin.back() + 0.01 * test::uniform(2, 0, i));
    const long double a = w.back(), b = twin.back();
    apart += (a - b) * (a - b), norm += b * b, own += a * a, product += a * b;
    largest = std::max(largest, std::fabs(w.back() - twin.back()));
  }
  const TwinDistance d = distance(w, twin);
  CHECK(d.relative == doctest::Approx(static_cast<double>(std::sqrt(apart / norm))).epsilon(1e-13));
  CHECK(d.cosine == doctest::Approx(static_cast<double>(product / std::sqrt(own * norm))).epsilon(1e-13));
  CHECK(d.largest == largest);
}

}  // namespace
}  // namespace halfulp
