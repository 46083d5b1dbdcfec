#include "emulation/elementary.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace halfulp {
namespace {

namespace mp = boost::multiprecision;
using Big = mp::cpp_bin_float_50;
using Quad = mp::cpp_bin_float_quad;

/// |got - want| in ulp of want, subnormal ulp where want is subnormal. Infinity stands for what rounds to it.
template <class Real, class Exact>
double ulps(Real got, const Exact& want) {
  using Limits = std::numeric_limits<Real>;
  if (want != want || std::isnan(got)) return want != want && std::isnan(got) ? 0 : 1e30;
  const Exact magnitude = want < 0 ? Exact(-want) : want;
  if (std::isinf(got)) return magnitude > Exact(Limits::max()) && (got > 0) == (want > 0) ? 0 : 1e30;
  int exponent = Limits::min_exponent;
  if (want != 0) frexp(want, &exponent);
  const int last_place = std::max(exponent, Limits::min_exponent) - Limits::digits;
  const Exact difference = Exact(got) - want;
  return static_cast<double>(ldexp(difference < 0 ? Exact(-difference) : difference, -last_place));
}

struct Bound {
  const char* name;
  double stated, seen = 0, at = 0;

  void note(double error, double x) {
    if (error > seen) seen = error, at = x;
  }
};

/// Arguments where something changes (thresholds, halves, powers of two, subnormals, neighbours of all of
/// these) and pseudo-random ones of every magnitude.
template <class Real>
std::vector<Real> arguments(std::size_t random) {
  std::vector<Real> x;
  const int top = std::numeric_limits<Real>::max_exponent;
  const auto with_neighbours = [&x](double value) {
    Real below = static_cast<Real>(value), above = below;
    x.push_back(below);
    for (int i = 0; i < 3; ++i) {
      x.push_back(below = std::nextafter(below, -std::numeric_limits<Real>::infinity()));
      x.push_back(above = std::nextafter(above, std::numeric_limits<Real>::infinity()));
    }
  };
  for (int e = -top - 60; e<top; e += e> - 70 && e < 12 ? 1 : 17)
    for (const double sign : {-1., 1.}) with_neighbours(std::ldexp(sign, e));
  for (int half = -60; half <= 60; ++half)
    with_neighbours(half / 2.0), with_neighbours(half * 0.34657359027997264);
  for (const double edge : {1., 0.5, -150., -149., -127., -126., -1075., -1074., -1023., -1022.})
    with_neighbours(edge), with_neighbours(edge + top), with_neighbours(edge * 0.69314718055994531);
  for (const double edge : {std::sqrt(2.), std::sqrt(.5), -0.29289, 0.41421}) with_neighbours(edge);
  std::mt19937_64 generator(20240607);
  const auto uniform = [&](double a, double b) {
    return a + (b - a) * std::ldexp(double(generator() >> 11), -53);
  };
  for (std::size_t i = 0; i < random; ++i) {
    switch (i % 5) {
      case 0:
        x.push_back(static_cast<Real>(uniform(-1.5, 2.5)));
        break;
      case 1:
        x.push_back(static_cast<Real>(uniform(-1.1 * top, 1.1 * top)));
        break;
      case 2:
        x.push_back(static_cast<Real>(std::ldexp(uniform(-1, 1), -int(generator() % 70))));
        break;
      case 3:
        x.push_back(static_cast<Real>(std::ldexp(uniform(.5, 1), int(generator() % (2u * top)) - top)));
        break;
      case 4:
        x.push_back(static_cast<Real>(1 + std::ldexp(uniform(-1, 1), -int(generator() % 50))));
        break;
    }
  }
  return x;
}

/// Exact is wide enough to be called exact: its own functions err by less than 2^-20 ulp of Real.
template <class Exact, class Real>
void check_bounds(const std::vector<Real>& xs) {
  using std::exp, std::expm1, std::log, std::log1p;
  const Exact ln2 = log(Exact(2));
  Bound bounds[] = {{"exp2", 1.25}, {"exp2m1", 2.5}, {"exp", 1},  {"expm1", 2},
                    {"log", 1},     {"log2", 2},     {"log1p", 1}};
  for (const Real x : xs) {
    if (!std::isfinite(x)) continue;
    const Exact w(x), scaled = w * ln2;
    // beyond these the results are 0, -1 or infinite, which has a test of its own
    if (std::abs(x) < 1.2 * std::numeric_limits<Real>::max_exponent) {
      bounds[0].note(ulps(elementary::exp2(x), Exact(exp(scaled))), double(x));
      bounds[1].note(ulps(elementary::exp2m1(x), Exact(expm1(scaled))), double(x));
      bounds[2].note(ulps(elementary::exp(x), Exact(exp(w))), double(x));
      bounds[3].note(ulps(elementary::expm1(x), Exact(expm1(w))), double(x));
    }
    if (x > 0) {
      const Exact logarithm = log(w);
      bounds[4].note(ulps(elementary::log(x), logarithm), double(x));
      bounds[5].note(ulps(elementary::log2(x), Exact(logarithm / ln2)), double(x));
    }
    if (x > -1) bounds[6].note(ulps(elementary::log1p(x), Exact(log1p(w))), double(x));
  }
  for (const Bound& bound : bounds) {
    INFO(bound.name, " errs by ", bound.seen, " ulp at ", bound.at);
    CHECK(bound.seen <= bound.stated);
    CHECK(bound.seen > 0.5);  // else nothing was compared
  }
}

TEST_CASE("elementary: float errs by less than the stated ulp, against double") {
  // double's functions are within 1 double ulp = 2^-29 float ulp; x * ln2 in double adds |x ln2| 2^-53 <
  // 2^-46 relative
  check_bounds<double>(arguments<float>(400'000));
}

TEST_CASE("elementary: float and double err by less than the stated ulp, against 50 digits") {
  check_bounds<Big>(arguments<float>(20'000));
  check_bounds<Big>(arguments<double>(20'000));
}

TEST_CASE_TEMPLATE("elementary: special values", Real, float, double) {
  using Limits = std::numeric_limits<Real>;
  using namespace elementary;
  const Real inf = Limits::infinity(), zero = 0;
  const auto same = [](Real a, Real b) { return bits_of(a) == bits_of(b); };
  const Real canonical = real_of(bits_of(Limits::quiet_NaN()) & (~typename Lane<Real>::Bits{0} >> 1));
  for (const Real nan : {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::signaling_NaN()})
    for (const Real result : {exp2(nan), exp2m1(nan), exp(nan), expm1(nan), log(nan), log2(nan), log1p(nan)})
      CHECK(same(result, canonical));
  for (const Real result :
       {log(Real(-1)), log2(-Limits::denorm_min()), log1p(Real(-1.5)), log(-inf), log1p(-inf)})
    CHECK(same(result, canonical));
  for (const Real result :
       {exp2(inf), exp2m1(inf), exp(inf), expm1(inf), log(inf), log2(inf), log1p(inf), exp2(Limits::max()),
        exp2m1(Limits::max()), exp(Limits::max()), expm1(Limits::max()), exp2(Real(Limits::max_exponent))})
    CHECK(same(result, inf));
  for (const Real result : {log(zero), log2(zero), log(-zero), log2(-zero), log1p(Real(-1))})
    CHECK(same(result, -inf));
  for (const Real result : {exp2(-inf), exp(-inf), exp2(Limits::lowest()), exp(Limits::lowest()),
                            log(Real(1)), log2(Real(1)), expm1(zero), exp2m1(zero), log1p(zero)})
    CHECK(same(result, zero));
  for (const Real result : {expm1(-zero), exp2m1(-zero), log1p(-zero)}) CHECK(same(result, -zero));
  for (const Real result : {exp2m1(-inf), expm1(-inf), exp2m1(Limits::lowest()), expm1(Limits::lowest())})
    CHECK(same(result, Real(-1)));
  for (const Real result : {exp2(zero), exp2(-zero), exp(zero), exp(-zero)}) CHECK(same(result, Real(1)));
}

TEST_CASE_TEMPLATE("elementary: powers of two are exact both ways, subnormal ones too", Real, float, double) {
  using Limits = std::numeric_limits<Real>;
  for (int n = Limits::min_exponent - Limits::digits; n < Limits::max_exponent; ++n) {
    const Real power = std::ldexp(Real(1), n);
    CAPTURE(n);
    CHECK(elementary::exp2(Real(n)) == power);
    CHECK(elementary::log2(power) == Real(n));
  }
  // half of the smallest subnormal is a tie and goes to the even 0; anything above it does not
  const Real tie = Real(Limits::min_exponent - Limits::digits - 1);
  CHECK(elementary::exp2(tie) == 0);
  CHECK(elementary::exp2(tie + Real(0.25)) == Limits::denorm_min());
}

TEST_CASE_TEMPLATE("elementary: tiny arguments pass through expm1 and log1p unchanged", Real, float, double) {
  using Limits = std::numeric_limits<Real>;
  for (const Real x : {Limits::denorm_min(), 3 * Limits::denorm_min(), Limits::min(), -Limits::min() / 2}) {
    CHECK(elementary::expm1(x) == x);
    CHECK(elementary::log1p(x) == x);
  }
}

TEST_CASE("elementary: compile-time and run-time bits agree") {
  constexpr float e = elementary::exp(1.0f);
  constexpr double l = elementary::log1p(0.75);
  static_assert(e == 0x1.5bf0a8p+1f);
  volatile float one = 1;
  volatile double x = 0.75;
  CHECK(elementary::exp(float(one)) == e);
  CHECK(elementary::log1p(double(x)) == l);
}

TEST_CASE("elementary: multiprecision numbers use their own functions") {
  const Quad x = 0.375;
  const Quad tolerance = 64 * std::numeric_limits<Quad>::epsilon();  // some operations on numbers below 2
  CHECK(abs(elementary::log(elementary::exp(x)) - x) < tolerance);
  CHECK(abs(elementary::log1p(elementary::expm1(x)) - x) < tolerance);
  CHECK(abs(elementary::log2(elementary::exp2(x)) - x) < tolerance);
  CHECK(abs(elementary::exp2m1(x) + 1 - elementary::exp2(x)) < tolerance);
}

TEST_SUITE("exhaustive") {
  TEST_CASE("elementary: every float errs by less than the stated ulp, against double" * doctest::skip()) {
    std::vector<float> chunk(1 << 22);
    for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += chunk.size()) {
      for (std::size_t i = 0; i < chunk.size(); ++i)
        chunk[i] = std::bit_cast<float>(static_cast<std::uint32_t>(first + i));
      using std::exp, std::expm1, std::log, std::log1p;
      const double ln2 = std::log(2.0);
      double worst[7] = {};
      const auto note = [&worst](int which, float got, double want) {
        worst[which] = std::max(worst[which], ulps(got, want));
      };
      for (const float x : chunk) {
        const double w = x;
        note(0, elementary::exp2(x), exp(w * ln2));
        note(1, elementary::exp2m1(x), expm1(w * ln2));
        note(2, elementary::exp(x), exp(w));
        note(3, elementary::expm1(x), expm1(w));
        note(4, elementary::log(x), log(w));
        note(5, elementary::log2(x), std::log2(w));
        note(6, elementary::log1p(x), log1p(w));
      }
      const double stated[7] = {1.25, 2.5, 1, 2, 1, 2, 1};
      for (int which = 0; which < 7; ++which) CHECK(worst[which] <= stated[which]);
    }
  }
}

}  // namespace
}  // namespace halfulp
