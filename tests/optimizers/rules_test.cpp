// Every rule and every mode of it against an independent derivation of the same equations, bit for bit in double, in
// float and in quadruple precision.
#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <set>

#include "optimizers/step.h"
#include "tests/optimizers/gradients.h"
#include "tests/optimizers/rule_cases.h"

namespace halfulp {
namespace {

using test::case_constants;
using test::case_random;
using test::same_bits;
using Quad = boost::multiprecision::cpp_bin_float_quad;

template <class R, std::size_t count>
std::array<R, count> in(const std::array<double, count>& numbers) {
  std::array<R, count> out;
  for (std::size_t i = 0; i < count; ++i) out[i] = R(numbers[i]);
  return out;
}

/// Runs rule and reference side by side on one weight, from the slots w; returns the first step at which a bit
/// differs, 0 if none.
template <class Rule, class Reference, class R, std::size_t slots>
std::uint64_t first_difference(const typename Rule::Config& config, Reference reference,
                               std::array<R, slots> w, const std::vector<R>& derivatives) {
  std::array<R, slots> twin = w;
  auto state = in<R>(initial_state_of<Rule>(config, static_cast<double>(w[0]), case_constants, case_random));
  for (std::uint64_t t = 1; t <= derivatives.size(); ++t) {
    const double schedule = 1.0 / static_cast<double>(1 + t / 50);
    const StepInfo now{t, schedule, 0, schedule / 3};
    const auto c = Rule::template scalars<R>(config, case_constants, now);
    std::array<R, slots> z, e;
    const R shared = R(2 * test::uniform(900, static_cast<std::uint32_t>(t), 99));
    for (std::size_t part = 0; part < slots; ++part) {
      z[part] = R(3 * test::uniform(900, static_cast<std::uint32_t>(t), part));
      e[part] = Rule::samples(config) > 0 ? Rule::noise(c, z[part], shared) : R(1);
    }
    const R d = derivatives[t - 1];
    if (!same_bits(Rule::view(c, w, e), reference.view(twin, z, shared))) return t;
    const std::array<R, slots> g = Rule::pull_back(c, w, e, d),
                               expected_g = reference.gradients(twin, z, shared, d);
    std::array<R, slots> u = update_of<Rule>(c, w, g, state);
    const R decay = R(Rule::decay(config, now));
    const std::array<R, slots> expected = reference.increments({schedule, schedule / 3}, twin, expected_g);
    for (std::size_t part = 0; part < slots; ++part) {
      if (decay != R(0)) u[part] = u[part] - decay * w[part];
      if (!same_bits(g[part], expected_g[part]) || !same_bits(u[part], expected[part])) return t;
    }
    const auto states = reference.states();
    for (std::size_t slot = 0; slot < state.size(); ++slot)
      if (!same_bits(state[slot], states[slot])) return t;
    for (std::size_t part = 0; part < slots; ++part) {
      w[part] += u[part];
      twin[part] += expected[part];
    }
  }
  return 0;
}

template <class R>
std::vector<R> random_gradients(std::uint64_t seed) {
  std::vector<R> gradients;
  for (std::uint32_t t = 0; t < 200; ++t) gradients.push_back(R(test::log_spread(seed, t, 0, 30)));
  return gradients;
}

TEST_CASE_TEMPLATE("rules: 200 steps equal the independent derivation to the last bit", R, double, float) {
  test::for_each_case<R>([]<class Rule>(const char* name, Rule, const auto& config, const auto& reference) {
    CAPTURE(std::string(name));
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
      for (const double w : {1.0, -0.3, 0.0, 1e-6, -1.4999}) {
        const auto start = in<R>(Rule::initialize(config, w, case_constants, case_random));
        CHECK(first_difference<Rule>(config, reference, start, random_gradients<R>(seed)) == 0);
      }
  });
}

TEST_CASE_TEMPLATE("rules: special gradients give the same bits as the independent derivation", R, double,
                   float) {
  test::for_each_case<R>([]<class Rule>(const char* name, Rule, const auto& config, const auto& reference) {
    CAPTURE(std::string(name));
    for (const R special : test::special_gradients<R>())
      for (const R w : {R(1), R(-0.3), R(0), -R(0), std::numeric_limits<R>::denorm_min(), R(1e30),
                        std::numeric_limits<R>::infinity(), std::numeric_limits<R>::quiet_NaN()}) {
        const auto start =
            in<R>(Rule::initialize(config, static_cast<double>(w), case_constants, case_random));
        auto all_alike = start;
        all_alike.fill(w);
        for (const std::size_t when : {0u, 1u, 40u}) {
          std::vector<R> once = random_gradients<R>(7);
          once[when] = special;
          CAPTURE(static_cast<double>(special));
          CAPTURE(static_cast<double>(w));
          CHECK(first_difference<Rule>(config, reference, start, once) == 0);
          CHECK(first_difference<Rule>(config, reference, all_alike, once) == 0);
        }
        CHECK(first_difference<Rule>(config, reference, start, std::vector<R>(30, special)) == 0);
      }
  });
}

TEST_CASE("rules: quadruple precision equals the independent derivation") {
  test::for_each_case<Quad>(
      []<class Rule>(const char* name, Rule, const auto& config, const auto& reference) {
        CAPTURE(std::string(name));
        for (const double w : {1.0, -0.3}) {
          const auto start = in<Quad>(Rule::initialize(config, w, case_constants, case_random));
          CHECK(first_difference<Rule>(config, reference, start, random_gradients<Quad>(3)) == 0);
        }
      });
}

/// "rule: key mode" of the modes that a config has, or of all that its rule has.
struct ModesOf {
  std::string rule;
  bool all;
  std::set<std::string>& modes;

  template <class Number>
  void operator()(const char*, Number, Number, Number) const {}
  template <class Mode, std::size_t n>
  void operator()(const char* key, Mode mode, const std::array<std::string_view, n>& names) const {
    for (std::size_t i = 0; i < n; ++i)
      if (all || i == static_cast<std::size_t>(mode))
        modes.insert(rule + ": " + key + " " + std::string(names[i]));
  }
};

TEST_CASE("rules: every rule and every mode has a case") {
  std::set<std::string> with_a_case, existing;
  test::for_each_case<double>([&]<class Rule>(const char*, Rule, const auto& config, const auto&) {
    with_a_case.insert(std::string(Rule::name));
    Rule::settings(config, ModesOf{std::string(Rule::name), false, with_a_case});
  });
  std::apply(
      [&](auto... rule) {
        const auto add = [&]<class Rule>(Rule) {
          if (LowRankRule<Rule>) return;  // no rule of one element: tested on tensors
          existing.insert(std::string(Rule::name));
          const typename Rule::Config config;
          Rule::settings(config, ModesOf{std::string(Rule::name), true, existing});
        };
        (add(rule), ...);
      },
      AllRules{});
  // How a tensor starts and what scales its whole view, in rules_start_test and rules_meaning_test.
  for (const char* elsewhere :
       {"lmd: initial two_inits", "integer_madam: initial_k nearest", "lmd: soft_clip seed"})
    REQUIRE(existing.erase(elsewhere) == 1);
  for (const std::string& one : existing) {
    CAPTURE(one);
    CHECK(with_a_case.count(one) == 1);
  }
}

}  // namespace
}  // namespace halfulp
