// Plans from YAML: schemes, parts, overrides, and what is refused.
#include "experiments/plan_config.h"

#include <doctest/doctest.h>

#include "formats/catalog.h"
#include "formats/spec.h"
#include "tests/experiments/toy_configs.h"

namespace halfulp {
namespace {

using test::contains;
using test::error_of;

Plan plan_of(const std::string& yaml, Rounding rounding = nearest_even) {
  YamlMap root(YAML::Load("{plan: " + yaml + "}"), "f.yaml", "");
  const Plan plan = parse_plan(root, "plan", rounding);
  root.check_all_known();
  return plan;
}
std::string plan_error(const std::string& yaml) {
  return error_of([&] { plan_of(yaml); });
}

TEST_CASE("plan config: a name and a map with that scheme are one plan") {
  for (const char* scheme :
       {"fp32", "fp64", "bf16/fp32", "bf16/bf16", "bf16/fp8", "fp8/fp8", "nvfp4/fp8", "mxfp4_rceil/bf16"}) {
    const Plan named = plan_of(scheme), mapped = plan_of(std::string("{scheme: ") + scheme + "}");
    CHECK(named.base == mapped.base);
    CHECK(named.base == parse_scheme(scheme).base);
    CHECK(to_json(named).dump() == to_json(mapped).dump());
  }
  YamlMap none(YAML::Node(), "f.yaml", "");
  CHECK(parse_plan(none, "plan", nearest_even).scheme == "fp32");
}

TEST_CASE("plan config: parts replace parts, a new format brings its own scale policy") {
  const Plan plan = plan_of(
      "{scheme: nvfp4/fp8, weights: {rounding: stochastic, overflow: ocp}, first_moment: {format: bf16}}");
  CHECK(plan.base.weights.format == parse_format("nvfp4"));
  CHECK(plan.base.weights.rounding == stochastic);
  CHECK(plan.base.weights.overflow == OverflowPolicy::ocp);
  CHECK(plan.base.weights.scale == lazy_scale_default);
  CHECK(plan.base.first_moment == state_slot(unscaled(bf16)));
  CHECK(plan.base.second_moment == parse_scheme("nvfp4/fp8").base.second_moment);
  const Plan mx = plan_of("{scheme: nvfp4/fp8, weights: {format: mxfp4}}");
  CHECK(mx.base.weights.scale == recompute_scale);
  const Plan kept = plan_of("{scheme: bf16/fp32, weights: {scale: keep, format: fp8_tensor}}");
  CHECK(kept.base.weights.scale.kind == ScalePolicyKind::keep);
}

TEST_CASE("plan config: vectors keep the scheme's format and take the weights' rounding") {
  const Plan plan = plan_of("nvfp4/fp8", stochastic);
  REQUIRE(plan.weights_of_vectors);
  CHECK(plan.weights_of_vectors->format == unscaled(bf16));
  CHECK(plan.weights_of_vectors->rounding == stochastic);
  CHECK(plan.base.weights.rounding == stochastic);
  CHECK(plan.base.first_moment.rounding == nearest_even);
}

TEST_CASE("plan config: an override changes only what it names, for the tensors it matches") {
  const Plan plan = plan_of(
      "{scheme: nvfp4/fp8, overrides: [{match: '*bias*', weights: {rounding: stochastic}}, "
      "{match: 'out*', weights: {format: fp16}}, {match: 'out.bias', first_moment: {format: fp32}}]}");
  const TensorInfo matrix{"hidden.weight", 0, {4, 16}, 0}, bias{"hidden.bias", 1, {16}, 0},
      out{"out.bias", 2, {10}, 0};
  CHECK(plan.of(matrix) == parse_scheme("nvfp4/fp8").base);
  CHECK(plan.of(bias).weights.format == unscaled(bf16));  // still the scheme's format of vectors
  CHECK(plan.of(bias).weights.rounding == stochastic);
  CHECK(plan.of(out).weights.format == unscaled(fp16));
  CHECK(plan.of(out).weights.rounding == stochastic);  // what the first override said stays
  CHECK(plan.of(out).first_moment.format == unscaled(fp32));
  CHECK(plan.of(out).second_moment == parse_scheme("nvfp4/fp8").base.second_moment);
}

TEST_CASE("plan config: everything wrong is named with its key") {
  CHECK(contains(plan_error("bf17/fp32"), {"f.yaml, key plan", "given 'bf17'", "nearest is bf16", "nvfp4"}));
  CHECK(contains(plan_error("bf16"), {"f.yaml, key plan", "no such scheme", "given 'bf16'"}));
  CHECK(contains(plan_error("bf16/e4m3"), {"f.yaml, key plan", "states", "given 'bf16/e4m3'"}));
  CHECK(contains(plan_error("[bf16]"), {"f.yaml, key plan", "a map is needed"}));
  CHECK(contains(plan_error("{schem: bf16/fp32}"), {"key plan.schem", "nearest is scheme"}));
  CHECK(contains(plan_error("{weights: bf16}"), {"key plan.weights", "a map is needed"}));
  const auto weights = [](const std::string& part) {
    return plan_error("{scheme: fp8/fp8, weights: {" + part + "}}");
  };
  CHECK(weights("scale: recompute") == "");
  CHECK(contains(weights("format: fp5"), {"key plan.weights.format", "given 'fp5'", "allowed: "}));
  CHECK(contains(weights("rounding: up_and_down"),
                 {"key plan.weights.rounding", "given 'up_and_down'", "nearest_even"}));
  CHECK(contains(weights("rounding: 'stochastic_a:33'"), {"key plan.weights.rounding", "1..32"}));
  CHECK(contains(weights("overflow: wrap"), {"key plan.weights.overflow", "given 'wrap'", "saturate"}));
  CHECK(contains(weights("scale: sometimes"), {"key plan.weights.scale", "given 'sometimes'", "recompute"}));
  CHECK(contains(weights("scale: 'lazy{headroom=9}'"), {"key plan.weights.scale", "0..8"}));
  CHECK(contains(weights("fromat: bf16"), {"key plan.weights.fromat", "nearest is format"}));
  CHECK(contains(weights("format: [bf16]"), {"key plan.weights.format", "a single value is needed"}));
  CHECK(contains(plan_error("{scheme: bf16/fp32, weights: {scale: lazy}}"), {"weights", "scale"}));
  CHECK(contains(plan_error("{overrides: 5}"), {"key plan.overrides", "a list is needed"}));
  CHECK(contains(plan_error("{overrides: [5]}"), {"key plan.overrides[0]", "a map is needed"}));
  CHECK(contains(plan_error("{overrides: [{weights: {format: bf16}}]}"), {"key plan.overrides[0].match"}));
  CHECK(contains(plan_error("{overrides: [{match: x, weights: {format: b}}]}"),
                 {"key plan.overrides[0].weights.format"}));
  CHECK(contains(plan_error("{overrides: [{match: x, state: 1}]}"), {"key plan.overrides[0].state"}));
}

}  // namespace
}  // namespace halfulp
