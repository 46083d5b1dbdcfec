// What the modes of M+Adam and LMD make of a step, worked by hand.
#include <doctest/doctest.h>

#include "optimizers/all_rules.h"
#include "tests/optimizers/one_step.h"

namespace halfulp {
namespace {

using test::OneStep;

/// The first step of M+Adam from w under gradient g, without its additive branch; n = sign(w g) there.
double multiplied(double w, double g, MAdam::Config config) {
  config.eta_a = 0;
  config.eps = 1e-30;
  return OneStep<MAdam>{config}(w, g);
}

TEST_CASE(
    "m_adam: relative and exp2 steps grow with the weight, rho_unsigned and log1p_capped steps do not") {
  using Mode = MAdam::MultMode;
  for (const double w : {0.125, 2.0, -2.0, 64.0})
    for (const double g : {3.0, -3.0}) {
      const double down = g < 0 ? 1 : -1;     // against the slope
      const double x = w < 0 ? -down : down;  // of the exponent
      CHECK(std::fabs(multiplied(w, g, {.eta_m = 0.01}) - down * 0.01 * std::fabs(w)) < 1e-14);
      CHECK(std::fabs(multiplied(w, g, {.eta_m = 0.01, .mult_mode = Mode::exp2}) -
                      w * (std::exp2(x * 0.01) - 1)) < 1e-13);
      CHECK(std::fabs(multiplied(w, g, {.eta_m = 0.01, .mult_mode = Mode::rho_unsigned}) - down * 0.01) <
            1e-15);
      CHECK(std::fabs(multiplied(w, g, {.eta_m = 0.01, .mult_mode = Mode::log1p_capped}) - down * 0.01) <
            1e-14);
    }
}

TEST_CASE("m_adam: log1p_capped moves a small weight by -29 % or +41 % at most, rho_unsigned through zero") {
  const MAdam::Config capped{.eta_m = 0.01, .mult_mode = MAdam::MultMode::log1p_capped};
  CHECK(std::fabs(multiplied(1e-3, 1, capped) - 1e-3 * (std::sqrt(0.5) - 1)) < 1e-17);
  CHECK(std::fabs(multiplied(1e-3, -1, capped) - 1e-3 * (std::sqrt(2.0) - 1)) < 1e-17);
  CHECK(std::fabs(multiplied(-1e-3, 1, capped) + 1e-3 * (std::sqrt(2.0) - 1)) < 1e-17);
  // Wider caps show the first one: 1 - 0.75 = 2^-2, 1 + 0.75 = 2^0.807.
  const MAdam::Config wider{.eta_m = 0.01, .mult_mode = MAdam::MultMode::log1p_capped, .de_cap = 10};
  CHECK(std::fabs(multiplied(1e-3, 1, wider) + 0.75e-3) < 1e-17);
  CHECK(std::fabs(multiplied(1e-3, -1, wider) - 0.75e-3) < 1e-17);
  const MAdam::Config unsigned_rho{.eta_m = 0.01, .mult_mode = MAdam::MultMode::rho_unsigned};
  CHECK(std::fabs(multiplied(1e-3, 1, unsigned_rho) + 0.01) < 1e-17);
}

TEST_CASE("m_adam: below tau the step is relative again; tau may follow the tensor") {
  MAdam::Config config{.eta_m = 0.01, .mult_mode = MAdam::MultMode::rho_unsigned, .tau = 0.5};
  CHECK(std::fabs(multiplied(0.125, 1, config) + 0.0025) < 1e-17);
  config.tau_relative = 2;  // 2 * rms 0.5 = 1
  CHECK(std::fabs(multiplied(0.125, 1, config) + 0.00125) < 1e-17);
  config.tau_relative = 0.5;  // 0.25 < 0.5
  CHECK(std::fabs(multiplied(0.125, 1, config) + 0.0025) < 1e-17);
}

TEST_CASE("m_adam: epsilon added or as a floor") {
  // |g_e| = 3e-8 at the first step is also its root: 3 / (3 + 1) added, 3 / 3 above the floor, 3 / 6 below it.
  const double g = 3e-8 / std::log(2.0);
  const auto n = [&](MAdam::EpsPlacement placement, double eps) {
    return -OneStep<MAdam>{{.eta_a = 0, .eta_m = 1, .eps = eps, .eps_placement = placement}}(1.0, g);
  };
  CHECK(std::fabs(n(MAdam::EpsPlacement::added, 1e-8) - 0.75) < 1e-14);
  CHECK(std::fabs(n(MAdam::EpsPlacement::floor, 1e-8) - 1) < 1e-14);
  CHECK(std::fabs(n(MAdam::EpsPlacement::floor, 6e-8) - 0.5) < 1e-14);
}

TEST_CASE("m_adam: the exponent decays towards 0, the weight towards 1, and no zero breaks") {
  // w = 12 = 0.75 * 2^4, so e = 4; a zero gradient leaves the decay alone: 12 * 2^(-0.25 * 4 * 0.01).
  for (const auto mode : {MAdam::MultMode::exp2, MAdam::MultMode::log1p_capped}) {
    const MAdam::Config config{.eta_m = 0.01, .mult_mode = mode, .exponent_decay = 0.25};
    CHECK(std::fabs(12 + multiplied(12, 0, config) - 12 * std::exp2(-0.01)) < 1e-14);
    CHECK(std::fabs(0.046875 + multiplied(0.046875, 0, config) - 0.046875 * std::exp2(0.01)) <
          1e-16);  // e = -4
    CHECK(multiplied(0.75, 0, config) == 0);
    CHECK(multiplied(0, 0, config) == 0);
  }
}

TEST_CASE("m_adam: bounds of the weight and of the exponent's gradient") {
  const MAdam::Config bounded{.eta_m = 0.5, .p_scale = 3};
  CHECK(1.25 + multiplied(1.25, -1, bounded) == 1.5);
  CHECK(-1.25 + multiplied(-1.25, 1, bounded) == -1.5);
  OneStep<MAdam> huge{{.g_e_bound = 4}};
  huge(1.0, 1e10);
  CHECK(huge.state[2] == (1 - 0.999) * 16);
  OneStep<MAdam> free{{}};
  free(1.0, 1e10);
  CHECK(free.state[2] > 1e16);
}

TEST_CASE("m_adam: either schedule multiplies its own branch") {
  const MAdam::Config config{.eta_a = 1e-2, .eta_m = 3e-2, .eps = 0};
  const auto step = [&](double a, double m) {
    std::array<double, 3> state{};
    const auto c = MAdam::scalars<double>(config, {1}, StepInfo{1, a, 0, m});
    return update_of<MAdam>(c, std::array{2.0}, std::array{1.0}, state)[0];
  };
  CHECK(std::fabs(step(1, 1) + 0.07) < 1e-15);
  CHECK(std::fabs(step(0.5, 1) + 0.065) < 1e-15);
  CHECK(std::fabs(step(1, 0.5) + 0.04) < 1e-15);
}

constexpr std::array quiet{1.0, 1.0};  // noise factors

TEST_CASE("lmd: a NaN gradient is not hidden by its sign") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto u = OneStep<Lmd>{{}}({1, 1}, {nan, 1});
  CHECK(u[0] != u[0]);
  CHECK(u[1] < 0);
}

TEST_CASE("lmd: the seed exponent is the pulled gradient itself, against the slope") {
  // m+ = 2 e+ = 1.5, d = 0.1: U+ = 0.3, a step of 2 (exp(-0.03) - 1); U- = -m- e- d = -0.05.
  const Lmd::Config config{.alpha = 0.1, .exponent = Lmd::Exponent::seed};
  const auto c = Lmd::scalars<double>(config, {1}, {1, 1.0, 0});
  const auto g = Lmd::pull_back(c, {2, 0.5}, {1.5, 1}, 0.1);
  const auto u = OneStep<Lmd>{config}({2, 0.5}, g);
  CHECK(std::fabs(u[0] - 2 * (std::exp(-0.03) - 1)) < 1e-15);
  CHECK(std::fabs(u[1] - 0.5 * (std::exp(0.005) - 1)) < 1e-16);
}

TEST_CASE("lmd: what each regulariser pulls towards, under a zero gradient") {
  using Kind = Lmd::Regulariser;
  // constant: both parts shrink alike.
  const auto constant = OneStep<Lmd>{{.alpha = 0.1, .decay = 0.5}}({2, 0.5}, {0, 0});
  CHECK(std::fabs(constant[0] - 2 * (std::exp(-0.05) - 1)) < 1e-15);
  // kl: towards m0 = prior_median * rms; log 4 above and log 1 at it, over s0^2 = 4; a zero stays.
  OneStep<Lmd> kl{{.alpha = 0.1, .regulariser = Kind::kl, .prior_median = 1, .s0 = 2}};
  const auto towards = kl({2, 0.5}, {0, 0});
  CHECK(std::fabs(towards[0] - 2 * (std::exp(-0.1 * std::log(4.0) / 4) - 1)) < 1e-15);
  CHECK(std::fabs(towards[1]) < 1e-16);
  CHECK(kl({0, 0.125}, {0, 0})[0] == 0);
  CHECK(kl({0, 0.125}, {0, 0})[1] > 0);
  // lie_group: the L2 gradient shrinks the larger part and grows the smaller; the temperature grows both.
  const auto l2 =
      OneStep<Lmd>{{.alpha = 0.1, .regulariser = Kind::lie_group, .delta = 0.5}}({2, 0.5}, {0, 0});
  CHECK(std::fabs(l2[0] - 2 * (std::exp(-0.1 * 1.5) - 1)) < 1e-15);     // 0.5 * 2 * 1.5
  CHECK(std::fabs(l2[1] - 0.5 * (std::exp(0.1 * 0.375) - 1)) < 1e-15);  // -0.5 * 0.5 * 1.5
  const auto warm = OneStep<Lmd>{
      {.alpha = 0.1, .regulariser = Kind::lie_group, .delta = 0, .temperature = 0.2}}({2, 0.5}, {0, 0});
  CHECK(std::fabs(warm[0] - 2 * (std::exp(0.02) - 1)) < 1e-15);
  CHECK(std::fabs(warm[1] - 0.5 * (std::exp(0.02) - 1)) < 1e-15);
}

TEST_CASE("lmd: hierarchical noise adds a deviate that the tensor shares") {
  Lmd::Config config{.sigma = 0.5, .sigma_layer = 0.25};
  const auto noise = [&](double z, double shared) {
    return Lmd::noise(Lmd::scalars<double>(config, {1}, {1, 1.0, 0}), z, shared);
  };
  CHECK(std::fabs(noise(2, 3) - std::exp(1.0)) < 1e-15);
  config.noise = Lmd::Noise::hierarchical;
  CHECK(std::fabs(noise(2, 3) - std::exp(1.75)) < 1e-14);
  config.sigma = 0;
  CHECK(std::fabs(noise(2, 3) - std::exp(0.75)) < 1e-15);
  CHECK(Lmd::samples(config) == 1);
  config.noise = Lmd::Noise::log_normal;
  CHECK(Lmd::samples(config) == 0);
}

TEST_CASE("lmd: the soft threshold is the identity below it, and differentiable") {
  const Lmd::Config config{.soft_clip = Lmd::SoftClip::threshold, .weight_clip = 2};
  const auto c = Lmd::scalars<double>(config, {1}, {1, 1.0, 0});
  const auto view = [&](double w) {
    return Lmd::view(c, w > 0 ? std::array{w, 0.0} : std::array{0.0, -w}, quiet);
  };
  CHECK(view(2) == 2);
  CHECK(view(-1.5) == -1.5);
  CHECK(std::fabs(view(5) - (2 + std::log(4.0))) < 1e-15);
  CHECK(std::fabs(view(-5) + 2 + std::log(4.0)) < 1e-15);
  // dL/dlog m+ = d m+ dview/dw, by central differences of step h: error h^2 / 6 * third derivative (at most 2), and
  // rounding 2^-52 * 4 / h.
  for (const double m : {1.0, 1.99, 2.01, 3.0, 7.0}) {
    const double h = 1e-4, slope = (view(m + h) - view(m - h)) / (2 * h);
    CHECK(std::fabs(Lmd::pull_back(c, {m, 0}, quiet, 1.0)[0] - m * slope) < m * (1e-8 + 1e-11));
  }
}

TEST_CASE("lmd: the seed's soft clip rescales a whole tensor to its threshold, however small it is") {
  const Lmd::Config config{.soft_clip = Lmd::SoftClip::seed, .weight_clip = 3};
  CHECK(Lmd::view_scale<double>(config, 6) == 3 / (1e-6 + 6));
  CHECK(Lmd::view_scale<double>(config, 0.5) > 5.99);
  CHECK(std::fabs(Lmd::view_scale<double>(config, 0) - 3e6) < 1e-9);
  CHECK(Lmd::view_scale<double>({}, 6) == 1);
  CHECK(Lmd::view_scale<double>({.soft_clip = Lmd::SoftClip::threshold}, 6) == 1);
  // The article's clamp after it: at most the last bit.
  for (const double amax : {1e-9, 0.3, 3.0, 1e5, 1e12})
    CHECK(amax * Lmd::view_scale<double>(config, amax) <= 3 * (1 + 0x1p-51));
}

}  // namespace
}  // namespace halfulp
