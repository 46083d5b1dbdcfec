// The loss of a margin to its last digits.
#include "experiments/problems/logistic_loss.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace halfulp {
namespace {

TEST_CASE("logistic loss: hand values, ends and NaN") {
  CHECK(logistic_loss(0).loss == doctest::Approx(0.6931471805599453).epsilon(1e-15));
  CHECK(logistic_loss(0).derivative == -0.5);
  CHECK(logistic_loss(-0.0).derivative == -0.5);
  CHECK(logistic_loss(-1000).loss == 1000);
  CHECK(logistic_loss(-1000).derivative == -1);
  CHECK(logistic_loss(-1e308).loss == 1e308);
  CHECK(logistic_loss(1000).loss == 0);
  CHECK(logistic_loss(1000).derivative == 0);
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(logistic_loss(-infinity).loss == infinity);
  CHECK(logistic_loss(-infinity).derivative == -1);
  CHECK(logistic_loss(infinity).loss == 0);
  CHECK(std::isnan(logistic_loss(std::nan("")).loss));
  CHECK(std::isnan(logistic_loss(std::nan("")).derivative));
}

TEST_CASE("logistic loss: within 4 ulp over the whole range, subnormal results included") {
  const auto ulp = [](long double x) {
    const double magnitude = std::max(static_cast<double>(std::fabs(x)), 0x1p-1022);
    return std::nextafter(magnitude, 1e300) - magnitude;
  };
  int subnormal = 0;
  for (int k = -80000; k <= 74500; ++k) {
    const double m = k / 100.0 + 1e-5 * (k % 7);
    const long double e = std::exp(-std::fabs(static_cast<long double>(m)));
    const long double loss = (m > 0 ? 0 : -static_cast<long double>(m)) + std::log1p(e);
    const long double derivative = m > 0 ? -e / (1 + e) : -1 / (1 + e);
    const LogisticLoss got = logistic_loss(m);
    const double loss_error = static_cast<double>(std::fabs(got.loss - loss)) / ulp(loss);
    const double derivative_error =
        static_cast<double>(std::fabs(got.derivative - derivative)) / ulp(derivative);
    if (loss_error > 4 || derivative_error > 4) FAIL(m << ": " << loss_error << ", " << derivative_error);
    subnormal += got.loss > 0 && got.loss < 0x1p-1022;
  }
  CHECK(subnormal > 1000);
}

}  // namespace
}  // namespace halfulp
