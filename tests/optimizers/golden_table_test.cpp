// The three failure modes on L = (w - target)^2 / 2 in BF16: one rounding of w per step, everything else in
// double but for fp32 states. 3000 steps, eta_a 1e-3, eta_m and Madam's eta 1e-2.
#include <doctest/doctest.h>

#include "optimizers/all_rules.h"
#include "tests/optimizers/ascending_rules.h"
#include "tests/optimizers/one_weight_descent.h"

namespace halfulp {
namespace {

using test::descend;
using test::Outcome;

const AdamW::Config adamw{.eta = 1e-3};
const Madam::Config madam{.eta = 1e-2};
const MAdam::Config m_adam{.eta_a = 1e-3, .eta_m = 1e-2};

/// M+Adam's multiplicative branch divided by |w|, and that as one transcription of the official code limits it.
const MAdam::Config by_magnitude{.eta_a = 1e-3, .eta_m = 1e-2, .mult_mode = MAdam::MultMode::rho_unsigned};
const MAdam::Config capped{.eta_a = 1e-3,
                           .eta_m = 1e-2,
                           .g_bound = 20,
                           .mult_mode = MAdam::MultMode::log1p_capped,
                           .eps_placement = MAdam::EpsPlacement::floor,
                           .tau = 1e-8,
                           .tau_relative = 1e-6,
                           .g_e_bound = 1e19};

TEST_CASE("golden table: 4 -> 3, where additive updates are below half an ulp") {
  const Outcome a = descend<AdamW>(adamw, 4, 3), b = descend<Madam>(madam, 4, 3),
                c = descend<MAdam>(m_adam, 4, 3);
  CHECK(a.final == 4);
  CHECK(a.changes == 0);
  CHECK(b.final == 3);
  CHECK(b.changes == 47);
  CHECK(c.final == 3);
  CHECK(c.changes == 47);
  // Divided by |w|, steps do not grow with the weight: 0.011 at first, then stuck where they pass half of 2^-6.
  for (const MAdam::Config& config : {by_magnitude, capped}) {
    const Outcome d = descend<MAdam>(config, 4, 3);
    CHECK(d.final == 3.109375);
    CHECK(d.changes == 57);
  }
  const Outcome e = descend<test::SignedRho>(m_adam, 4, 3);
  CHECK(e.final == 3.109375);
  CHECK(e.changes == 57);
}

TEST_CASE("golden table: 0 -> 0.5, where multiplicative updates are trapped") {
  const Outcome a = descend<AdamW>(adamw, 0, 0.5), b = descend<Madam>(madam, 0, 0.5),
                c = descend<MAdam>(m_adam, 0, 0.5);
  CHECK(a.final == 0.2578125);
  CHECK(a.changes == 260);
  CHECK(b.final == 0);
  CHECK(b.changes == 0);
  CHECK(c.final == 0.5);
  CHECK(c.changes == 178);
  for (const MAdam::Config& config : {by_magnitude, capped}) {
    const Outcome d = descend<MAdam>(config, 0, 0.5);
    CHECK(d.final == 0.5);
    CHECK(d.changes == 52);
  }
  CHECK(descend<test::SignedRho>(m_adam, 0, 0.5).final == 0.5);
}

TEST_CASE("golden table: 0.5 -> -0.5, where a sign has to change") {
  const Outcome a = descend<AdamW>(adamw, 0.5, -0.5), b = descend<Madam>(madam, 0.5, -0.5),
                c = descend<MAdam>(m_adam, 0.5, -0.5);
  CHECK(a.final == 0.302734375);
  CHECK(a.changes == 101);
  CHECK_FALSE(b.left_sign);
  CHECK(b.final > 0);
  CHECK(b.final < 1e-11);  // exp(-30) / 2 = 5e-14 were n = 1; the gradient halves on the way, so n is below
  CHECK(c.final == -0.4921875);
  CHECK(c.changes == 654);
  for (const MAdam::Config& config : {by_magnitude, capped}) {
    const Outcome d = descend<MAdam>(config, 0.5, -0.5);
    CHECK(d.final == -0.498046875);
    CHECK(d.changes == 280);
  }
  const Outcome e = descend<test::SignedRho>(m_adam, 0.5, -0.5);
  CHECK(e.final == -0.0029296875);
}

TEST_CASE("golden table: negative weights mirror positive ones, but for the signed divisor") {
  CHECK(descend<MAdam>(m_adam, -4, -3).final == -3);
  CHECK(descend<Madam>(madam, -4, -3).final == -3);
  CHECK(descend<AdamW>(adamw, -4, -3).changes == 0);
  CHECK(descend<MAdam>(m_adam, -0.5, 0.5).final == 0.4921875);
  for (const MAdam::Config& config : {by_magnitude, capped}) {
    CHECK(descend<MAdam>(config, -4, -3).final == -3.109375);
    CHECK(descend<MAdam>(config, -0.5, 0.5).final == 0.498046875);
  }
  // Up the slope by 0.009, below half of 2^-5: rounding hides the divergence that double shows.
  const Outcome e = descend<test::SignedRho>(m_adam, -4, -3);
  CHECK(e.final == -4);
  CHECK(e.changes == 0);
}

TEST_CASE("golden table: without rounding every rule but the sign-bound ones arrives") {
  // AdamW within its learning rate, which is not annealed.
  CHECK(std::fabs(descend<AdamW>(adamw, 4, 3, "fp64").final - 3) < 1e-3);
  CHECK(std::fabs(descend<AdamW>(adamw, 0, 0.5, "fp64").final - 0.5) < 1e-3);
  CHECK(std::fabs(descend<AdamW>(adamw, 0.5, -0.5, "fp64").final + 0.5) < 1e-3);
  for (const MAdam::Config& config : {m_adam, by_magnitude, capped})
    for (const auto& [start, target] :
         {std::pair{4.0, 3.0}, {-4.0, -3.0}, {0.0, 0.5}, {0.5, -0.5}, {-0.5, 0.5}})
      CHECK(std::fabs(descend<MAdam>(config, start, target, "fp64").final - target) < 1e-9);
  CHECK(std::fabs(descend<Madam>(madam, 4, 3, "fp64").final - 3) < 1e-9);
  CHECK(descend<Madam>(madam, 0, 0.5, "fp64").final == 0);
  const Outcome b = descend<Madam>(madam, 0.5, -0.5, "fp64");
  CHECK_FALSE(b.left_sign);
  CHECK(b.final < 1e-11);
  CHECK(std::fabs(descend<test::SignedRho>(m_adam, -4, -3, "fp64").final + 50.7) < 0.05);
  CHECK(std::fabs(descend<test::SignedRho>(m_adam, -0.5, 0.5, "fp64").final + 48.9) < 0.05);
}

}  // namespace
}  // namespace halfulp
