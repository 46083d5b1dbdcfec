// Readings of published equations that must fail to descend, and the ones implemented instead, on the same start.
#include <doctest/doctest.h>

#include "optimizers/lmd.h"
#include "tests/optimizers/ascending_rules.h"
#include "tests/optimizers/one_weight_descent.h"

namespace halfulp {
namespace {

using test::descend;

constexpr MAdam::Config m_adam{.eta_a = 1e-3, .eta_m = 1e-2};

TEST_CASE(
    "must fail to descend: m+adam with the sign of w in its divisor, for every negative weight, in double") {
  // n = g_e / RMS(g_e) has the sign of w g. Divided by a rho of the sign of w, then multiplied by w, it keeps that
  // sign: -eta_m n goes up the slope where w < 0, ten times as fast as the additive branch goes down.
  const auto below = descend<test::SignedRho>(m_adam, -4, -3, "fp64");
  CHECK(std::fabs(below.final + 50.7) < 0.05);
  const auto across = descend<test::SignedRho>(m_adam, -0.5, 0.5, "fp64");
  CHECK(std::fabs(across.final + 48.9) < 0.05);
  // And a weight whose target is negative stops where it would cross.
  CHECK(std::fabs(descend<test::SignedRho>(m_adam, 0.5, -0.5, "fp64").final) < 0.01);
  CHECK(std::fabs(descend<test::SignedRho>(m_adam, 4, 3, "fp64").final - 3) <
        1e-6);  // for w > 0 it is rho_unsigned
  for (const auto mode : {MAdam::MultMode::relative, MAdam::MultMode::exp2, MAdam::MultMode::rho_unsigned,
                          MAdam::MultMode::log1p_capped}) {
    MAdam::Config config = m_adam;
    config.mult_mode = mode;
    CHECK(std::fabs(descend<MAdam>(config, -4, -3, "fp64").final + 3) < 1e-6);
    CHECK(std::fabs(descend<MAdam>(config, -0.5, 0.5, "fp64").final - 0.5) < 1e-6);
    CHECK(std::fabs(descend<MAdam>(config, 0.5, -0.5, "fp64").final + 0.5) < 1e-6);
  }
}

TEST_CASE(
    "must fail to descend: w exp(+eta g e) climbs for every positive weight, w exp(-eta g e) for every "
    "negative") {
  using Plus = test::ExponentOfGradient<1>;
  using Minus = test::ExponentOfGradient<-1>;
  for (const double noise : {0.5, 1.0, 2.0}) {
    // Downhill is towards 3 from either side; dw = +-eta w g e to first order, and dL = g dw has the sign of +-w.
    for (const double start : {3.1, 2.9}) {
      const auto plus = descend<Plus>({1e-2, noise}, start, 3, "fp64");
      const bool gone = !(plus.worst < 2.9);  // to infinity, or to the fixed point 0
      CHECK(gone);
      CHECK(std::fabs(descend<Minus>({1e-2, noise}, start, 3, "fp64").final - 3) < 1e-3);
      const auto minus = descend<Minus>({1e-2, noise}, -start, -3, "fp64");
      const bool gone_too = !(minus.worst < 2.9);
      CHECK(gone_too);
      CHECK(std::fabs(descend<Plus>({1e-2, noise}, -start, -3, "fp64").final + 3) < 1e-3);
    }
  }
}

/// The weight that LMD with the article's exponent, on parts, makes of a start in 3000 steps.
double lmd_seed(double start, double target) {
  const Lmd::Config config{.alpha = 1e-2, .sigma = 0.1, .exponent = Lmd::Exponent::seed};
  const TensorInfo info{"w", 0, {1}, 0};
  OptimizedTensor<Lmd, double> tensor(info, parse_scheme("fp64").of(info), std::vector<double>{start},
                                      config);
  NoProbe probe;
  for (std::uint64_t t = 1; t <= 3000; ++t) {
    const StepInfo now{t, 1.0, 5};
    const auto view = tensor.look(config, now, 0);
    std::array<std::vector<double>, 2> gradients;
    tensor.pull_back(config, now, view, std::vector<double>{view.weights[0] - target}, 1.0, 0, gradients);
    tensor.step(config, now, gradients, nullptr, probe);
  }
  return tensor.look(config, {3001, 1.0, 5}, -1).weights[0];
}

TEST_CASE("lmd: the article's exponent on both parts, with the sign of descent, descends for every sign") {
  // Noise of sigma 0.1 on each part leaves w within a few tenths of its target.
  for (const double start : {4.0, -4.0, 0.5, -0.5})
    for (const double target : {3.0, -3.0}) {
      CAPTURE(start);
      CAPTURE(target);
      CHECK(std::fabs(lmd_seed(start, target) - target) < 0.5);
    }
}

}  // namespace
}  // namespace halfulp
