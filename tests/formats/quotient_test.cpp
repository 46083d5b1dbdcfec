// quotient_to_odd against exact rationals.
#include <doctest/doctest.h>

#include <random>

#include "formats/block.h"
#include "formats/catalog.h"
#include "tests/formats/exact_rational.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

/// The quotient toward zero at 53 bits, with the last bit set if it is inexact, from integers alone.
double expected_quotient(double x, double divisor) {
  const Rational quotient = exact(std::fabs(x)) / exact(divisor);
  const int q = floor_log2_exact(quotient) - 52;
  const Rational s = quotient / power(q);
  Integer whole = numerator(s) / denominator(s);
  if (Rational(whole) != s && whole % 2 == 0) ++whole;
  return std::copysign(std::ldexp(static_cast<double>(whole), q), x);
}

}  // namespace

TEST_CASE("quotient_to_odd: is the exact quotient cut to 53 bits with a sticky last bit") {
  std::mt19937_64 random(11);
  const auto significand = [&](int bits) {
    const double value = std::ldexp(static_cast<double>(random() >> 11), -53) + 0.5;
    return std::ldexp(std::floor(std::ldexp(value, bits)), -bits);
  };
  for (int i = 0; i < 20000; ++i) {
    const int x_bits = i % 3 == 0 ? 53 : 24, divisor_bits = i % 2 == 0 ? 24 : 4;
    const int shift = static_cast<int>(random() % 200) - 100;
    const double divisor = significand(divisor_bits);
    double x = std::ldexp(significand(x_bits), shift);
    if (i % 5 == 0) x = std::ldexp(significand(20) * divisor, shift);  // exact quotients
    if (i % 5 == 1) x = std::nextafter(std::ldexp(significand(6) * divisor, shift), i % 2 == 0 ? 0.0 : 1e300);
    if (i % 7 == 0) x = -x;
    INFO(x, " / ", divisor);
    CHECK(quotient_to_odd(x, divisor) == expected_quotient(x, divisor));
  }
}

TEST_CASE("quotient_to_odd: just below and above a power of two") {
  for (const double divisor : {3.0, 7.0, 2688.0, 448.0, 0x1.fffffep+0})
    for (int k = -40; k <= 40; ++k)
      for (const double x : {std::ldexp(divisor, k), std::nextafter(std::ldexp(divisor, k), 0.0),
                             std::nextafter(std::ldexp(divisor, k), 1e300)})
        CHECK(quotient_to_odd(x, divisor) == expected_quotient(x, divisor));
}

TEST_CASE("quotient_to_odd: zeros, infinities and NaN") {
  const double infinity = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(bits_of(quotient_to_odd(0.0, 3.0)) == bits_of(0.0));
  CHECK(bits_of(quotient_to_odd(-0.0, 3.0)) == bits_of(-0.0));
  CHECK(quotient_to_odd(infinity, 3.0) == infinity);
  CHECK(quotient_to_odd(-infinity, 3.0) == -infinity);
  CHECK(std::isnan(quotient_to_odd(nan, 3.0)));
  CHECK(std::isnan(quotient_to_odd(1.0, nan)));
  CHECK(std::signbit(quotient_to_odd(std::copysign(nan, -1.0), 3.0)));
}

TEST_CASE("quotient_to_odd: rounding it to fp32 in any mode is rounding the exact quotient") {
  std::mt19937_64 random(5);
  for (int i = 0; i < 4000; ++i) {
    const double divisor = 448, t = std::ldexp(static_cast<double>((random() >> 40) | 1), -12);
    const double midpoint = (t + 0x1p-13) * divisor;  // t has 24 bits: t + half a last place, exact
    for (const double x : {midpoint, std::nextafter(midpoint, 0.0), std::nextafter(midpoint, 1e300)})
      CHECK(double{static_cast<float>(quotient_to_odd(x, divisor))} ==
            nearest_float(exact(x) / exact(divisor)));
  }
}
