// Run configs: defaults, keys of records, labels, schedules.
#include "experiments/run_config.h"

#include <doctest/doctest.h>

#include <set>

#include "experiments/run.h"
#include "tests/experiments/toy_configs.h"

namespace halfulp {
namespace {

using test::config_of;
using test::contains;
using test::error_of;

const std::string plain =
    "{problem: {name: ill_conditioned, size: 8}, rule: {name: adamw}, plan: {scheme: fp8/fp8}}";

std::string error_with(const std::vector<std::string>& settings) {
  return error_of([&] { config_of(plain, settings); });
}

TEST_CASE("run config: a name and a map with that name are one config") {
  CHECK(record_key(config_of("{problem: quadratic_1d, rule: madam, plan: bf16/fp32}")) ==
        record_key(
            config_of("{rule: {name: madam}, plan: {scheme: bf16/fp32}, problem: {name: quadratic_1d}}")));
  CHECK(config_of("{problem: quadratic_1d, rule: madam, plan: fp64}").number == NumberType::float64);
  CHECK(config_of("{problem: quadratic_1d, rule: madam}").number == NumberType::float32);
}

TEST_CASE("run config: what its json says is what it was read from, defaults spelled out") {
  const auto json = to_json(config_of(plain, {"rule.eta=0.125", "steps=17", "schedule=cosine", "seed=5"}));
  CHECK(json.at("rule").dump() ==
        R"({"name":"adamw","eta":0.125,"beta1":0.9,"beta2":0.999,"eps":1e-08,"weight_decay":0.0})");
  CHECK(json.at("steps") == 17);
  CHECK(json.at("schedule") == "cosine");
  CHECK(json.at("seed") == 5);
  CHECK(json.at("number") == "float32");
  CHECK(json.at("problem").at("size") == 8.0);
}

TEST_CASE("run config: the key changes with every setting") {
  const std::vector<std::vector<std::string>> variants{
      {},
      {"problem.size=9"},
      {"problem.noise=0.25"},
      {"problem={name: zero_initialized, size: 8}"},
      {"rule.name=madam"},
      {"rule.name=m_adam"},
      {"rule.name=lmd"},
      {"rule.eta=2e-3"},
      {"rule.beta1=0.8"},
      {"rule.beta2=0.98"},
      {"rule.eps=1e-6"},
      {"rule.weight_decay=0.1"},
      {"plan.scheme=bf16/fp8"},
      {"plan.weights.rounding=stochastic"},
      {"plan.weights.rounding='stochastic_c:8'"},
      {"plan.weights.overflow=ocp"},
      {"plan.weights.scale=recompute"},
      {"plan.weights.scale='lazy{headroom=2}'"},
      {"plan.weights.format=e5m2"},
      {"plan.first_moment.format=bf16"},
      {"plan.second_moment.format=bf16"},
      {"plan.second_moment.rounding=stochastic"},
      {"plan.overrides=[{match: w, weights: {format: fp16}}]"},
      {"plan.overrides=[{match: '*', weights: {format: fp16}}]"},
      {"plan.overrides=[{match: w, first_moment: {format: fp16}}]"},
      {"steps=1499"},
      {"schedule=cosine"},
      {"number=float64"},
      {"seed=1"},
      {"measure_every=2"},
      {"trace_every=51"},
      {"sign_twin_eta=1e-3"},
      {"sign_twin_eta=2e-3"},
      {"problem={name: fashion_mlp}"},
      {"problem={name: fashion_mlp, data_set: /elsewhere}"},
      {"problem={name: fashion_mlp, hidden: 63}"},
  };
  std::set<std::string> keys;
  for (const auto& settings : variants) {
    CAPTURE(settings.empty() ? "" : settings[0]);
    const std::string key = record_key(config_of(plain, settings));
    CHECK(key.size() == 16);
    CHECK(keys.insert(key).second);
    CHECK(record_key(config_of(plain, settings)) == key);
  }
}

TEST_CASE("run config: every wrong input names file, key, what was given and what is allowed") {
  CHECK(contains(error_of([] { config_of("{rule: adamw}"); }), {"toy.yaml, key problem"}));
  CHECK(contains(error_of([] { config_of("{problem: quadratic_1d}"); }), {"toy.yaml, key rule"}));
  struct Bad {
    std::string setting, key;
  };
  for (const Bad& bad : std::vector<Bad>{{"rule=sgd", "rule"},
                                         {"rule.name=sgd", "rule.name"},
                                         {"rule.etaa=1", "rule.etaa"},
                                         {"rule.eta=fast", "rule.eta"},
                                         {"rule.eta=-1", "rule.eta"},
                                         {"rule.eta=1e7", "rule.eta"},
                                         {"rule.eta=[1]", "rule.eta"},
                                         {"rule.beta1=1", "rule.beta1"},
                                         {"rule={name: lmd, samples: 1.5}", "rule.samples"},
                                         {"rule={name: lmd, samples: 17}", "rule.samples"},
                                         {"rule=[adamw]", "rule"},
                                         {"problem=rosenbrok", "problem"},
                                         {"problem.name=rosenbrok", "problem.name"},
                                         {"problem.sizes=8", "problem.sizes"},
                                         {"problem.size=big", "problem.size"},
                                         {"problem.size=0", "problem"},
                                         {"problem.size=-1", "problem"},
                                         {"problem.size=2.5", "problem"},
                                         {"problem={name: fashion_mlp, hidden: 2.5}", "problem.hidden"},
                                         {"problem={name: fashion_mlp, hidden: -1}", "problem.hidden"},
                                         {"problem={name: fashion_mlp, batch_size: 0}", "problem.batch_size"},
                                         {"steps=0", "steps"},
                                         {"steps=-3", "steps"},
                                         {"steps=[3]", "steps"},
                                         {"schedule=linear", "schedule"},
                                         {"number=float16", "number"},
                                         {"seed=-1", "seed"},
                                         {"measure_every=0", "measure_every"},
                                         {"trace_every=x", "trace_every"},
                                         {"sign_twin_eta=-1", "sign_twin_eta"},
                                         {"stpes=3", "stpes"}}) {
    CAPTURE(bad.setting);
    CHECK(contains(error_with({bad.setting}), {"toy.yaml, key " + bad.key, "given '", "allowed: "}));
  }
  CHECK(contains(error_with({"plan=fp64", "number=float32"}), {"key number", "given 'float32'"}));
  // Asked for, but without effect: the weights are the rule's own numbers.
  CHECK(error_with({"plan.scheme=fp32", "plan.weights.rounding=stochastic"}) != "");
}

TEST_CASE("run config: labels tell stochastic from nearest where it is not the rule's default") {
  const auto label = [](const std::vector<std::string>& settings) {
    const RunConfig config = config_of(plain, settings);
    return rule_label(config.rule, config.plan);
  };
  CHECK(label({}) == "adamw");
  CHECK(label({"plan.weights.rounding=stochastic"}) == "adamw+sr");
  CHECK(label({"rule.name=lmd"}) == "lmd");
  CHECK(label({"rule.name=lmd", "plan.weights.rounding=nearest_even"}) == "lmd+nearest_even");
}

TEST_CASE("schedule: the cosine is within an ulp or two of cos^2, one at first, never zero") {
  for (const std::uint64_t steps : {1u, 2u, 7u, 1500u}) {
    CHECK(schedule_factor(Schedule::cosine, 1, steps) == 1);
    for (std::uint64_t t = 1; t <= steps; ++t) {
      CHECK(schedule_factor(Schedule::constant, t, steps) == 1);
      const double half = 0x1.921fb54442d18p+0 * (static_cast<double>(t - 1) / static_cast<double>(steps));
      // The library's cosine is within an ulp; the series loses an absolute 1e-16 near the end.
      CHECK(std::fabs(schedule_factor(Schedule::cosine, t, steps) - std::cos(half) * std::cos(half)) < 1e-15);
      CHECK(schedule_factor(Schedule::cosine, t, steps) > 0);
    }
  }
}

}  // namespace
}  // namespace halfulp
