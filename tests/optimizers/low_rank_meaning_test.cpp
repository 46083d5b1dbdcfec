// What low-rank rules mean: by hand, on one step of one matrix.
#include <doctest/doctest.h>

#include "optimizers/apollo.h"
#include "optimizers/m_adam.h"
#include "optimizers/m_adam_apollo_e.h"
#include "optimizers/step.h"
#include "tests/optimizers/additive_rule.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

/// Everything a step shows of one matrix.
template <class Rule>
typename test::Recorder<double>::Seen one_step(const typename Rule::Config& config,
                                               std::vector<std::size_t> shape, const std::vector<double>& w,
                                               const std::vector<double>& g) {
  const TensorInfo info{"w", 0, std::move(shape), 0};
  OptimizedTensor<Rule, double> tensor(info, parse_scheme("fp64").of(info), w, config);
  test::Recorder<double> seen;
  tensor.step(config, {1, 1.0, 1}, {g}, nullptr, seen);
  return seen.tiles.at(0);
}

TEST_CASE("apollo: within a channel an update is proportional to the gradient, and about eta long") {
  Apollo::Config config;
  config.rank = 4;
  const std::size_t rows = 4, columns = 30;
  std::vector<double> w(rows * columns, 1.0), g(rows * columns);
  for (std::size_t i = 0; i < g.size(); ++i) g[i] = test::log_spread(1, 1, i, 20);
  const auto seen = one_step<Apollo>(config, {rows, columns}, w, g);
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t at = i * columns + j;
      // u = -(eta_t (s g)): two roundings here, two there, and one of each quotient.
      CHECK(std::fabs(seen.update[at] / g[at] / (seen.update[j] / g[j]) - 1) < 8 * 0x1p-53);
      CHECK(seen.update[at] * g[at] < 0);
    }
  // M / sqrt(V) is +-(1 - beta1) / sqrt(1 - beta2) in the first step, which eta_t makes +-1: |H~_j| =
  // sqrt(rank), so the update of a channel has the norm eta sqrt(rank) |G_j| / |H_j|; |H_j| is |G_j| on
  // average.
  double ratio = 0;
  for (std::size_t j = 0; j < columns; ++j) {
    double square = 0;
    for (std::size_t i = 0; i < rows; ++i)
      square += seen.update[i * columns + j] * seen.update[i * columns + j];
    ratio += std::sqrt(square) / (config.eta * 2) / static_cast<double>(columns);
  }
  CHECK(ratio > 0.5);
  CHECK(ratio < 2);
}

TEST_CASE("m+adam apollo-e: within a channel n is proportional to w g, whatever the size of w") {
  // u = w (-eta_m n) without the additive branch, so n = -u / (eta_m w); n = s_j ln2 w g has three roundings,
  // u two more.
  MAdamApolloE::Config config;
  config.eta_a = 0;
  config.g_bound = 1e300;
  for (const std::size_t rows : {5u, 30u}) {
    const std::size_t columns = 35 - rows;
    std::vector<double> w(rows * columns), g(w.size());
    for (std::size_t i = 0; i < w.size(); ++i)
      w[i] = test::log_spread(1, 1, i, 20), g[i] = test::log_spread(2, 1, i, 3);
    const auto seen = one_step<MAdamApolloE>(config, {rows, columns}, w, g);
    const auto slope = [&](std::size_t at) { return seen.update[at] / (w[at] * w[at] * g[at]); };
    std::vector<double> slopes;
    for (std::size_t channel = 0; channel < 30; ++channel) {
      const auto at = [&](std::size_t k) {
        return rows > columns ? channel * columns + k : k * columns + channel;
      };
      for (std::size_t k = 0; k < 5; ++k) CHECK(std::fabs(slope(at(k)) / slope(at(0)) - 1) < 20 * 0x1p-53);
      slopes.push_back(slope(at(0)));
      CHECK(slopes.back() < 0);
    }
    // and channels have factors of their own
    for (std::size_t channel = 1; channel < 30; ++channel) CHECK(slopes[channel] != slopes[0]);
  }
}

TEST_CASE("m+adam apollo-e: M+Adam takes steps of one relative size where this one's vanish with |w|") {
  MAdamApolloE::Config config;
  config.eta_a = 0;
  MAdam::Config full;
  full.eta_a = 0;
  std::vector<double> w(60), g(60, 1.0);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = std::ldexp(1.0, -static_cast<int>(i % 6) * 2);
  const auto low_rank = one_step<MAdamApolloE>(config, {10, 6}, w, g),
             every = one_step<MAdam>(full, {10, 6}, w, g);
  for (std::size_t i = 0; i < w.size(); ++i)
    CHECK(std::fabs(every.update[i] / w[i] / -full.eta_m - 1) < 1e-4);
  for (std::size_t row = 0; row < 10; ++row)
    for (std::size_t k = 1; k < 6; ++k) {
      const std::size_t at = 6 * row + k;
      const double relative = low_rank.update[at] / w[at], before = low_rank.update[at - 1] / w[at - 1];
      if (std::fabs(before) < 2.9 * config.eta_m)  // not bounded
        CHECK(std::fabs(relative / before - 0.25) < 1e-12);
    }
}

TEST_CASE("m+adam apollo-e: factored is exact where squares are a product of a row and a column") {
  // g_e^2 = x_i^2 y_j^2 at every step: v_e is it exactly, so n = +-1 but for eps.
  MAdamApolloE::Config config;
  config.eta_a = 0;
  config.low_rank = MAdamApolloE::LowRank::factored;
  std::vector<double> w(6 * 4, 0.5), g(w.size());
  for (std::size_t i = 0; i < g.size(); ++i)
    g[i] =
        (1 + static_cast<double>(i / 4)) * std::ldexp(1.0, static_cast<int>(i % 4)) * (i % 3 == 0 ? -1 : 1);
  const auto seen = one_step<MAdamApolloE>(config, {6, 4}, w, g);
  for (std::size_t i = 0; i < g.size(); ++i)
    CHECK(std::fabs(seen.update[i] / (0.5 * config.eta_m) - (i % 3 == 0 ? 1 : -1)) < 1e-6);
}

}  // namespace
}  // namespace halfulp
