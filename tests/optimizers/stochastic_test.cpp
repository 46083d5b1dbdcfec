// Stochastic rounding through a whole step.
#include <doctest/doctest.h>

#include "tests/optimizers/additive_rule.h"

namespace halfulp {
namespace {

SlotPlan bf16_weights(Rounding rounding) {
  SlotPlan plan = weight_slot(unscaled(bf16));
  plan.rounding = rounding;
  return plan;
}

/// 1 + 1000 * 0.001, on `count` weights with bits of their own.
std::vector<double> thousand_additions(Rounding rounding, std::size_t count) {
  test::Stored<double> w(bf16_weights(rounding), {count}, std::vector<double>(count, 1.0));
  NoProbe probe;
  const std::array<std::vector<double>, 1> increment{std::vector<double>(count, 0.001)};
  for (std::uint64_t t = 1; t <= 1000; ++t) w.tensor.step({}, {t, 1.0, 2024}, increment, nullptr, probe);
  return w.values();
}

TEST_CASE("stochastic rounding: a thousand additions of 0.001 to 1 in bf16") {
  CHECK(thousand_additions(nearest_even, 4) == std::vector<double>(4, 1.0));

  // A step moves by the gap 2^-7 with probability 0.001 / 2^-7, so its variance is 0.001 (2^-7 - 0.001); a
  // sum of 1000 has sigma = 0.0825 (a little more beyond 2, where the gap doubles). Sixteen random bits make
  // the probability wrong by at most 2^-17, the mean of the sum by 1000 * 2^-17 * 2^-6 = 1.2e-4.
  constexpr std::size_t count = 4096;
  const std::vector<double> values = thousand_additions(stochastic, count);
  double mean = 0, square = 0;
  for (const double v : values) mean += v / count;
  for (const double v : values) square += (v - mean) * (v - mean) / count;
  const double sigma = std::sqrt(1000 * 0.001 * (0x1p-7 - 0.001));
  CHECK(std::fabs(mean - 2) < 4 * sigma / std::sqrt(double{count}) + 1.2e-4);
  // No weight can have more variance than if every gap were 2^-6.
  CHECK(square > sigma * sigma * (1 - 4 * std::sqrt(2.0 / count)));
  CHECK(square < 1000 * 0.001 * (0x1p-6 - 0.001));
}

TEST_CASE("stochastic rounding: the share that moves is the update over the gap") {
  // bf16 at 1: up 2^-7 away, down 2^-8 away. Binomial, 4 sigma, and 2^-17 from the sixteen bits.
  constexpr std::size_t count = 20000;
  for (const double update : {0.001, -0.0006, 0.004, -0.003}) {
    test::Stored<double> w(bf16_weights(stochastic), {count}, std::vector<double>(count, 1.0));
    NoProbe probe;
    w.tensor.step({}, {1, 1.0, 5}, {std::vector<double>(count, update)}, nullptr, probe);
    const double gap = update > 0 ? 0x1p-7 : 0x1p-8, p = std::fabs(update) / gap;
    double moved = 0;
    for (const double v : w.values()) {
      CHECK((v == 1 || v == (update > 0 ? 1 + gap : 1 - gap)));
      moved += v != 1;
    }
    CHECK(std::fabs(moved / count - p) < 4 * std::sqrt(p * (1 - p) / count) + 0x1p-17);
  }
}

TEST_CASE("stochastic rounding: each slot and each step draws bits of its own") {
  // The same number in every element, two steps: the patterns of moved elements differ.
  constexpr std::size_t count = 512;
  std::vector<std::vector<double>> patterns;
  for (const std::uint64_t step : {1u, 2u}) {
    test::Stored<double> w(bf16_weights(stochastic), {count}, std::vector<double>(count, 1.0));
    NoProbe probe;
    w.tensor.step({}, {step, 1.0, 5}, {std::vector<double>(count, 0x1p-8)}, nullptr, probe);
    patterns.push_back(w.values());
  }
  CHECK(patterns[0] != patterns[1]);
}

}  // namespace
}  // namespace halfulp
