// Low-rank rules through a step: threads, plans, pinned bytes, and that they learn.
#include <doctest/doctest.h>

#include <map>

#include "optimizers/apollo.h"
#include "optimizers/m_adam.h"
#include "optimizers/m_adam_apollo_e.h"
#include "optimizers/step.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

/// FNV-1a, 64 bits, of everything that is stored.
template <class Rule, class R>
std::uint64_t hash_of(const OptimizedTensor<Rule, R>& tensor) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  tensor.for_each_slot([&](const Slot<R>& slot) {
    slot.visit_bytes([&](const std::uint8_t* data, std::size_t size) {
      for (std::size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 0x100000001b3u;
    });
  });
  return hash;
}

/// Defaults but for a rank and a gap that 50 steps of a 11 x 48 matrix can show.
template <class Rule>
typename Rule::Config small_config() {
  typename Rule::Config config;
  config.rank = std::min(config.rank, 4);
  config.projection_gap = 20;
  return config;
}

template <class Rule, class R>
std::uint64_t run(const std::string& scheme, Rounding rounding, ThreadPool* pool, std::uint64_t seed = 42) {
  const TensorInfo info{"w", 5, {11, 48}, 0};
  TensorPlan plan = parse_scheme(scheme).of(info);
  for (SlotPlan* slot : {&plan.weights, &plan.first_moment, &plan.second_moment}) slot->rounding = rounding;
  std::vector<double> start(info.size());
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = i % 17 == 0 ? 0.0 : test::log_spread(4, 0, i, 6);
  const auto config = small_config<Rule>();
  OptimizedTensor<Rule, R> tensor(info, plan, start, config);
  NoProbe probe;
  for (std::uint32_t t = 1; t <= 50; ++t) {
    std::vector<R> g(info.size());
    for (std::size_t i = 0; i < g.size(); ++i)
      g[i] = static_cast<R>(test::log_spread(3, t, i, 8) + (i % 3 == 0 ? 0.25 : -0.125));
    tensor.step(config, {t, 1.0, seed}, {g}, pool, probe);
  }
  return hash_of(tensor);
}

template <class Rule>
std::uint64_t run_scheme(const std::string& scheme, Rounding rounding, ThreadPool* pool) {
  return scheme == "fp64" ? run<Rule, double>(scheme, rounding, pool)
                          : run<Rule, float>(scheme, rounding, pool);
}

const std::vector<std::string> schemes{"fp64", "fp32", "bf16/bf16", "bf16/fp8", "nvfp4/fp8"};

/// Of each scheme, under nearest_even and under stochastic rounding.
const std::map<std::string_view, std::vector<std::array<std::uint64_t, 2>>> golden_hashes{
    {"apollo",
     {{0x5393830fa2d1b72du, 0x5393830fa2d1b72du},
      {0x4bb272e59c01aaf8u, 0x4bb272e59c01aaf8u},
      {0x42e3ec8b513457b6u, 0xd58cae0ba4ce8beeu},
      {0x5ef857fece7c0d6fu, 0xc40fc1368eaa5a10u},
      {0x85306427063b8b7eu, 0xa653d3dbe800e965u}}},
    {"apollo_mini",
     {{0xf7a55348deee3d61u, 0xf7a55348deee3d61u},
      {0x3851de8a3dbf18fau, 0x3851de8a3dbf18fau},
      {0x6d118e5f57980b55u, 0x5beecebd2ac98208u},
      {0x21c80b35719b6e36u, 0x793e440241848f28u},
      {0xc1d610ccbedee061u, 0xcdad47a6956fb6c3u}}},
    {"m_adam_apollo_e",
     {{0xbb8947563df974b7u, 0xbb8947563df974b7u},
      {0x93b9c899f7e9cdb5u, 0x93b9c899f7e9cdb5u},
      {0x4fe310a6124225f7u, 0x248ad328c43f145au},
      {0xed7d4de540324ff3u, 0xc824fc8f91574306u},
      {0x5ceb8df1166332d4u, 0x278b1030b553533bu}}},
};

