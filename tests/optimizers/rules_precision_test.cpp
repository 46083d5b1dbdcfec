// The rules in double against themselves in quadruple precision, within the error bound that the operation order
// implies.
#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "optimizers/all_rules.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

using Quad = boost::multiprecision::cpp_bin_float_quad;

constexpr TensorConstants constants{0.5};

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
  const auto u = update_of<Rule>(c, w, g, state);
  return {u, update_of<Rule>(q, wide_w, wide_g, wide_state), state};
}

double distance(double a, const Quad& b) { return static_cast<double>(abs(Quad(a) - b)); }

TEST_CASE("adamw: double stays within its rounding errors of quadruple precision") {
  // m: 2 roundings of A = beta1 |m| + (1 - beta1) |g|; numerator 2 more; v: 3 (all terms positive), sqrt(v^):
  // half of 4, plus 1; eps 1; the quotient 1: at most 10 eps A' in all, A' = eta A / (1 - beta1^t) /
  // denominator.
  const AdamW::Config config{2e-3, 0.9, 0.999, 1e-8, 0};
  std::array<double, 1> w{0.7};
  std::array<double, 2> state{};
  double worst = 0;
  for (std::uint64_t t = 1; t <= 200; ++t) {
    const auto scalars = AdamW::scalars<double>(config, constants, {t, 1.0, 0});
    const auto wide = AdamW::scalars<Quad>(config, constants, {t, 1.0, 0});
    const std::array<double, 1> g{test::log_spread(11, static_cast<std::uint32_t>(t), 0, 20)};
    const double amplitude = scalars.beta1 * std::fabs(state[0]) + scalars.one_minus_beta1 * std::fabs(g[0]);
    const auto twin = step_twice<AdamW>(scalars, wide, w, g, state);
    const double denominator = std::sqrt(state[1] * scalars.v_correction) + scalars.eps;
    const double bound =
        eps * (11 * scalars.eta * amplitude * scalars.m_correction / denominator + 2 * std::fabs(twin.u[0]));
    CHECK(distance(twin.u[0], twin.exact[0]) <= bound);
    worst = std::max(worst, distance(twin.u[0], twin.exact[0]));
    w[0] += twin.u[0];
  }
  CHECK(worst > 0);
}

TEST_CASE("m+adam: double stays within its rounding errors of quadruple precision") {
  // additive branch as adamw; g_e 2 roundings, v_e 2 * 2 + 3 = 7, root 1 + (7 + 1) / 2 + 1 = 6, n 2 + 6 + 1 =
  // 9, times eta_m and w 11; the final sums 2.
  const MAdam::Config config{1e-3, 1e-2, 0.9, 0.999, 1e-8, 1.5, 0};
  std::array<double, 1> w{0.7};
  std::array<double, 3> state{};
  double worst = 0;
  for (std::uint64_t t = 1; t <= 200; ++t) {
    const auto scalars = MAdam::scalars<double>(config, constants, {t, 1.0, 0});
    const auto wide = MAdam::scalars<Quad>(config, constants, {t, 1.0, 0});
    const std::array<double, 1> g{test::log_spread(12, static_cast<std::uint32_t>(t), 0, 20)};
    const double amplitude = scalars.beta1 * std::fabs(state[0]) + scalars.one_minus_beta1 * std::fabs(g[0]);
    const auto twin = step_twice<MAdam>(scalars, wide, w, g, state);
    const double root = std::sqrt(state[1] * scalars.v_correction) + scalars.eps;
    const double root_e = std::sqrt(state[2] * scalars.v_correction) + scalars.eps;
    const double n = std::min(scalars.g_bound, std::fabs(scalars.ln2 * w[0] * g[0]) / root_e);
    const double bound = eps * (13 * scalars.eta_a * amplitude * scalars.m_correction / root +
                                14 * scalars.eta_m * n * std::fabs(w[0]));
    CHECK(distance(twin.u[0], twin.exact[0]) <= bound);
    worst = std::max(worst, distance(twin.u[0], twin.exact[0]));
    w[0] += twin.u[0];
  }
  CHECK(worst > 0);
}

TEST_CASE("madam: double stays within its rounding errors of quadruple precision") {
  // n: v 3 roundings, root half of 4 plus 1, quotient 1: 4; the exponent 5, |x| <= 0.075, where the condition
  // number x e^x / (e^x - 1) of expm1 is below 1.04; expm1 itself errs by 2 ulp <= 4 eps; the product 1.
  const Madam::Config config{3e-2, 0.99, 2.5, 3};
  std::array<double, 1> w{0.7};
  std::array<double, 1> state{};
  double worst = 0;
  for (std::uint64_t t = 1; t <= 200; ++t) {
    const auto scalars = Madam::scalars<double>(config, constants, {t, 1.0, 0});
    const auto wide = Madam::scalars<Quad>(config, constants, {t, 1.0, 0});
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

}  // namespace
}  // namespace halfulp
