// Run configs: defaults, keys of records, labels, schedules.
#include "experiments/run_config.h"

#include <doctest/doctest.h>

#include <set>

#include "experiments/run.h"
#include "formats/catalog.h"
#include "optimizers/placement.h"
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

struct Bad {
  std::string setting, key;
};

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
      {"measure={twin: true}"},
      {"measure={harmful_window: 9}"},
      {"schedule={shape: cosine, warmup: 3}"},
      {"multiplicative_schedule=linear"},
      {"clip={norm: 2}"},
      {"clip={growing: 2}"},
      {"rate_reference=2"},
      {"micro_batches=2"},
      {"rule_overrides=[{match: w, eta: 0.5}]"},
      {"plan.compensation=kahan", "plan.weights.format=bf16"},
      {"plan.decay=own_rounding"},
      {"plan.states_used=rounded"},
      {"plan.gradient.format=bf16"},
      {"plan.accumulator.format=bf16"},
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
  for (const Bad& bad : std::vector<Bad>{{"rule=sgdm", "rule"},
                                         {"rule.name=sgdm", "rule.name"},
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
                                         {"schedule=linnear", "schedule"},
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

TEST_CASE("run config: what was not asked for is not written, so that keys stay") {
  const nlohmann::ordered_json json = to_json(config_of(plain));
  for (const char* key : {"rule_overrides", "micro_batches", "multiplicative_schedule", "clip", "rate_reference",
                          "measure", "sign_twin_eta"})
    CHECK_FALSE(json.contains(key));
  for (const char* key : {"gradient", "accumulator", "compensation", "residual", "decay", "states_used"})
    CHECK_FALSE(json.at("plan").contains(key));
  CHECK(json.at("schedule") == "constant");
}

TEST_CASE("run config: every new part is read, and written as it was read") {
  const RunConfig config = config_of(
      plain, {"schedule={shape: cosine, warmup: 5}", "multiplicative_schedule=linear", "clip={growing: 0.5}",
              "rate_reference=2", "micro_batches=4", "rule_overrides=[{match: 'w*', eta: 0.5}]",
              "measure={twin: true, dwell: true, harmful_window: 20, descent: true}",
              "plan={scheme: bf16/bf16, compensation: kahan, decay: own_rounding, states_used: rounded, "
              "gradient: {format: bf16}, accumulator: {format: bf16, rounding: stochastic}}"});
  CHECK(config.schedule.warmup == 5);
  CHECK(config.multiplicative_schedule.has_value());
  CHECK(config.clipping == GradientClipping{ClippingKind::growing, 0.5});
  CHECK(config.micro_batches == 4);
  CHECK(config.rule_overrides.at(0).numbers.at("eta") == 0.5);
  CHECK(config.extra == ExtraMeasurements{false, true, true, 20, true});
  CHECK(config.plan.base.compensation == Compensation::kahan);
  CHECK(config.plan.base.decay == DecayPlacement::own_rounding);
  CHECK(config.plan.base.states_used == StatesUsed::rounded);
  CHECK(*config.plan.base.gradient.format == unscaled(bf16));
  CHECK(config.plan.base.accumulator.rounding == stochastic);
  CHECK(rule_label(config.rule, config.plan) == "adamw+kahan");
  const nlohmann::ordered_json json = to_json(config);
  const RunConfig again = parse_run_config(YAML::Load(json.dump()), "again.yaml");
  CHECK(to_json(again).dump() == json.dump());
}

TEST_CASE("run config: new parts refuse what they cannot do") {
  for (const auto& bad : std::vector<Bad>{{"clip=hard", "clip"},
                                         {"micro_batches=0", "micro_batches"},
                                         {"micro_batches=257", "micro_batches"},
                                         {"measure={twins: true}", "measure.twins"},
                                         {"measure={twin: yes please}", "measure.twin"},
                                         {"measure={results_only: true, twin: true}", "measure.results_only"},
                                         {"rule_overrides={match: w}", "rule_overrides"},
                                         {"rule_overrides=[{eta: 1}]", "rule_overrides[0].match"},
                                         {"plan={scheme: bf16/fp32, compensation: kahn}", "plan.compensation"},
                                         {"plan={scheme: bf16/fp32, decay: never}", "plan.decay"},
                                         {"plan={scheme: bf16/fp32, placement: pytorch}", "plan.placement"},
                                         {"plan={scheme: fp8/fp32, compensation: collage_light}", "plan"},
                                         {"plan={scheme: bf16/fp8, compensation: collage_plus}", "plan"}}) {
    CAPTURE(bad.setting);
    CHECK(contains(error_with({bad.setting}), {"toy.yaml, key " + bad.key, "given '", "allowed: "}));
  }
  CHECK(contains(error_with({"rule={name: lmd, samples: 16}", "micro_batches=17"}), {"micro_batches"}));
}

TEST_CASE("run config: every placement is laid over the scheme") {
  for (const std::string& name : placement_names()) {
    CAPTURE(name);
    const RunConfig config = config_of(plain, {"plan={scheme: bf16/fp32, placement: " + name + "}"});
    const TensorPlan& plan = config.plan.base;
    // Weights in the rule's own numbers refuse the rounding that a record spells out.
    if (name != "transformer_engine") {
      const std::string json = to_json(config).dump();
      CHECK(to_json(parse_run_config(YAML::Load(json), "again")).dump() == json);
    }
    CHECK((plan.compensation == Compensation::kahan) == (name == "optimi_kahan"));
    CHECK((plan.weights.rounding == stochastic) == (name == "onetrainer_sr"));
    CHECK((plan.decay == DecayPlacement::own_rounding) == (name == "optimi_kahan" || name == "onetrainer_sr"));
    CHECK((*plan.weights.format == unscaled(fp32)) == (name == "transformer_engine"));
  }
}

}  // namespace
}  // namespace halfulp