TEST_CASE_TEMPLATE("low rank: the bytes are the same with no pool and with 1 or 2 threads, and pinned", Rule,
                   Apollo, ApolloMini, MAdamApolloE) {
  ThreadPool one(1), two(2);
  for (std::size_t s = 0; s < schemes.size(); ++s)
    for (const Rounding rounding : {nearest_even, stochastic}) {
      CAPTURE(Rule::name);
      CAPTURE(schemes[s]);
      CAPTURE(to_string(rounding));
      const std::uint64_t alone = run_scheme<Rule>(schemes[s], rounding, nullptr);
      CHECK(alone == golden_hashes.at(Rule::name)[s][rounding == stochastic]);
      for (ThreadPool* pool : {&one, &two}) CHECK(run_scheme<Rule>(schemes[s], rounding, pool) == alone);
    }
}

TEST_CASE_TEMPLATE("low rank: another seed projects otherwise, though nothing rounds at random", Rule, Apollo,
                   ApolloMini, MAdamApolloE) {
  CHECK(run<Rule, double>("fp64", nearest_even, nullptr, 1) !=
        run<Rule, double>("fp64", nearest_even, nullptr, 2));
}

TEST_CASE_TEMPLATE("m+adam apollo-e: a vector moves exactly as under M+Adam", R, double, float) {
  const TensorInfo info{"bias", 0, {37}, 0};
  const TensorPlan plan = parse_scheme(sizeof(R) == 8 ? "fp64" : "bf16/bf16").of(info);
  std::vector<double> start(info.size());
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = test::log_spread(4, 0, i, 6);
  OptimizedTensor<MAdamApolloE, R> low_rank(info, plan, start);
  OptimizedTensor<MAdam, R> full(info, plan, start);
  NoProbe probe;
  for (std::uint32_t t = 1; t <= 100; ++t) {
    std::vector<R> g(info.size());
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<R>(test::log_spread(3, t, i, 8));
    low_rank.step({}, {t, 1.0, 1}, {g}, nullptr, probe);
    full.step({}, {t, 1.0, 1}, {g}, nullptr, probe);
    CHECK(hash_of(low_rank) == hash_of(full));
  }
}

/// |A W - B|^2 / 2 with W [12, 8], before and after 300 steps.
template <class Rule>
std::pair<double, double> learn(const typename Rule::Config& config) {
  constexpr std::size_t n = 20, rows = 12, columns = 8;
  const TensorInfo info{"w", 0, {rows, columns}, 0};
  std::vector<double> a(n * rows), b(n * columns), start(rows * columns), w = start;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = test::uniform(1, 0, i);
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = test::uniform(2, 0, i);
  std::vector<double> target(start.size());
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = test::uniform(3, 0, i);
  matmul(a.data(), target.data(), b.data(), n, rows, columns);
  OptimizedTensor<Rule, double> tensor(info, parse_scheme("fp64").of(info), start, config);
  std::pair<double, double> losses;
  NoProbe probe;
  for (std::uint64_t t = 0; t <= 300; ++t) {
    tensor.weight(0).load(0, std::span(w));
    std::vector<double> residual(n * columns), transposed(a.size()), g(w.size());
    matmul(a.data(), w.data(), residual.data(), n, rows, columns);
    for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= b[i];
    (t == 0 ? losses.first : losses.second) = sum_of_squares(std::span<const double>(residual)) / 2;
    transpose(a.data(), transposed.data(), n, rows);
    matmul(transposed.data(), residual.data(), g.data(), rows, n, columns);
    tensor.step(config, {t + 1, 1.0, 1}, {g}, nullptr, probe);
  }
  return losses;
}

TEST_CASE_TEMPLATE("low rank: a least-squares matrix is learned", Rule, Apollo, ApolloMini, MAdamApolloE) {
  auto config = small_config<Rule>();
  if constexpr (std::is_same_v<Rule, MAdamApolloE>) config.eta_a = 1e-2;
  if constexpr (std::is_same_v<Rule, ApolloMini>)
    config.scale = 8;  // the shorter side: see what scale is for
  const auto [before, after] = learn<Rule>(config);
  CHECK(before > 10);
  CHECK(after < before / 50);
}

}  // namespace
}  // namespace halfulp
