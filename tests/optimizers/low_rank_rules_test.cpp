// APOLLO, APOLLO-Mini and Apollo-E against an independent derivation of the same equations, to the last bit.
#include <doctest/doctest.h>

#include <cstring>

#include "formats/spec.h"
#include "optimizers/apollo.h"
#include "optimizers/m_adam_apollo_e.h"
#include "optimizers/step.h"
#include "tests/optimizers/additive_rule.h"
#include "tests/optimizers/gradients.h"
#include "tests/reference/apollo_reference.h"
#include "tests/reference/m_adam_apollo_e_reference.h"

namespace halfulp {
namespace {

using test::same_bits;
using Shape = std::vector<std::size_t>;

// Wide, tall, square, three axes, single lines, vectors, and channels of more numbers than a sum has lanes.
const std::vector<Shape> shapes{{6, 10}, {10, 6}, {7, 7}, {2, 3, 5}, {1, 9}, {9, 1}, {13}, {1}, {40, 37}};

template <class R>
auto reference_of(const Apollo::Config& c, const Shape& shape) {
  return reference::ApolloReference<R>(
      {c.eta, c.scale, c.beta1, c.beta2, c.eps, std::size_t(c.rank), std::uint64_t(c.projection_gap),
       c.scale_type == ScaleType::tensor, c.limiter == NormLimiter::on,
       c.scale_front == Apollo::ScaleFront::yes},
      shape);
}
template <class R>
auto reference_of(const MAdamApolloE::Config& c, const Shape& shape) {
  return reference::MAdamApolloEReference<R>(
      {c.eta_a, c.eta_m, c.beta1, c.beta2, c.eps, c.g_bound, std::size_t(c.rank),
       std::uint64_t(c.projection_gap), c.low_rank == MAdamApolloE::LowRank::factored,
       c.scale_type == ScaleType::tensor, c.limiter == MAdamApolloE::Limiter::on},
      shape);
}

template <class R>
struct Case {
  Shape shape;
  std::string scheme;
  R (*round)(R);
  std::vector<std::vector<R>> gradients;  ///< of each step
};

/// The first step at which an update, the weights or a low-rank state differs; 0 if none.
template <class Rule, class R>
std::uint64_t first_difference(const typename Rule::Config& config, const Case<R>& c) {
  const TensorInfo info{"w", 3, c.shape, 0};
  constexpr std::uint64_t seed = 77;
  std::vector<double> start(info.size());
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = i % 5 == 4 ? 0.0 : test::log_spread(9, 0, i, 10);
  OptimizedTensor<Rule, R> tensor(info, parse_scheme(c.scheme).of(info), start, config);
  auto expected = reference_of<R>(config, c.shape);
  std::vector<R> w(info.size());
  tensor.weight(0).load(0, std::span(w));
  for (std::uint64_t t = 1; t <= c.gradients.size(); ++t) {
    const double schedule = 1.0 / static_cast<double>(1 + t / 50);
    const StepInfo now{t, schedule, seed};
    std::vector<R> u = expected.increments(schedule, seed, 3, w, c.gradients[t - 1], c.round);
    const R decay(Rule::decay(config, now));
    for (std::size_t i = 0; i < u.size(); ++i)
      if (decay != R(0)) u[i] = u[i] - decay * w[i];
    test::Recorder<R> seen;
    tensor.step(config, now, {c.gradients[t - 1]}, nullptr, seen);
    for (const auto& tile : seen.tiles)
      for (std::size_t i = 0; i < tile.update.size(); ++i)
        if (!same_bits(tile.update[i], u[tile.first + i])) return t;
    tensor.weight(0).load(0, std::span(w));
    std::vector<std::vector<R>> stored;
    tensor.for_each_slot([&](const Slot<R>& slot) {
      stored.emplace_back(slot.size());
      slot.load(0, std::span(stored.back()));
    });
    const auto states = expected.auxiliary();
    stored.erase(stored.begin(), stored.end() - static_cast<std::ptrdiff_t>(states.size()));
    for (std::size_t k = 0; k < states.size(); ++k) {
      REQUIRE(stored[k].size() == states[k].size());
      for (std::size_t i = 0; i < states[k].size(); ++i)
        if (!same_bits(stored[k][i], states[k][i])) return t;
    }
  }
  return 0;
}

template <class R>
R as_it_is(R x) {
  return x;
}
/// The nearest bf16 of a float well inside its range, ties to even: the carry of the rounding runs through
/// the bits.
float to_bf16(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

template <class R>
std::vector<std::vector<R>> random_gradients(const Shape& shape, std::size_t steps) {
  std::size_t size = 1;
  for (const std::size_t extent : shape) size *= extent;
  std::vector<std::vector<R>> gradients(steps, std::vector<R>(size));
  for (std::size_t t = 0; t < steps; ++t)
    for (std::size_t i = 0; i < size; ++i)
      gradients[t][i] = static_cast<R>(test::log_spread(21, static_cast<std::uint32_t>(t), i, 12));
  return gradients;
}

/// Every mode with the others at their defaults, and some together.
std::vector<Apollo::Config> configs_of(const Apollo&) {
  Apollo::Config base;
  base.rank = 4;
  base.projection_gap = 30;
  std::vector<Apollo::Config> configs(6, base);
  configs[1].scale_type = ScaleType::tensor;
  configs[2].limiter = NormLimiter::off;
  configs[3].scale_front = Apollo::ScaleFront::yes, configs[3].scale = 3;
  configs[4].scale = 3, configs[4].weight_decay = 0.1;
  configs[5].rank = 50;
  return configs;
}
std::vector<ApolloMini::Config> configs_of(const ApolloMini&) { return {{}}; }
std::vector<MAdamApolloE::Config> configs_of(const MAdamApolloE&) {
  MAdamApolloE::Config base;
  base.projection_gap = 30;
  std::vector<MAdamApolloE::Config> configs(6, base);
  configs[1].scale_type = ScaleType::tensor;
  configs[2].limiter = MAdamApolloE::Limiter::on;
  configs[3].low_rank = MAdamApolloE::LowRank::factored;
  configs[4] = configs[3];
  configs[4].limiter = MAdamApolloE::Limiter::on, configs[4].weight_decay = 0.1;
  configs[5].rank = 50;
  return configs;
}

template <class Rule, class R>
void compare(const char* scheme, R (*round)(R), const std::vector<Shape>& of_shapes) {
  std::size_t number = 0;
  for (const auto& config : configs_of(Rule{})) {
    CAPTURE(number++);
    for (const Shape& shape : of_shapes) {
      CAPTURE(shape);
      const std::size_t steps = shape == Shape{40, 37} ? 20 : 200;
      CHECK(first_difference<Rule, R>(config, {shape, scheme, round, random_gradients<R>(shape, steps)}) ==
            0);
    }
  }
}

TEST_CASE_TEMPLATE("low rank: 200 steps equal the independent derivation to the last bit", Rule, Apollo,
                   ApolloMini, MAdamApolloE) {
  compare<Rule, double>("fp64", as_it_is<double>, shapes);
  compare<Rule, float>("fp32", as_it_is<float>, shapes);
}

TEST_CASE_TEMPLATE("low rank: states in bf16 are rounded once a step, after the update has used them", Rule,
                   Apollo, ApolloMini, MAdamApolloE) {
  compare<Rule, float>("bf16/bf16", to_bf16, {{6, 10}, {10, 6}, {13}});
  // and without that rounding something is different
  const Shape shape{10, 6};
  CHECK(first_difference<Rule, float>(configs_of(Rule{})[0], {shape, "bf16/bf16", as_it_is<float>,
                                                              random_gradients<float>(shape, 5)}) != 0);
}

TEST_CASE_TEMPLATE("low rank: special gradients give the same bits as the independent derivation", Rule,
                   Apollo, ApolloMini, MAdamApolloE) {
  const auto run = [](auto zero, const char* scheme) {
    using R = decltype(zero);
    for (const auto& config : configs_of(Rule{}))
      for (const Shape& shape : {Shape{3, 5}, Shape{5, 3}, Shape{4}})
        for (const R special : test::special_gradients<R>()) {
          CAPTURE(static_cast<double>(special));
          CAPTURE(shape);
          for (const std::size_t when : {0u, 9u}) {
            auto once = random_gradients<R>(shape, 20);
            once[when][1] = special;
            CHECK(first_difference<Rule, R>(config, {shape, scheme, as_it_is<R>, once}) == 0);
          }
          auto always = random_gradients<R>(shape, 12);
          for (auto& step : always) step.assign(step.size(), special);
          CHECK(first_difference<Rule, R>(config, {shape, scheme, as_it_is<R>, always}) == 0);
        }
  };
  run(0.0, "fp64");
  run(0.0f, "fp32");
}

}  // namespace
}  // namespace halfulp
