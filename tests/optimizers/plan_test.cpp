#include "optimizers/plan.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/spec.h"
#include "optimizers/memory.h"

namespace halfulp {
namespace {

TensorInfo matrix(std::string name) { return {std::move(name), 0, {64, 128}, 0}; }
TensorInfo vector_of(std::string name) { return {std::move(name), 0, {128}, 0}; }

TEST_CASE("schemes: each name gives the formats it says") {
  const auto weights = [](const char* scheme) {
    return *parse_scheme(scheme).of(matrix("w")).weights.format;
  };
  const auto first = [](const char* scheme) {
    return *parse_scheme(scheme).of(matrix("w")).first_moment.format;
  };
  const auto second = [](const char* scheme) {
    return *parse_scheme(scheme).of(matrix("w")).second_moment.format;
  };
  CHECK_FALSE(parse_scheme("fp64").base.weights.format.has_value());
  CHECK_FALSE(parse_scheme("fp64").base.second_moment.format.has_value());
  CHECK(weights("fp32") == unscaled(fp32));
  CHECK(second("fp32") == unscaled(fp32));
  CHECK(weights("bf16/fp32") == unscaled(bf16));
  CHECK(first("bf16/fp32") == unscaled(fp32));
  CHECK(second("bf16/bf16") == unscaled(bf16));
  CHECK(weights("fp8/fp8") == parse_format("fp8_tensor"));
  CHECK(first("bf16/fp8") == parse_format("fp8_block256"));
  CHECK(second("bf16/fp8") == parse_format("fp8_block256_e5m2"));
  CHECK(weights("nvfp4/fp8") == parse_format("nvfp4"));
  CHECK(weights("mxfp4_rceil/bf16") == parse_format("mxfp4_rceil"));
  CHECK(weights("e4m3/fp32") == unscaled(e4m3));
  for (const NamedBlockFormat& known : all_block_formats)
    CHECK(*parse_scheme(std::string(known.name) + "/fp8").base.weights.format == known.format);
  CHECK(parse_scheme("nvfp4/fp8").scheme == "nvfp4/fp8");
}

TEST_CASE("schemes: 1-D tensors are bf16 in nvfp4, and only there") {
  const Plan plan = parse_scheme("nvfp4/fp8");
  CHECK(*plan.of(vector_of("bias")).weights.format == unscaled(bf16));
  CHECK(*plan.of(matrix("w")).weights.format == parse_format("nvfp4"));
  CHECK(*plan.of({"w", 0, {1, 128}, 0}).weights.format == parse_format("nvfp4"));
  CHECK(*plan.of(vector_of("bias")).first_moment.format == parse_format("fp8_block256"));
  CHECK(*parse_scheme("fp8/fp8").of(vector_of("bias")).weights.format == parse_format("fp8_tensor"));
}

TEST_CASE("schemes: roundings, overflow and scale policies they start with") {
  for (const char* scheme : {"bf16/fp32", "fp8/fp8", "nvfp4/fp8", "mxfp4_rceil/fp8"}) {
    const TensorPlan plan = parse_scheme(scheme).base;
    for (const SlotPlan* slot : {&plan.weights, &plan.first_moment, &plan.second_moment}) {
      CHECK(slot->rounding == nearest_even);
      CHECK(slot->overflow == OverflowPolicy::saturate);
    }
    CHECK(plan.first_moment.scale == recompute_scale);
    CHECK(plan.second_moment.scale == recompute_scale);
  }
  CHECK(parse_scheme("fp8/fp8").base.weights.scale == ScalePolicy{ScalePolicyKind::lazy, 1});
  CHECK(parse_scheme("nvfp4/fp8").base.weights.scale == ScalePolicy{ScalePolicyKind::lazy, 1});
  CHECK(parse_scheme("mxfp4_rceil/fp8").base.weights.scale == recompute_scale);
  CHECK(parse_scheme("bf16/fp8").base.weights.scale == recompute_scale);
}

TEST_CASE("schemes: a bad name is an error") {
  for (const char* name : {"", "/", "bf16", "fp8", "nvfp4", "bf16/", "/fp8", "bf16/fp16", "bf17/fp32",
                           "fp64/fp64", "bf16/fp8/fp8", "BF16/FP32"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(parse_scheme(name), Error);
  }
}

TEST_CASE("patterns: * is any run, ? any one character") {
  CHECK(matches_pattern("*", ""));
  CHECK(matches_pattern("*", "anything"));
  CHECK(matches_pattern("", ""));
  CHECK_FALSE(matches_pattern("", "a"));
  CHECK(matches_pattern("*norm*", "layer.0.norm1.weight"));
  CHECK(matches_pattern("*norm*", "norm"));
  CHECK_FALSE(matches_pattern("*norm*", "layer.0.weight"));
  CHECK(matches_pattern("layer.?.weight", "layer.3.weight"));
  CHECK_FALSE(matches_pattern("layer.?.weight", "layer.13.weight"));
  CHECK_FALSE(matches_pattern("layer.?.weight", "layer..weight"));
  CHECK(matches_pattern("a*b*c", "aXXbYYbZZc"));
  CHECK_FALSE(matches_pattern("a*b*c", "aXXcYYb"));
  CHECK(matches_pattern("**", "x"));
  CHECK(matches_pattern("*.bias", "a.bias.bias"));
  CHECK_FALSE(matches_pattern("w", "W"));
  CHECK_FALSE(matches_pattern("?", ""));
  CHECK(matches_pattern("?*", "x"));
  CHECK(matches_pattern("a.b", "a.b"));
  CHECK_FALSE(matches_pattern("a.b", "axb"));
}

TEST_CASE("patterns: many stars do not take exponential time") {
  const std::string name(64, 'a');
  std::string pattern;
  for (int star = 0; star < 5; ++star) pattern += "*a";
  CHECK_FALSE(matches_pattern(pattern + "*b", name));
  CHECK(matches_pattern(pattern + "*", name));
}

TEST_CASE("overrides: later ones win, part by part") {
  Plan plan = parse_scheme("nvfp4/fp8");
  const auto format = [](const ScalarFormat& f) { return SlotChange{unscaled(f), {}, {}, {}}; };
  plan.overrides.push_back({"*norm*", {format(fp32), {}, {}}});
  plan.overrides.push_back({"head*", {{{}, stochastic, {}, {}}, format(bf16), {}}});
  plan.overrides.push_back({"head.norm", {format(fp16), {}, format(fp32)}});

  CHECK(*plan.of(vector_of("a.norm")).weights.format ==
        unscaled(fp32));  // an override beats the rule for vectors
  CHECK(*plan.of(vector_of("a.bias")).weights.format == unscaled(bf16));
  const TensorPlan head = plan.of(matrix("head.norm"));
  CHECK(*head.weights.format == unscaled(fp16));
  CHECK(*head.first_moment.format == unscaled(bf16));
  CHECK(*head.second_moment.format == unscaled(fp32));
  CHECK(head.weights.rounding == stochastic);  // of the second override, untouched by the third
  CHECK(*plan.of(matrix("head.out")).weights.format == *plan.base.weights.format);
  CHECK(plan.of(matrix("body")) == plan.base);
  CHECK(head.state(Moment::first) == head.first_moment);
  CHECK(head.state(Moment::second) == head.second_moment);
}

TEST_CASE("describe: says format, blocks, rounding, overflow and scale policy") {
  const auto words = [](const char* format) { return describe(weight_slot(parse_format(format))); };
  CHECK(words("bf16") == "bf16, nearest_even, saturate");
  for (const char* part :
       {"e4m3", "one fp32 (amax) scale per tensor", "nearest_even", "saturate", "lazy{headroom=1}"})
    CHECK(words("fp8_tensor").find(part) != std::string::npos);
  for (const char* part :
       {"e2m1", "one ue4m3 (amax) scale per 16 along the last axis", "one fp32 scale per tensor"})
    CHECK(words("nvfp4").find(part) != std::string::npos);
  CHECK(words("fp8_block256_e5m2").find("one fp32 (amax) scale per 256 flattened elements") !=
        std::string::npos);
  CHECK(describe(parse_scheme("fp64").base.weights) == "the number type of the rule, unrounded");
}

TEST_CASE("describe: two formats that store different bits read differently") {
  std::vector<std::string> seen;
  for (const NamedBlockFormat& known : all_block_formats) {
    const std::string text = describe(weight_slot(known.format));
    CAPTURE(text);
    CHECK(std::find(seen.begin(), seen.end(), text) == seen.end());
    seen.push_back(text);
  }
}

TEST_CASE("bits per parameter: by hand") {
  const auto bits = [](const char* format, const std::vector<std::size_t>& shape) {
    std::size_t elements = 1;
    for (const std::size_t extent : shape) elements *= extent;
    return 8.0 * static_cast<double>(stored_bytes(weight_slot(parse_format(format)), shape, 4)) /
           static_cast<double>(elements);
  };
  CHECK(bits("bf16", {64, 128}) == 16);
  CHECK(bits("fp32", {7}) == 32);
  CHECK(bits("nvfp4", {64, 128}) == 4.5 + 32.0 / (64 * 128));  // 4 + 8/16, and one fp32 scale
  CHECK(bits("nvfp4", {2, 20}) ==
        (2 * 20 * 4 + 2 * 2 * 8 + 32) / 40.0);  // short blocks have scales of their own
  CHECK(bits("mxfp4", {64, 128}) == 4.25);
  CHECK(bits("mxfp6_e3m2", {64, 128}) == 6.25);
  CHECK(bits("mxfp8_e4m3", {64, 128}) == 8.25);
  CHECK(bits("fp8_block256", {64, 128}) == 8.125);
  CHECK(bits("fp8_block256_e5m2", {300}) == (300 * 8 + 2 * 32) / 300.0);
  CHECK(bits("fp8_tensor", {64, 128}) == 8 + 32.0 / (64 * 128));
  CHECK(bits("mxfp4", {33}) == 8 * (17 + 2) / 33.0);  // 33 nibbles take 17 bytes
  CHECK(stored_bytes(parse_scheme("fp64").base.weights, {5}, 8) == 5 * 8);
}

}  // namespace
}  // namespace halfulp
