// Every rule against an independent derivation of the same equations, bit for bit in double and in float; and
// against quadruple precision within the error bound that the operation order implies.
#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "optimizers/all_rules.h"
#include "tests/optimizers/gradients.h"
#include "tests/reference/adamw_reference.h"
#include "tests/reference/lmd_reference.h"
#include "tests/reference/m_adam_reference.h"
#include "tests/reference/madam_reference.h"

namespace halfulp {
namespace {

using test::same_bits;
using Quad = boost::multiprecision::cpp_bin_float_quad;

constexpr TensorConstants constants{0.5};

struct AdamWCase {
  using Rule = AdamW;
  static constexpr AdamW::Config config{2e-3, 0.9, 0.999, 1e-8, 0.1};
  template <class R>
  static auto reference() {
    return reference::AdamWReference<R>(2e-3, 0.9, 0.999, 1e-8, 0.1);
  }
};
struct MadamCase {
  using Rule = Madam;
  static constexpr Madam::Config config{3e-2, 0.99, 2.5, 3};
  template <class R>
  static auto reference() {
    return reference::MadamReference<R>(3e-2, 0.99, 2.5, 3 * constants.initial_rms);
  }
};
struct MAdamCase {
  using Rule = MAdam;
  static constexpr MAdam::Config config{1e-3, 1e-2, 0.9, 0.999, 1e-8, 1.5, 0.05};
  template <class R>
  static auto reference() {
    return reference::MAdamReference<R>(1e-3, 1e-2, 0.9, 0.999, 1e-8, 1.5, 0.05);
  }
};

/// Runs rule and reference side by side on one weight; returns the first step at which a bit differs, 0 if
/// none.
template <class Case, class R>
std::uint64_t first_difference(R w, const std::vector<R>& gradients) {
  using Rule = typename Case::Rule;
  auto reference = Case::template reference<R>();
  std::array<R, Rule::state_slots.size()> state{};
  R twin = w;
  for (std::uint64_t t = 1; t <= gradients.size(); ++t) {
    const double schedule = 1.0 / static_cast<double>(1 + t / 50);
    const auto c = Rule::template scalars<R>(Case::config, constants, StepInfo{t, schedule, 0});
    const R u = Rule::update(c, std::array<R, 1>{w}, std::array<R, 1>{gradients[t - 1]}, state)[0];
    const R expected = reference.increment(schedule, twin, gradients[t - 1]);
    if (!same_bits(u, expected)) return t;
    for (std::size_t slot = 0; slot < state.size(); ++slot)
      if (!same_bits(state[slot], reference.states()[slot])) return t;
    w += u;
    twin += expected;
  }
  return 0;
}

template <class R>
std::vector<R> random_gradients(std::uint64_t seed) {
  std::vector<R> gradients;
  for (std::uint32_t t = 0; t < 200; ++t) gradients.push_back(R(test::log_spread(seed, t, 0, 30)));
  return gradients;
}

template <class Case, class R>
void compare_on_random_gradients() {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const double w : {1.0, -0.3, 0.0, 1e-6, -1.4999})
      CHECK(first_difference<Case, R>(R(w), random_gradients<R>(seed)) == 0);
}

template <class Case, class R>
void compare_on_special_gradients() {
  for (const R special : test::special_gradients<R>())
    for (const R w : {R(1), R(-0.3), R(0), -R(0), std::numeric_limits<R>::denorm_min(), R(1e30)})
      for (const std::size_t when : {0u, 1u, 40u}) {
        std::vector<R> once = random_gradients<R>(7);
        once[when] = special;
        CAPTURE(static_cast<double>(special));
        CAPTURE(static_cast<double>(w));
        CHECK(first_difference<Case, R>(w, once) == 0);
        CHECK(first_difference<Case, R>(w, std::vector<R>(30, special)) == 0);
      }
}

TEST_CASE_TEMPLATE("rules: 200 steps equal the independent derivation to the last bit", Case, AdamWCase,
                   MadamCase, MAdamCase) {
  compare_on_random_gradients<Case, double>();
  compare_on_random_gradients<Case, float>();
}

TEST_CASE_TEMPLATE("rules: special gradients give the same bits as the independent derivation", Case,
                   AdamWCase, MadamCase, MAdamCase) {
  compare_on_special_gradients<Case, double>();
  compare_on_special_gradients<Case, float>();
}

TEST_CASE_TEMPLATE("rules: quadruple precision equals the independent derivation", Case, AdamWCase, MadamCase,
                   MAdamCase) {
  for (const double w : {1.0, -0.3})
    CHECK(first_difference<Case, Quad>(Quad(w), random_gradients<Quad>(3)) == 0);
}

TEST_CASE_TEMPLATE("lmd: 200 steps, views and pulled gradients equal the independent derivation", R, double,
                   float) {
  const Lmd::Config config{1e-2, 0.9, 0.99, 0.1, 0.25, 1};
  std::vector<R> gradients = random_gradients<R>(5);
  const std::vector<R> special = test::special_gradients<R>();
  const std::size_t regular = gradients.size();
  gradients.insert(gradients.end(), special.begin(), special.end());
  for (std::size_t start = 0; start < 5; ++start) {
    reference::LmdReference<R> reference(1e-2, 0.9, 0.99, 0.1, 0.25);
    std::array<R, 2> w{R(0.7), R(0.1 * static_cast<double>(start))}, state{};
    for (std::uint64_t t = 1; t <= gradients.size(); ++t) {
      const double schedule = t > 100 ? 0.5 : 1;
      const auto c = Lmd::scalars<R>(config, constants, {t, schedule, 0});
      const std::array<R, 2> z{R(test::uniform(start, 900, t)), R(3 * test::uniform(start, 901, t))};
      const R d = gradients[t - 1];
      const std::array<R, 2> e{Lmd::noise(c, z[0]), Lmd::noise(c, z[1])};
      CHECK(same_bits(Lmd::view(w, e), reference.view(w, z)));
      const std::array<R, 2> g = Lmd::pull_back(w, e, d), expected_g = reference.log_gradients(w, z, d);
      const std::array<R, 2> u = Lmd::update(c, w, g, state),
                             expected = reference.increments(schedule, w, expected_g);
      for (std::size_t part = 0; part < 2; ++part) {
        CHECK(same_bits(g[part], expected_g[part]));
        CHECK(same_bits(u[part], expected[part]));
        CHECK(same_bits(state[part], reference.states()[part]));
        w[part] += u[part];
        if (t <= regular) CHECK(w[part] >= 0);
      }
    }
  }
}

TEST_CASE("lmd: a NaN gradient is not hidden by its sign") {
  const auto c = Lmd::scalars<float>({}, constants, {1, 1.0, 0});
  std::array<float, 2> state{};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto u = Lmd::update(c, std::array{1.0f, 1.0f}, std::array{nan, 1.0f}, state);
  CHECK(u[0] != u[0]);
  CHECK(u[1] < 0);
}

TEST_CASE("lmd: the initial parts are positive and differ by the weight") {
  for (const double rms : {0.0, 1e-3, 1.0})
    for (const double w0 : {0.0, 1e-9, -1e-9, 0.5, -0.5, 100.0, -100.0}) {
      const auto parts = Lmd::initialize(w0, {rms});
      const double s = rms > 0 ? rms : 0.01;
      CHECK(parts[0] > 0);
      CHECK(parts[1] > 0);
      // larger: square, square, sum, root, sum, each relative 2^-53, none cancels; smaller: its reciprocal.
      const double larger = std::max(parts[0], parts[1]);
      CHECK(std::fabs(parts[0] - parts[1] - w0) <= 10 * 0x1p-53 * larger);
      CHECK(std::fabs(parts[0] * parts[1] - s * s / 4) <= 4 * 0x1p-53 * s * s / 4);
    }
}

/// Relative error of one rounding; the bounds below count roundings of each term and add one for all products
/// of such errors, which are below 2^-100.
constexpr double eps = 0x1p-53;

template <class Rule, std::size_t Slots, std::size_t States>
struct Twin {
  std::array<double, Slots> u;
  std::array<Quad, Slots> exact;
  std::array<double, States> state;
};

/// One step in double and in quadruple precision from the same numbers; the scalars are the doubles in both.
template <class Rule, std::size_t Slots, std::size_t States, class Scalars, class QuadScalars>
Twin<Rule, Slots, States> step_twice(const Scalars& c, const QuadScalars& q,
                                     const std::array<double, Slots>& w, const std::array<double, Slots>& g,
                                     std::array<double, States>& state) {
  std::array<Quad, Slots> wide_w, wide_g;
  std::array<Quad, States> wide_state;
  for (std::size_t i = 0; i < Slots; ++i) wide_w[i] = w[i], wide_g[i] = g[i];
  for (std::size_t i = 0; i < States; ++i) wide_state[i] = state[i];
  const auto u = Rule::update(c, w, g, state);
  return {u, Rule::update(q, wide_w, wide_g, wide_state), state};
}

double distance(double a, const Quad& b) { return static_cast<double>(abs(Quad(a) - b)); }

TEST_CASE("adamw: double stays within its rounding errors of quadruple precision") {
  // m: 2 roundings of A = beta1 |m| + (1 - beta1) |g|; numerator 2 more; v: 3 (all terms positive), sqrt(v^):
  // half of 4, plus 1; eps 1; the quotient 1: at most 10 eps A' in all, A' = eta A / (1 - beta1^t) /
  // denominator.
  const AdamWCase c{};
  std::array<double, 1> w{0.7};
  std::array<double, 2> state{};
  double worst = 0;
  for (std::uint64_t t = 1; t <= 200; ++t) {
    const auto scalars = AdamW::scalars<double>(c.config, constants, {t, 1.0, 0});
    const auto wide = AdamW::scalars<Quad>(c.config, constants, {t, 1.0, 0});
    const std::array<double, 1> g{test::log_spread(11, static_cast<std::uint32_t>(t), 0, 20)};
    const double amplitude = scalars.beta1 * std::fabs(state[0]) + scalars.one_minus_beta1 * std::fabs(g[0]);
    const auto twin = step_twice<AdamW>(scalars, wide, w, g, state);
    const double denominator = std::sqrt(state[1] * scalars.v_correction) + scalars.eps;
    const double bound = eps * (11 * scalars.eta * amplitude * scalars.m_correction / denominator +
                                3 * scalars.decay * std::fabs(w[0]) + 2 * std::fabs(twin.u[0]));
    CHECK(distance(twin.u[0], twin.exact[0]) <= bound);
    worst = std::max(worst, distance(twin.u[0], twin.exact[0]));
    w[0] += twin.u[0];
  }
  CHECK(worst > 0);
}

TEST_CASE("m+adam: double stays within its rounding errors of quadruple precision") {
  // additive branch as adamw; g_e 2 roundings, v_e 2 * 2 + 3 = 7, root 1 + (7 + 1) / 2 + 1 = 6, n 2 + 6 + 1 =
  // 9, times eta_m and w 11; the final sums 2.
  std::array<double, 1> w{0.7};
  std::array<double, 3> state{};
  double worst = 0;
  for (std::uint64_t t = 1; t <= 200; ++t) {
    const auto scalars = MAdam::scalars<double>(MAdamCase::config, constants, {t, 1.0, 0});
    const auto wide = MAdam::scalars<Quad>(MAdamCase::config, constants, {t, 1.0, 0});
    const std::array<double, 1> g{test::log_spread(12, static_cast<std::uint32_t>(t), 0, 20)};
    const double amplitude = scalars.beta1 * std::fabs(state[0]) + scalars.one_minus_beta1 * std::fabs(g[0]);
    const auto twin = step_twice<MAdam>(scalars, wide, w, g, state);
    const double root = std::sqrt(state[1] * scalars.v_correction) + scalars.eps;
    const double root_e = std::sqrt(state[2] * scalars.v_correction) + scalars.eps;
    const double n = std::min(scalars.g_bound, std::fabs(scalars.ln2 * w[0] * g[0]) / root_e);
    const double bound =
        eps * (13 * scalars.eta_a * amplitude * scalars.m_correction / root +
               14 * scalars.eta_m * n * std::fabs(w[0]) + 4 * scalars.decay * std::fabs(w[0]));
    CHECK(distance(twin.u[0], twin.exact[0]) <= bound);
    worst = std::max(worst, distance(twin.u[0], twin.exact[0]));
    w[0] += twin.u[0];
  }
  CHECK(worst > 0);
}

TEST_CASE("madam: double stays within its rounding errors of quadruple precision") {
  // n: v 3 roundings, root half of 4 plus 1, quotient 1: 4; the exponent 5, |x| <= 0.075, where the condition
  // number x e^x / (e^x - 1) of expm1 is below 1.04; expm1 itself errs by 2 ulp <= 4 eps; the product 1.
  std::array<double, 1> w{0.7};
  std::array<double, 1> state{};
  double worst = 0;
  for (std::uint64_t t = 1; t <= 200; ++t) {
    const auto scalars = Madam::scalars<double>(MadamCase::config, constants, {t, 1.0, 0});
    const auto wide = Madam::scalars<Quad>(MadamCase::config, constants, {t, 1.0, 0});
    const std::array<double, 1> g{test::log_spread(13, static_cast<std::uint32_t>(t), 0, 20)};
    const auto twin = step_twice<Madam>(scalars, wide, w, g, state);
    CHECK(distance(twin.u[0], twin.exact[0]) <= 12 * eps * std::fabs(twin.u[0]));
    worst = std::max(worst, distance(twin.u[0], twin.exact[0]));
    w[0] += twin.u[0];
  }
  CHECK(worst > 0);
}

TEST_CASE("lmd: double stays within its rounding errors of quadruple precision") {
  // exponent 2 roundings at |x| = 0.0125 (condition 1.01), expm1 4, product 1. The sign is decided alike
  // wherever the look-ahead average exceeds its two roundings.
  const Lmd::Config config{1e-2, 0.9, 0.99, 0.1, 0.25, 1};
  std::array<double, 2> w{0.7, 0.2}, state{};
  for (std::uint64_t t = 1; t <= 200; ++t) {
    const auto scalars = Lmd::scalars<double>(config, constants, {t, 1.0, 0});
    const auto wide = Lmd::scalars<Quad>(config, constants, {t, 1.0, 0});
    const auto step = static_cast<std::uint32_t>(t);
    const std::array<double, 2> g{test::log_spread(14, step, 0, 20), test::log_spread(14, step, 1, 20)};
    for (std::size_t part = 0; part < 2; ++part) {
      const double kept = scalars.beta1 * state[part], added = scalars.one_minus_beta1 * g[part];
      CHECK(std::fabs(kept + added) > 3 * eps * (std::fabs(kept) + std::fabs(added)));
    }
    const auto twin = step_twice<Lmd>(scalars, wide, w, g, state);
    for (std::size_t part = 0; part < 2; ++part) {
      CHECK(distance(twin.u[part], twin.exact[part]) <= 8 * eps * std::fabs(twin.u[part]));
      w[part] += twin.u[part];
    }
  }
}

TEST_CASE("madam: beyond its bound the increment leads to the bound") {
  const Madam::Config config{0.1, 0.999, 10, 3};
  const auto c = Madam::scalars<double>(config, constants, {1, 1.0, 0});
  for (const double w : {1.499, 1.2, 0.9, -1.499, -0.9}) {
    std::array<double, 1> state{};
    const double u = Madam::update(c, std::array{w}, std::array{w > 0 ? -1.0 : 1.0}, state)[0];
    CHECK(std::fabs(w + u) <= 1.5);
    if (std::fabs(w) > 1.4) CHECK(w + u == (w > 0 ? 1.5 : -1.5));
  }
}

TEST_CASE("madam: a weight far beyond its bound lands within half its ulp of the bound, then on it") {
  // An outlier: w0 = 100 in a tensor of initial rms 0.1, in float. Where w > 2 w_max the difference w_max - w
  // is rounded (half an ulp of w, 2^-18 below 128); between w_max and 2 w_max it is exact (Sterbenz).
  const auto c = Madam::scalars<float>({}, {0.1}, {1, 1.0, 0});
  std::array<float, 1> state{};
  const float first = 100.0f + Madam::update(c, std::array{100.0f}, std::array{0.0f}, state)[0];
  CHECK(std::fabs(first - c.w_max) <= 0x1p-18f);
  const float second = first + Madam::update(c, std::array{first}, std::array{0.0f}, state)[0];
  CHECK(second == c.w_max);
}

}  // namespace
}  // namespace halfulp
