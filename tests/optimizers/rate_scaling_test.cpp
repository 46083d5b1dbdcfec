// Rate scaling: what a large gradient takes from the learning rate.
#include "optimizers/rate_scaling.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace halfulp {
namespace {

template <class R>
double factor(double reference, const std::vector<R>& gradient) {
  return rate_factor(reference, std::span<const R>(gradient));
}

TEST_CASE_TEMPLATE("rate scaling: min(1, reference / rms)", R, float, double) {
  // squares 1, 49, 1, 49: mean 25, rms 5
  const std::vector<R> five{R(1), R(-7), R(-1), R(7)};
  CHECK(factor<R>(5, five) == 1);
  CHECK(factor<R>(7, five) == 1);
  CHECK(factor<R>(2.5, five) == 0.5);
  CHECK(factor<R>(1, five) == 0.2);
  CHECK(factor<R>(0.1, five) == 0.1 / 5);
  CHECK(factor<R>(std::nextafter(5.0, 0.0), five) == std::nextafter(5.0, 0.0) / 5);
  CHECK(factor<R>(1, {R(-8)}) == 0.125);  // not the length of the tensor, not a sum
  CHECK(factor<R>(1, std::vector<R>(100, R(-8))) == 0.125);
}

TEST_CASE_TEMPLATE("rate scaling: 1 where there is nothing to limit or nothing to measure", R, float,
                   double) {
  const R infinity = std::numeric_limits<R>::infinity(), nan = std::numeric_limits<R>::quiet_NaN();
  CHECK(factor<R>(1, {}) == 1);
  CHECK(factor<R>(1, {R(0), R(-0.0)}) == 1);
  CHECK(factor<R>(1, {R(2), infinity}) == 1);
  CHECK(factor<R>(1, {R(2), -infinity}) == 1);
  CHECK(factor<R>(1, {nan, R(1000)}) == 1);
  CHECK(factor<R>(std::numeric_limits<double>::infinity(), {R(1000)}) == 1);
}

TEST_CASE_TEMPLATE("rate scaling: a scaled gradient has the reference as its rms", R, float, double) {
  for (const double reference : {1e-6, 0.3, 2.0}) {
    std::vector<R> gradient;
    for (int i = 0; i < 77; ++i) gradient.push_back(static_cast<R>(i * i - 700));
    double squares = 0;
    for (const R g : gradient) {
      const double moved = factor<R>(reference, gradient) * static_cast<double>(g);
      squares += moved * moved;
    }
    // rms of floats is rounded to float
    CHECK(std::sqrt(squares / 77) == doctest::Approx(reference).epsilon(sizeof(R) == 4 ? 1e-7 : 1e-14));
  }
}

}  // namespace
}  // namespace halfulp
