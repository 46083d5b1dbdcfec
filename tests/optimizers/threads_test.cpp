// The bytes of every rule under every scheme: the same for any number of threads, and pinned.
#include <doctest/doctest.h>

#include "optimizers/all_rules.h"
#include "optimizers/step.h"
#include "tests/optimizers/golden_hashes.h"
#include "tests/optimizers/gradients.h"

#if defined(__SSE2__)
#  include <xmmintrin.h>
#endif

namespace halfulp {
namespace {

constexpr std::uint64_t fnv_start = 0xcbf29ce484222325u, fnv_prime = 0x100000001b3u;  // FNV-1a, 64 bits

template <class Rule, class R>
std::uint64_t hash_of(const OptimizedTensor<Rule, R>& tensor) {
  std::uint64_t hash = fnv_start;
  const auto sink = [&](const std::uint8_t* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * fnv_prime;
  };
  for (std::size_t slot = 0; slot < Rule::weight_slots.size(); ++slot) tensor.weight(slot).visit_bytes(sink);
  for (std::size_t slot = 0; slot < Rule::state_slots.size(); ++slot) tensor.state(slot).visit_bytes(sink);
  return hash;
}

constexpr std::uint32_t steps = 50;

/// Pseudo-random gradients around a slope, so that weights drift and scales change; LMD's two parts see
/// opposite gradients.
template <class R>
std::vector<R> gradients_at(std::uint32_t step, std::size_t size, std::size_t slot) {
  std::vector<R> g(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double noise = test::log_spread(3, step, i, 8) + (i % 3 == 0 ? 0.25 : -0.125);
    g[i] = static_cast<R>(slot == 0 ? noise : -noise);
  }
  return g;
}

template <class Rule, class R>
std::uint64_t run(const std::string& scheme, Rounding rounding, ThreadPool* pool,
                  const typename Rule::Config& config = {}) {
  const TensorInfo info{"w", 5, {11, 48}, 0};
  TensorPlan plan = parse_scheme(scheme).of(info);
  for (SlotPlan* slot : {&plan.weights, &plan.first_moment, &plan.second_moment}) slot->rounding = rounding;
  std::vector<double> start(info.size());
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = i % 17 == 0 ? 0.0 : test::log_spread(4, 0, i, 6);
  OptimizedTensor<Rule, R> tensor(info, plan, start, config, 42);
  NoProbe probe;
  for (std::uint32_t t = 1; t <= steps; ++t) {
    std::array<std::vector<R>, Rule::weight_slots.size()> gradients;
    for (std::size_t slot = 0; slot < gradients.size(); ++slot)
      gradients[slot] = gradients_at<R>(t, info.size(), slot);
    tensor.step(config, {t, 1.0, 42}, gradients, pool, probe);
  }
  return hash_of(tensor);
}

const std::vector<std::string> schemes{"fp64",     "fp32",    "bf16/fp32", "bf16/bf16",
                                       "bf16/fp8", "fp8/fp8", "nvfp4/fp8", "mxfp4_rceil/fp8"};

/// fp64 is the double twin; every other scheme is computed in float, as training is.
template <class Rule>
std::uint64_t run_scheme(const std::string& scheme, Rounding rounding, ThreadPool* pool) {
  return scheme == "fp64" ? run<Rule, double>(scheme, rounding, pool)
                          : run<Rule, float>(scheme, rounding, pool);
}

TEST_CASE_TEMPLATE("threads: the bytes are the same with no pool and with 1, 2 or 3 threads, and pinned",
                   Rule, AdamW, Madam, Lmd, MAdam, Sgd, Adam, IntegerMadam, LnsMadam, MAdamWorkshop) {
  ThreadPool one(1), two(2), three(3);
  const auto& expected = test::golden_hashes.at(std::string(Rule::name));
  REQUIRE(expected.size() == schemes.size());
  for (std::size_t s = 0; s < schemes.size(); ++s)
    for (const Rounding rounding : {nearest_even, stochastic}) {
      CAPTURE(Rule::name);
      CAPTURE(schemes[s]);
      CAPTURE(to_string(rounding));
      const std::uint64_t alone = run_scheme<Rule>(schemes[s], rounding, nullptr);
      CHECK(alone == expected[s][rounding == stochastic]);
      for (ThreadPool* pool : {&one, &two, &three})
        CHECK(run_scheme<Rule>(schemes[s], rounding, pool) == alone);
    }
}

/// Calls see(name, rule, config) for the modes of the rules that change a step.
template <class See>
void for_each_mode(See&& see) {
  see("sgd nesterov", Sgd{}, Sgd::Config{.dampening = 0.5, .momentum = Sgd::Momentum::nesterov});
  see("sgd coupled", Sgd{}, Sgd::Config{.weight_decay = 0.1, .decay = Sgd::Decay::coupled});
  see("adam with decay", Adam{}, Adam::Config{.weight_decay = 0.1});
  see("integer_madam nearest", IntegerMadam{},
      IntegerMadam::Config{.initial_k = IntegerMadam::InitialK::nearest});
  see("lns_madam natural_base", LnsMadam{}, LnsMadam::Config{.weight_decay = 0.1});
  see("lns_madam same_base", LnsMadam{},
      LnsMadam::Config{.weight_decay = 0.1, .decay_base = LnsMadam::DecayBase::same_base});
  see("m_adam exp2", MAdam{}, MAdam::Config{.mult_mode = MAdam::MultMode::exp2, .exponent_decay = 0.1});
  see("m_adam rho_unsigned", MAdam{},
      MAdam::Config{.mult_mode = MAdam::MultMode::rho_unsigned, .p_scale = 3});
  see("m_adam log1p_capped", MAdam{},
      MAdam::Config{.mult_mode = MAdam::MultMode::log1p_capped,
                    .eps_placement = MAdam::EpsPlacement::floor,
                    .tau_relative = 1e-6,
                    .g_e_bound = 1e19});
  see("lmd seed", Lmd{}, Lmd::Config{.exponent = Lmd::Exponent::seed});
  see("lmd kl", Lmd{}, Lmd::Config{.regulariser = Lmd::Regulariser::kl});
  see("lmd lie_group", Lmd{}, Lmd::Config{.regulariser = Lmd::Regulariser::lie_group, .temperature = 0.006});
  see("lmd two_inits", Lmd{}, Lmd::Config{.initial = Lmd::Initial::two_inits});
}

TEST_CASE("threads: so are the bytes of every mode") {
  ThreadPool two(2);
  for_each_mode([&]<class Rule>(const char* name, Rule, const auto& config) {
    for (const Rounding rounding : {nearest_even, stochastic}) {
      CAPTURE(std::string(name));
      CAPTURE(to_string(rounding));
      const std::uint64_t alone = run<Rule, float>("bf16/bf16", rounding, nullptr, config);
      CHECK(alone == test::golden_mode_hashes.at(name)[rounding == stochastic]);
      CHECK(run<Rule, float>("bf16/bf16", rounding, &two, config) == alone);
    }
  });
}

TEST_CASE("threads: stochastic rounding and nearest rounding differ, and so do two seeds") {
  const TensorInfo info{"w", 0, {256}, 0};
  TensorPlan plan = parse_scheme("bf16/fp32").of(info);
  plan.weights.rounding = stochastic;
  std::vector<std::uint64_t> hashes;
  for (const std::uint64_t seed : {1u, 1u, 2u}) {
    OptimizedTensor<AdamW, float> tensor(info, plan, std::vector<double>(256, 1.0));
    NoProbe probe;
    tensor.step({}, {1, 1.0, seed}, {std::vector<float>(256, 1.0f)}, nullptr, probe);
    hashes.push_back(hash_of(tensor));
  }
  CHECK(hashes[0] == hashes[1]);
  CHECK(hashes[0] != hashes[2]);
}

#if defined(__SSE2__)
TEST_CASE("threads: the host program's flush-to-zero and rounding mode change nothing") {
  // MXCSR: 0x8040 flushes subnormal results and inputs, 0x6000 rounds toward zero.
  const auto tiny_run = [](ThreadPool* pool) {
    const TensorInfo info{"w", 0, {64}, 0};
    OptimizedTensor<AdamW, float> tensor(info, parse_scheme("fp32").of(info), std::vector<double>(64, 0.3));
    NoProbe probe;
    for (std::uint64_t t = 1; t <= 5; ++t)  // v is about 1e-43: a subnormal float
      tensor.step({}, {t, 1.0, 1}, {std::vector<float>(64, 1e-20f)}, pool, probe);
    return hash_of(tensor);
  };
  ThreadPool two(2);
  const std::uint64_t expected = tiny_run(nullptr);
  for (const unsigned mode : {0x8040u, 0x6000u}) {
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | mode);
    const std::uint64_t alone = tiny_run(nullptr), pooled = tiny_run(&two);
    _mm_setcsr(saved);
    CHECK(pooled == expected);
    CHECK(alone == expected);
  }
}
#endif

}  // namespace
}  // namespace halfulp
