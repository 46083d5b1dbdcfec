// Where a moving average kept in a narrow format stalls, and what that does to a step.
#include <doctest/doctest.h>

#include "formats/spec.h"
#include "optimizers/all_rules.h"
#include "tests/optimizers/additive_rule.h"

namespace halfulp {
namespace {

SlotPlan in(const ScalarFormat& format) { return weight_slot(unscaled(format)); }

/// Second moments of AdamW in this format, one weight each, after a first step that makes them v0 and `steps` of
/// gradient g.
std::vector<double> second_moments(const SlotPlan& format, double beta2, const std::vector<double>& v0,
                                   double g, int steps) {
  const TensorInfo info{"w", 0, {v0.size()}, 0};
  TensorPlan plan = parse_scheme("fp32").of(info);
  plan.second_moment = format;
  OptimizedTensor<AdamW, double> tensor(info, plan, std::vector<double>(v0.size(), 1.0));
  NoProbe probe;
  std::vector<double> first;
  for (const double v : v0) first.push_back(std::sqrt(v / (1 - beta2)));
  tensor.step({.beta2 = beta2}, {1, 1.0, 1}, {first}, nullptr, probe);
  for (int t = 2; t <= 1 + steps; ++t)
    tensor.step({.beta2 = beta2}, {static_cast<std::uint64_t>(t), 1.0, 1},
                {std::vector<double>(v0.size(), g)}, nullptr, probe);
  std::vector<double> v(v0.size());
  tensor.state(1).load(0, std::span(v));
  return v;
}

/// How many significands of [2, 4) do not decay at all. Below 2 even e2m1 has normal numbers, below 1 subnormals as
/// far apart as above.
int frozen(const ScalarFormat& format, double beta2) {
  std::vector<double> v;
  for (int i = 0; i < 1 << format.fraction_bits; ++i)
    v.push_back(2 + std::ldexp(i, 1 - format.fraction_bits));
  const std::vector<double> after = second_moments(in(format), beta2, v, 0, 1);
  int count = 0;
  for (std::size_t i = 0; i < v.size(); ++i) count += after[i] == v[i];
  return count;
}

TEST_CASE("ema freezing: without gradient no second moment decays where 1 - beta2 < 2^-(t+2)") {
  // (1 - beta2) v against half the gap below v: least at a power of two, 2^-(t+2).
  for (const ScalarFormat& f : {bf16, e4m3, e5m2, e2m1}) {
    const int t = f.fraction_bits, all = 1 << t;
    const double limit = std::ldexp(1, -(t + 2));
    CAPTURE(t);
    CHECK(frozen(f, 1 - limit * 0.999) == all);
    CHECK(frozen(f, 1 - limit * 1.001) == all - 1);  // 2 itself decays
    CHECK(frozen(f, 1 - 2 * limit * 1.001) == 0);    // between powers of two the limit is at most twice that
  }
  // These limits are 0.998, 0.969, 0.9375 and 0.875.
  CHECK(frozen(bf16, 0.9981) == 128);
  CHECK(frozen(e4m3, 0.969) == 8);
  CHECK(frozen(e5m2, 0.938) == 4);
  CHECK(frozen(e2m1, 0.876) == 2);
}

TEST_CASE("ema freezing: e4m3 second moments at 0.99 follow neither up nor down, at 0.95 they stop at 1.25") {
  CHECK(second_moments(in(e4m3), 0.99, {1}, 0, 3000) == std::vector<double>{1});
  CHECK(second_moments(in(e4m3), 0.99, {1}, 2, 3000) == std::vector<double>{1});
  CHECK(second_moments(in(e4m3), 0.99, {4}, 1, 3000) == std::vector<double>{4});
  CHECK(second_moments(in(e4m3), 0.95, {1.75}, 0, 3000) == std::vector<double>{1.25});
}

TEST_CASE("ema freezing: a second moment that stalls at 1/4 doubles the step") {
  // bf16, 0.999: v stalls at 0.25 under g^2 = 1. Without the bias correction (gone by then) 1 / sqrt(0.25) = 2.
  const TensorInfo info{"w", 0, {1}, 0};
  const auto last_step = [&](const std::string& scheme) {
    TensorPlan plan = parse_scheme(scheme).of(info);
    plan.weights = unrounded_slot;
    plan.first_moment = unrounded_slot;
    OptimizedTensor<AdamW, double> tensor(info, plan, std::vector<double>{0.0});
    test::Recorder<double> seen;
    for (std::uint64_t t = 1; t <= 20000; ++t) {
      seen.tiles.clear();
      tensor.step({}, {t, 1.0, 1}, {std::vector<double>{1.0}}, nullptr, seen);
    }
    return seen.tiles.at(0).update.at(0);
  };
  // The rule uses the unrounded v: 0.25 + 0.001 * 0.75.
  CHECK(std::fabs(last_step("bf16/bf16") + 1e-3 / std::sqrt(0.25075)) < 1e-9);
  CHECK(std::fabs(last_step("bf16/fp32") + 1e-3) < 1e-7);
}

TEST_CASE("ema freezing: an fp32 scale of the largest rescues uniform decay, a power-of-two scale does not") {
  // All 256 alike: codes stay, the fp32 scale itself shrinks by beta2 in each step.
  const std::vector<double> v0(256, 1.0);
  const double beta2 = 0.99;
  for (const double v : second_moments(state_slot(parse_format("fp8_block256")), beta2, v0, 0, 100))
    CHECK(std::fabs(v / std::pow(beta2, 100) - 1) < 101 * 0x1p-24);
  for (const double v : second_moments(state_slot(parse_format("mxfp8_e4m3_rceil")), beta2, v0, 0, 100))
    CHECK(v == 1);
  // The floor rule saturates the largest number of a block: 0.99 is stored as 448 * 2^-9, and then stays.
  for (const double v : second_moments(state_slot(parse_format("mxfp8_e4m3")), beta2, v0, 0, 100))
    CHECK(v == 0.875);
}

TEST_CASE("betas rounded to bf16 would be 1, 127/128 of 1 and so on") {
  const auto rounded = [](double beta, RoundingMode mode) {
    return decode(bf16, convert(beta, bf16, {mode, 0}, special_values(OverflowPolicy::saturate), 0));
  };
  CHECK(rounded(0.999, RoundingMode::nearest_even) == 1);
  CHECK(rounded(0.99, RoundingMode::nearest_even) == 0.98828125);
  CHECK(rounded(0.95, RoundingMode::nearest_even) == 0.94921875);
  CHECK(rounded(0.9, RoundingMode::nearest_even) == 0.8984375);
  CHECK(rounded(0.999, RoundingMode::toward_zero) == 0.99609375);
  CHECK(rounded(0.9999, RoundingMode::toward_zero) == 0.99609375);
}

}  // namespace
}  // namespace halfulp
