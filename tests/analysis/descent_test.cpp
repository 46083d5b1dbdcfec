// Whenever the descent condition says so, the exact loss falls; and where it says nothing, rounding can make it rise.
#include "analysis/descent.h"

#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "formats/catalog.h"
#include "formats/encode.h"
#include "formats/error.h"
#include "tests/analysis/random_tiles.h"

namespace halfulp {
namespace {

using Exact = boost::multiprecision::cpp_bin_float_100;
using Vector = std::vector<double>;

/// L(w) = sum h (w - target)^2 / 2; numbers of few bits, so that its gradient is exact in double.
struct Quadratic {
  Vector h, target;

  double beta() const { return *std::max_element(h.begin(), h.end()); }
  Vector gradient(const Vector& w) const {
    Vector g;
    for (std::size_t i = 0; i < w.size(); ++i) g.push_back(h[i] * (w[i] - target[i]));
    return g;
  }
  /// L(w) - L(w + step), where the step is a sum of vectors.
  Exact decrease(const Vector& w, const std::vector<Vector>& step) const {
    Exact total = 0;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const Exact before = Exact(w[i]) - target[i];
      Exact after = before;
      for (const Vector& part : step) after += part[i];
      total += h[i] * (before * before - after * after) / 2;
    }
    return total;
  }
};

double coarse(test::Draws& draw) { return std::ldexp(static_cast<double>(draw.below(2048)) - 1024, -7); }

struct Case {
  Quadratic loss;
  Vector w, g;
};
Case draw_case(test::Draws& draw) {
  Case c;
  const std::size_t n = 1 + draw.below(40);
  for (std::size_t i = 0; i < n; ++i) {
    c.loss.h.push_back(std::ldexp(1 + static_cast<double>(draw.below(16)), -static_cast<int>(draw.below(7))));
    c.loss.target.push_back(coarse(draw));
    c.w.push_back(draw.one_in(4) ? c.loss.target.back() : coarse(draw));
  }
  c.g = c.loss.gradient(c.w);
  return c;
}

TEST_CASE("descent: un-normalised branches below 2 / beta lower the exact loss of every diagonal quadratic") {
  test::Draws draw(51);
  int guaranteed = 0, other = 0;
  for (int k = 0; k < 4000; ++k) {
    const Case c = draw_case(draw);
    const double beta = c.loss.beta(), eta_a = std::fabs(draw.number()) / 2,
                 eta_m = std::fabs(draw.number()) / 32;
    const UnnormalisedDescent descent = unnormalised_descent(eta_a, eta_m, c.w, beta);
    Vector u;
    double largest = 0, norm = 0;
    for (std::size_t i = 0; i < c.w.size(); ++i) {
      const double rate = eta_a + eta_m * std::log(2.0) * c.w[i] * c.w[i];
      largest = std::max(largest, rate);
      u.push_back(-rate * c.g[i]);
      norm += c.g[i] * c.g[i];
    }
    CHECK(descent.largest_rate == doctest::Approx(largest).epsilon(1e-15));
    CHECK(descent.limit == 2 / beta);
    if (norm == 0) continue;
    ++(descent.is_guaranteed() ? guaranteed : other);
    if (descent.is_guaranteed()) REQUIRE(c.loss.decrease(c.w, {u}) > 0);
  }
  CHECK(guaranteed > 500);
  CHECK(other > 500);
}

TEST_CASE("descent: the limit is sharp where curvature is beta, and a signed divisor ascends") {
  // L = w^2 beta / 2 at w = 1: a rate of 2 / beta mirrors w, a larger one leaves the loss higher.
  const Quadratic loss{{4}, {0}};
  CHECK(unnormalised_descent(0.499, 0, Vector{1}, 4).is_guaranteed());
  CHECK_FALSE(unnormalised_descent(0.5, 0, Vector{1}, 4).is_guaranteed());
  CHECK(loss.decrease({1}, {{-0.5 * 4}}) == 0);
  CHECK(loss.decrease({1}, {{-0.51 * 4}}) < 0);
  // The multiplicative branch is the sooner too fast the larger the weight.
  CHECK(unnormalised_descent(0.1, 0.1, Vector{1, -2}, 4).is_guaranteed());
  CHECK_FALSE(unnormalised_descent(0.1, 0.1, Vector{1, -3}, 4).is_guaranteed());
  // u = -eta sign(w) g, the signed divisor of the multiplicative branch, at w = -4 with target -3.
  const Quadratic other{{1}, {-3}};
  const Vector g = other.gradient({-4}), u{0.01 * g[0]};
  CHECK(guaranteed_decrease(g, u, 1) < 0);
  CHECK(other.decrease({-4}, {u}) < 0);
}

TEST_CASE("descent: of any increment at least what is guaranteed is won, with rounding errors and without") {
  test::Draws draw(52);
  int promised = 0, promised_rounded = 0, silent = 0;
  for (int k = 0; k < 4000; ++k) {
    const Case c = draw_case(draw);
    const double beta = c.loss.beta(), rate = 2 * std::fabs(draw.number()) / beta;
    const double noise = std::ldexp(rate, -static_cast<int>(draw.below(12)));
    Vector u, r, moved;
    for (const double g : c.g) {
      u.push_back(-rate * g + noise * draw.number());
      r.push_back(std::ldexp(draw.number(), -static_cast<int>(draw.below(20))) * rate);
      moved.push_back(u.back() + r.back());
    }
    const double without = guaranteed_decrease(c.g, u, beta), with = guaranteed_decrease(c.g, u, r, beta);
    // The guarantee holds whatever its sign.
    REQUIRE(c.loss.decrease(c.w, {u}) >= without);
    REQUIRE(c.loss.decrease(c.w, {u, r}) >= with);
    REQUIRE(with <= without);
    // Knowing r is worth more than knowing its size; equal but for rounding with one element.
    REQUIRE(guaranteed_decrease(c.g, moved, beta) >= with - 1e-12 * std::fabs(with));
    promised += without > 0;
    promised_rounded += with > 0;
    silent += without <= 0;
  }
  CHECK(promised > 500);
  CHECK(promised_rounded > 500);
  CHECK(silent > 200);
}

TEST_CASE("descent: the bound is met where every curvature is beta") {
  const Quadratic loss{{2, 2}, {0, 1}};
  const Vector w{1, -1}, g = loss.gradient(w), u{-0.5, 0.25};
  // -g.u = 1 + 1, |u|^2 = 5/16.
  const double sure = guaranteed_decrease(g, u, 2);
  CHECK(sure <= 2 - 5.0 / 16);
  CHECK(sure > 2 - 5.0 / 16 - 1e-13);
  CHECK(loss.decrease(w, {u}) == 2 - 5.0 / 16);
  // Exactly at the edge nothing is promised.
  CHECK(guaranteed_decrease(Vector{2}, Vector{-2}, 2) <= 0);
  CHECK(guaranteed_decrease(Vector{0}, Vector{0}, 2) <= 0);
  CHECK_FALSE(guaranteed_decrease(Vector{std::nan("")}, Vector{-1}, 2) > 0);
  CHECK_THROWS_AS(guaranteed_decrease(Vector{1}, Vector{1, 2}, 2), Error);
  CHECK_THROWS_AS(guaranteed_decrease(Vector{1}, Vector{1}, Vector{}, 2), Error);
}

TEST_CASE("descent: rounding breaks it, and the condition with the rounding error says so") {
  // bf16 at 1, target 1.1 2^-9 above it. A step of 1.9 times that overshoots and still descends; it is more than half
  // the gap 2^-7, so what is stored overshoots by far more.
  const double d = 1.1 * 0x1p-9;
  const Quadratic loss{{1}, {1 + d}};
  const Vector w{1}, g = loss.gradient(w), u{-1.9 * g[0]};
  CHECK(guaranteed_decrease(g, u, 1) > 0);
  CHECK(loss.decrease(w, {u}) > 0);
  const double stored =
      decode(bf16, convert(w[0] + u[0], bf16, nearest_even, special_values(OverflowPolicy::saturate), 0));
  REQUIRE(stored == 1 + 0x1p-7);
  const Vector r{stored - 1 - u[0]};
  CHECK(loss.decrease(w, {u, r}) < 0);
  CHECK(guaranteed_decrease(g, u, r, 1) < 0);
  // In fp16, eight times finer, the same step is promised to descend, and does.
  const double finer =
      decode(fp16, convert(w[0] + u[0], fp16, nearest_even, special_values(OverflowPolicy::saturate), 0));
  const Vector small{finer - 1 - u[0]};
  CHECK(small[0] != 0);
  CHECK(guaranteed_decrease(g, Vector{0.5 * d}, Vector{small[0]}, 1) > 0);
  CHECK(loss.decrease(w, {{0.5 * d}, small}) > 0);
}

}  // namespace
}  // namespace halfulp
