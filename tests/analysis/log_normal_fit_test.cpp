// The log-normal fit on numbers whose logarithms are known.
#include "analysis/log_normal_fit.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "emulation/elementary.h"
#include "emulation/normal.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

constexpr double ln2 = 0x1.62e42fefa39efp-1;

TEST_CASE("log-normal fit: powers of two by hand, signs and zeros aside") {
  // Exponents -1, 0, 0, 1: mean 0, variance 1/2, third moment 0, fourth 1/2: 2 in units of variance^2.
  const std::vector<double> w{0.5, -1, 1, -2, 0, -0.0, std::nan(""), std::numeric_limits<double>::infinity()};
  const LogNormalFit fit = log_normal_fit(w);
  CHECK(fit.count == 4);
  CHECK(fit.zeros == 2);
  CHECK(fit.nonfinite == 2);
  CHECK(fit.mean == 0);
  CHECK(fit.deviation == doctest::Approx(ln2 * std::sqrt(0.5)).epsilon(1e-15));
  CHECK(fit.skewness == 0);
  CHECK(fit.excess_kurtosis == doctest::Approx(2 - 3).epsilon(1e-15));
}

TEST_CASE("log-normal fit: a skewed set") {
  // Exponents 0, 0, 0, 4: mean 1, central moments 3, 6 and 21.
  const LogNormalFit fit = log_normal_fit(std::vector<double>{1, 1, 1, 16});
  CHECK(fit.mean == doctest::Approx(ln2).epsilon(1e-15));
  CHECK(fit.deviation == doctest::Approx(ln2 * std::sqrt(3.0)).epsilon(1e-15));
  CHECK(fit.skewness == doctest::Approx(6 / std::pow(3, 1.5)).epsilon(1e-14));
  CHECK(fit.excess_kurtosis == doctest::Approx(21.0 / 9 - 3).epsilon(1e-14));
  CHECK(log_normal_fit(std::vector<double>{1, 1, 1, 0x1p-4}).skewness < 0);
}

TEST_CASE("log-normal fit: too little to fit is NaN, never a number") {
  const LogNormalFit none = log_normal_fit(std::vector<double>{0, 0});
  CHECK(none.count == 0);
  CHECK(std::isnan(none.mean));
  CHECK(std::isnan(none.deviation));
  const LogNormalFit equal = log_normal_fit(std::vector<double>{2, -2, 2});
  CHECK(equal.mean == doctest::Approx(ln2).epsilon(1e-15));
  CHECK(equal.deviation == 0);
  CHECK(std::isnan(equal.skewness));
  CHECK(std::isnan(equal.excess_kurtosis));
}

TEST_CASE(
    "log-normal fit: draws of a log-normal fit, uniform ones do not, and two passes agree in long double") {
  std::vector<double> normal, uniform;
  const RandomStream stream{5, 1, 0, 0, RandomPurpose::noise, 0};
  for (std::size_t i = 0; i < 40000; ++i) {
    normal.push_back((i % 2 ? -1 : 1) *
                     elementary::exp(-3 + 0.5 * normal_deviate<double>(random_bits_32(stream, i))));
    uniform.push_back(test::uniform(6, 1, i));
  }
  const LogNormalFit fit = log_normal_fit(normal), other = log_normal_fit(uniform);
  // Standard errors: 0.5 / 200 of the mean, sqrt(6 / n) = 0.012 of the skewness, sqrt(24 / n) = 0.024 of the kurtosis.
  CHECK(std::fabs(fit.mean + 3) < 4 * 0.0025);
  CHECK(std::fabs(fit.deviation - 0.5) < 4 * 0.0018);
  CHECK(std::fabs(fit.skewness) < 4 * 0.0123);
  CHECK(std::fabs(fit.excess_kurtosis) < 4 * 0.0245);
  // -ln of a uniform number is exponential: skewness 2, excess kurtosis 6, mirrored.
  CHECK(std::fabs(other.skewness + 2) < 0.3);
  CHECK(std::fabs(other.excess_kurtosis - 6) < 3);
  long double mean = 0, second = 0, third = 0, fourth = 0;
  for (const double w : normal) mean += std::log(std::fabs(static_cast<long double>(w))) / 40000;
  for (const double w : normal) {
    const long double d = std::log(std::fabs(static_cast<long double>(w))) - mean;
    second += d * d / 40000, third += d * d * d / 40000, fourth += d * d * d * d / 40000;
  }
  const auto near = [](double x, long double y) {
    CHECK(x == doctest::Approx(static_cast<double>(y)).epsilon(1e-11));
  };
  near(fit.mean, mean);
  near(fit.deviation, std::sqrt(second));
  near(fit.excess_kurtosis, fourth / (second * second) - 3);
  CHECK(std::fabs(fit.skewness - static_cast<double>(third / std::pow(second, 1.5L))) < 1e-12);
}

}  // namespace
}  // namespace halfulp
