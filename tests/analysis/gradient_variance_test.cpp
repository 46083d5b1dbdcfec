// Variance of gradients over micro-batches.
#include "analysis/gradient_variance.h"

#include <doctest/doctest.h>

#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

template <class R>
GradientVariance of(const std::vector<std::vector<R>>& gradients) {
  GradientVariance v(gradients[0].size());
  for (const auto& g : gradients) v.add(std::span<const R>(g));
  return v;
}

TEST_CASE("gradient variance: three micro-gradients of two elements by hand") {
  // Element 0: 1, 2, 3: mean 2, unbiased variance 1. Element 1: 4, 4, 1: mean 3, variance 3.
  const GradientVariance v = of<float>({{1, 4}, {2, 4}, {3, 1}});
  CHECK(v.count() == 3);
  CHECK(v.mean() == std::vector<double>{2, 3});
  CHECK(v.variance() == 4);
  CHECK(v.relative() == 4.0 / 13);
}

TEST_CASE("gradient variance: equal gradients have none, opposite ones no mean") {
  const GradientVariance equal = of<double>({{0.1, -7}, {0.1, -7}, {0.1, -7}});
  CHECK(equal.variance() == 0);
  CHECK(equal.relative() == 0);
  const GradientVariance opposite = of<double>({{1, 1}, {-1, -1}});
  CHECK(opposite.variance() == 4);
  CHECK(opposite.relative() == std::numeric_limits<double>::infinity());
  CHECK(of<double>({{0, 0}, {0, 0}}).relative() == 0);
}

TEST_CASE("gradient variance: refuses too few and other sizes") {
  CHECK_THROWS_AS(of<double>({{1, 2}}).variance(), Error);
  CHECK_THROWS_AS(of<double>({{1, 2}}).relative(), Error);
  GradientVariance v(2);
  const std::vector<double> wrong(3);
  CHECK_THROWS_AS(v.add(std::span<const double>(wrong)), Error);
  CHECK(v.count() == 0);
}

TEST_CASE("gradient variance: a large mean does not swallow it; pairs of differences give the same") {
  // Unbiased variance is also the mean over pairs of half the squared difference, which no mean enters.
  constexpr std::size_t n = 40, size = 50;
  std::vector<std::vector<double>> gradients(n, std::vector<double>(size));
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < size; ++i)
      gradients[k][i] = 1e6 + test::uniform(3, static_cast<std::uint32_t>(k), i);
  long double pairs = 0;
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < a; ++b)
      for (std::size_t i = 0; i < size; ++i) {
        const long double d = static_cast<long double>(gradients[a][i]) - gradients[b][i];
        pairs += d * d / 2;
      }
  const GradientVariance v = of(gradients);
  CHECK(v.variance() == doctest::Approx(static_cast<double>(pairs / (n * (n - 1) / 2))).epsilon(1e-8));
  CHECK(v.relative() == doctest::Approx(v.variance() / (size * 1e12)).epsilon(1e-6));
}

TEST_CASE("gradient variance: without signal the ratio is about the number of micro-batches") {
  constexpr std::size_t n = 16, size = 4000;
  std::vector<std::vector<float>> gradients(n, std::vector<float>(size));
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < size; ++i)
      gradients[k][i] = static_cast<float>(test::uniform(4, static_cast<std::uint32_t>(k), i));
  CHECK(of(gradients).relative() == doctest::Approx(n).epsilon(0.1));
}

}  // namespace
}  // namespace halfulp
