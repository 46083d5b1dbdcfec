// Clipping by the global norm: limits, norms and factors by hand, and gradients that are no numbers.
#include "optimizers/gradient_clipping.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "emulation/random_bits.h"

namespace halfulp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr GradientClipping none{}, to_one{ClippingKind::norm, 1}, growing{ClippingKind::growing, 0.5};

template <class R>
using Gradients = std::vector<std::vector<R>>;

TEST_CASE("gradient clipping: limits") {
  for (const std::uint64_t step : {0u, 1u, 1000u}) {
    CHECK(clipping_limit(none, step) == infinity);
    CHECK(clipping_limit({ClippingKind::norm, 0.25}, step) == 0.25);
  }
  // max_norm (1 + log(1 + t / 1000)), natural logarithm, from t = 0: 1 + log 1, log 2, log 4, log 1.001
  CHECK(clipping_limit(growing, 0) == 0.5);
  CHECK(clipping_limit(growing, 1000) == doctest::Approx(0.5 * (1 + 0.69314718055994531)).epsilon(1e-15));
  CHECK(clipping_limit(growing, 3000) == doctest::Approx(0.5 * (1 + 2 * 0.69314718055994531)).epsilon(1e-15));
  CHECK(clipping_limit(growing, 1) == doctest::Approx(0.5 * (1 + 0.00099950033308353)).epsilon(1e-15));
  for (std::uint64_t step = 0; step < 5000; ++step)
    CHECK(clipping_limit(growing, step) < clipping_limit(growing, step + 1));
}

TEST_CASE("gradient clipping: factors") {
  CHECK(clipping_factor(1, 0) == 1);
  CHECK(clipping_factor(1, 0.5) == 1);
  CHECK(clipping_factor(1, 1) == 1);  // not 1 / (1 + 1e-6)
  CHECK(clipping_factor(1, std::nextafter(1.0, 2.0)) == doctest::Approx(1 / 1.000001).epsilon(1e-14));
  CHECK(clipping_factor(1, 4) == 1 / 4.000001);
  CHECK(clipping_factor(6.5, 13) == 6.5 / 13.000001);
  CHECK(clipping_factor(1, 1e308) == 1e-308);
  CHECK(clipping_factor(1, infinity) == 1);
  CHECK(clipping_factor(1, std::nan("")) == 1);
  CHECK(clipping_factor(infinity, 1e308) == 1);
  CHECK(clipping_factor(infinity, infinity) == 1);
}

TEST_CASE_TEMPLATE("gradient clipping: tensors share one norm and one factor", R, float, double) {
  Gradients<R> g{{R(3), R(-4)}, {}, {R(12)}};  // 5, 0 and 12: 13
  CHECK(global_norm(g) == 13);
  const Gradients<R> before = g;
  const double factor = clip_gradients({ClippingKind::norm, 6.5}, 0, g);
  CHECK(factor == 6.5 / 13.000001);
  CHECK(g == Gradients<R>{{static_cast<R>(3 * factor), static_cast<R>(-4 * factor)},
                          {},
                          {static_cast<R>(12 * factor)}});
  CHECK(global_norm(g) < 6.5);
  CHECK(global_norm(g) > 6.49999);
  for (const GradientClipping& off : {none, GradientClipping{ClippingKind::norm, 13}}) {
    g = before;
    CHECK(clip_gradients(off, 0, g) == 1);
    CHECK(g == before);
  }
  // 1 + log(1 + t / 1000) reaches 13 at t = 1000 (e^12 - 1) = 162,753,791.4...
  CHECK(clip_gradients({ClippingKind::growing, 1}, 162753791, g) < 1);
  g = before;
  CHECK(clip_gradients({ClippingKind::growing, 1}, 162754000, g) == 1);
  CHECK(global_norm(Gradients<R>{}) == 0);
  CHECK(global_norm(Gradients<R>{{R(0), R(-0.0)}, {}}) == 0);
}

TEST_CASE("gradient clipping: the product is taken in double and rounded once to float") {
  // A factor rounded to float first would give a neighbour somewhere.
  Gradients<float> g{{}};
  for (int i = 0; i < 1000; ++i) g[0].push_back(static_cast<float>(16777215 - 7 * i));
  const Gradients<float> before = g;
  const double factor = clip_gradients(to_one, 0, g);
  int otherwise = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    CHECK(g[0][i] == static_cast<float>(before[0][i] * factor));
    otherwise += g[0][i] != before[0][i] * static_cast<float>(factor);
  }
  CHECK(otherwise > 0);
}

TEST_CASE_TEMPLATE("gradient clipping: a gradient that is no number leaves all of them as they are", R, float,
                   double) {
  for (const R bad : {std::numeric_limits<R>::infinity(), -std::numeric_limits<R>::infinity(),
                      std::numeric_limits<R>::quiet_NaN()}) {
    Gradients<R> g{{R(100), R(1)}, {bad}};
    CHECK(clip_gradients(to_one, 0, g) == 1);
    CHECK(g[0] == std::vector<R>{R(100), R(1)});
    CHECK((std::isnan(bad) ? std::isnan(g[1][0]) : g[1][0] == bad));
  }
}

TEST_CASE("gradient clipping: floats never overflow the norm, doubles do from 1e154") {
  Gradients<float> largest{std::vector<float>(4, std::numeric_limits<float>::max())};
  CHECK(global_norm(largest) == 2 * static_cast<double>(std::numeric_limits<float>::max()));
  CHECK(clip_gradients(to_one, 0, largest) < 1e-38);
  CHECK(largest[0][0] == doctest::Approx(0.5).epsilon(1e-7));
  Gradients<double> large{{1e153}}, larger{{1e155}};
  CHECK(global_norm(large) == doctest::Approx(1e153).epsilon(1e-15));
  CHECK(global_norm(larger) == infinity);
  CHECK(clip_gradients(to_one, 0, larger) == 1);
  CHECK(larger[0][0] == 1e155);
}

TEST_CASE_TEMPLATE("gradient clipping: norms of random gradients against long double", R, float, double) {
  const RandomStream stream{3, 0, 0, 0, RandomPurpose::noise, 0};
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    Gradients<R> g;
    long double squares = 0;
    for (const std::size_t size : {1u, 31u, 32u, 33u, 1000u}) {
      g.emplace_back();
      for (std::size_t i = 0; i < size; ++i) {
        const double x = (random_bits_32(stream, trial * 5000 + 1000 * g.size() + i) * 0x1p-31 - 1) * 1e-3;
        g.back().push_back(static_cast<R>(x));
        squares += static_cast<long double>(g.back().back()) * g.back().back();
      }
    }
    CHECK(std::fabs(global_norm(g) / std::sqrt(squares) - 1) < 30 * 0x1p-53);
  }
}

TEST_CASE("gradient clipping: tensors are added in registry order") {
  // After 2^54 a 1 is a quarter of an ulp and lost, sixteen times; before it the ones add up to 16, and the root of
  // 2^54 + 16 is 2^27 + 2^-24.
  Gradients<float> g{{0x1p27f}};
  for (int i = 0; i < 16; ++i) g.push_back({1});
  CHECK(global_norm(g) == 0x1p27);
  std::swap(g.front(), g.back());
  CHECK(global_norm(g) == 0x1p27 + 0x1p-24);
}

}  // namespace
}  // namespace halfulp
