// Mean, variance and relative size of updates.
#include "analysis/update_variance.h"

#include <doctest/doctest.h>

#include "tests/analysis/random_tiles.h"

namespace halfulp {
namespace {

UpdateVariance of(const std::vector<double>& updates, double before = 1) {
  UpdateVariance v;
  for (const double u : updates) v.see(test::moved(bf16, before, u, before));
  return v;
}

TEST_CASE("update variance: worked by hand") {
  // Mean 2, deviations -1, 0, 1 and 0: variance 2/4.
  const UpdateVariance v = of({1, 2, 3, 2});
  CHECK(v.mean() == 2);
  CHECK(v.variance() == 0.5);
  CHECK(v.largest == 3);
  CHECK(of({-3, 3}).mean() == 0);
  CHECK(of({-3, 3}).variance() == 9);
  CHECK(of({-5, 3}).largest == 5);
  CHECK(of({}).mean() == 0);
  CHECK(of({}).variance() == 0);
  UpdateVariance joined = of({1, 2});
  joined.join(of({3, 2}));
  CHECK(joined.mean() == 2);
  CHECK(joined.variance() == 0.5);
  CHECK(joined.largest == 3);
}

TEST_CASE("update variance: equal updates have none, never less") {
  for (const double u : {0.1, 1e-3, 0x1.fffffp-9, 3e-7}) {
    const UpdateVariance v = of(std::vector<double>(1000, u));
    CHECK(v.variance() >= 0);
    CHECK(v.variance() <= 1003 * 0x1p-53 * u * u);
  }
}

TEST_CASE("update variance: size beside the weight, in octaves") {
  const auto bin = [](const UpdateVariance& v, int exponent) {
    return v.relative.counts[static_cast<std::size_t>(exponent - v.relative.lowest_exponent)];
  };
  CHECK(bin(of({0x1p-8}), -8) == 1);
  CHECK(bin(of({-0x1p-8}, -2), -9) == 1);
  CHECK(bin(of({0.75}, 0.5), 0) == 1);
  CHECK(bin(of({1e300}, 1e-300), 8) == 1);
  CHECK(of({0}).relative.zeros == 1);
  const UpdateVariance of_zero = of({0.5, 0}, 0);  // a weight of zero has no relative update
  CHECK(of_zero.elements == 2);
  CHECK(of_zero.relative.zeros == 0);
  CHECK(std::accumulate(of_zero.relative.counts.begin(), of_zero.relative.counts.end(), std::uint64_t{0}) ==
        0);
}

TEST_CASE("update variance: two sums against two passes in long double") {
  test::Draws draw(21);
  std::vector<double> updates;
  for (int i = 0; i < 5000; ++i) updates.push_back(draw.number() + 0.125);
  long double mean = 0, variance = 0;
  for (const double u : updates) mean += u;
  mean /= updates.size();
  for (const double u : updates) variance += (u - mean) * (u - mean);
  variance /= updates.size();
  const UpdateVariance v = of(updates);
  CHECK(v.mean() == doctest::Approx(static_cast<double>(mean)).epsilon(1e-12));
  CHECK(v.variance() == doctest::Approx(static_cast<double>(variance)).epsilon(1e-11));
}

}  // namespace
}  // namespace halfulp
