// Compensated weights, decay with a rounding of its own, rounded states, stored gradients: the step against loops that
// are written out one rounding after the other, bit for bit, in double arithmetic.
#include <doctest/doctest.h>

#include "formats/error.h"
#include "formats/round_once.h"
#include "formats/spec.h"
#include "optimizers/adamw.h"
#include "optimizers/m_adam.h"
#include "tests/optimizers/additive_rule.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

double b(double x) { return round(x, bf16, nearest_even, 0); }

constexpr std::size_t size = 300;

std::vector<double> start_weights() {
  std::vector<double> w;
  for (std::size_t i = 0; i < size; ++i) w.push_back(test::log_spread(40, 0, i, 9));
  return w;
}
double gradient_at(std::uint64_t t, std::size_t i) { return test::log_spread(41, static_cast<std::uint32_t>(t), i, 6); }

std::vector<double> gradients_at(std::uint64_t t) {
  std::vector<double> g;
  for (std::size_t i = 0; i < size; ++i) g.push_back(gradient_at(t, i));
  return g;
}

TensorPlan bf16_plan(Compensation compensation) {
  TensorPlan plan = parse_scheme("bf16/bf16").base;
  plan.compensation = compensation;
  return plan;
}

template <class Rule>
std::vector<double> weights_after(const TensorPlan& plan, const typename Rule::Config& config, std::uint64_t steps) {
  const TensorInfo info{"w", 0, {size}, 0};
  OptimizedTensor<Rule, double> tensor(info, plan, start_weights(), config);
  NoProbe none;
  for (std::uint64_t t = 1; t <= steps; ++t) tensor.step(config, {t, 1.0, 1}, {gradients_at(t)}, nullptr, none);
  std::vector<double> w(size);
  tensor.weight(0).load(0, std::span(w));
  return w;
}

/// AdamW's moments and increment, written out: rounded states are those the increment uses, where asked.
struct Moments {
  double m = 0, v = 0;
  double increment(const AdamW::Config& c, std::uint64_t t, double g, bool rounded) {
    double new_m = c.beta1 * m + (1 - c.beta1) * g, new_v = c.beta2 * v + (1 - c.beta2) * (g * g);
    m = b(new_m), v = b(new_v);
    if (rounded) new_m = m, new_v = v;
    const double c1 = bias_correction(c.beta1, t), c2 = bias_correction(c.beta2, t);
    return -(c.eta * (new_m * c1) / (std::sqrt(new_v * c2) + c.eps));
  }
};

template <class StepOne>
std::vector<double> by_hand(StepOne step_one) {
  std::vector<double> out;
  const std::vector<double> start = start_weights();
  for (std::size_t i = 0; i < size; ++i) out.push_back(step_one(i, start[i]));
  return out;
}

constexpr std::uint64_t steps = 200;
const AdamW::Config adamw{.eta = 1e-3};

TEST_CASE("kahan: 200 steps equal the written-out loop, compensation from w0 - rounded(w0)") {
  const auto expected = by_hand([](std::size_t i, double w0) {
    Moments moments;
    double w = b(w0), c = b(w0 - w);
    for (std::uint64_t t = 1; t <= steps; ++t) {
      const double k = b(c + moments.increment(adamw, t, gradient_at(t, i), false));
      const double old = w;
      w = b(old + k);
      c = b(k - (w - old));
    }
    return w;
  });
  CHECK(weights_after<AdamW>(bf16_plan(Compensation::kahan), adamw, steps) == expected);
  CHECK(weights_after<AdamW>(bf16_plan(Compensation::none), adamw, steps) != expected);
}

TEST_CASE("collage light: Grow with every operation rounded equals the written-out loop") {
  const auto expected = by_hand([](std::size_t i, double w0) {
    Moments moments;
    double w = b(w0), r = b(w0 - w);
    for (std::uint64_t t = 1; t <= steps; ++t) {
      const double u = b(moments.increment(adamw, t, gradient_at(t, i), false));
      const double a = b(w + u);
      r = b(r + b(u - b(a - w)));
      w = b(a + r);
      r = b(r - b(w - a));
    }
    return w;
  });
  CHECK(weights_after<AdamW>(bf16_plan(Compensation::collage_light), adamw, steps) == expected);
}

TEST_CASE("collage plus: the second moment is a pair too") {
  const auto expected = by_hand([](std::size_t i, double w0) {
    double w = b(w0), r = b(w0 - w), m = 0, high = 0, low = 0;
    for (std::uint64_t t = 1; t <= steps; ++t) {
      const double g = gradient_at(t, i);
      const double new_m = adamw.beta1 * m + (1 - adamw.beta1) * g;
      const double new_v = adamw.beta2 * (high + low) + (1 - adamw.beta2) * (g * g);
      m = b(new_m), high = b(new_v), low = b(new_v - high);
      const double c1 = bias_correction(adamw.beta1, t), c2 = bias_correction(adamw.beta2, t);
      const double u = b(-(adamw.eta * (new_m * c1) / (std::sqrt(new_v * c2) + adamw.eps)));
      const double a = b(w + u);
      r = b(r + b(u - b(a - w)));
      w = b(a + r);
      r = b(r - b(w - a));
    }
    return w;
  });
  CHECK(weights_after<AdamW>(bf16_plan(Compensation::collage_plus), adamw, steps) == expected);
}

TEST_CASE("rounded states: the increment comes from what was stored") {
  const auto expected = by_hand([](std::size_t i, double w0) {
    Moments moments;
    double w = b(w0);
    for (std::uint64_t t = 1; t <= steps; ++t) w = b(w + moments.increment(adamw, t, gradient_at(t, i), true));
    return w;
  });
  TensorPlan plan = bf16_plan(Compensation::none);
  const std::vector<double> unrounded = weights_after<AdamW>(plan, adamw, steps);
  plan.states_used = StatesUsed::rounded;
  CHECK(weights_after<AdamW>(plan, adamw, steps) == expected);
  CHECK(unrounded != expected);
}

TEST_CASE("decay with a rounding of its own: never compensated, lost where it is below half an ulp") {
  const AdamW::Config decaying{.eta = 1e-3, .weight_decay = 1};
  const double kept = 1 - 1e-3;
  TensorPlan plan = bf16_plan(Compensation::kahan);
  plan.decay = DecayPlacement::own_rounding;
  const auto expected = by_hand([&](std::size_t i, double w0) {
    Moments moments;
    double w = b(w0), c = b(w0 - w);
    for (std::uint64_t t = 1; t <= steps; ++t) {
      const double decayed = b(w * kept);
      const double k = b(c + moments.increment(decaying, t, gradient_at(t, i), false));
      w = b(decayed + k);
      c = b(k - (w - decayed));
    }
    return w;
  });
  CHECK(weights_after<AdamW>(plan, decaying, steps) == expected);
  // 1e-3 is below the relative half ulp of bf16, at least 1.95e-3: the decay does nothing at all.
  CHECK(weights_after<AdamW>(plan, decaying, steps) == weights_after<AdamW>(bf16_plan(Compensation::kahan), adamw, steps));
  // Fused with the increment and compensated it arrives: what is near 0.5 loses about a fifth in 200 steps.
  const std::vector<double> fused = weights_after<AdamW>(bf16_plan(Compensation::kahan), decaying, steps);
  double with = 0, without = 0;
  for (std::size_t i = 0; i < size; ++i) with += std::fabs(fused[i]), without += std::fabs(expected[i]);
  CHECK(with < 0.95 * without);
}

/// How much of the exact movement arrived: <w - w0, exact - w0> / |exact - w0|^2, 1 if all of it.
template <class Rule>
double progress(const TensorPlan& plan, const typename Rule::Config& config) {
  const std::vector<double> start = start_weights(), w = weights_after<Rule>(plan, config, steps),
                            exact = weights_after<Rule>(parse_scheme("fp64").base, config, steps);
  double dot = 0, square = 0;
  for (std::size_t i = 0; i < size; ++i) {
    dot += (w[i] - start[i]) * (exact[i] - start[i]);
    square += (exact[i] - start[i]) * (exact[i] - start[i]);
  }
  return dot / square;
}

TEST_CASE("kahan and stochastic rounding serve m_adam as they serve adamw") {
  const MAdam::Config config{.eta_a = 1e-4, .eta_m = 1e-4};
  TensorPlan plain = parse_scheme("bf16/fp32").base, kahan = plain, random = plain;
  kahan.compensation = Compensation::kahan;
  random.weights.rounding = stochastic;
  CHECK(progress<MAdam>(plain, config) < 0.7);
  CHECK(std::fabs(progress<MAdam>(kahan, config) - 1) < 0.05);
  CHECK(std::fabs(progress<MAdam>(random, config) - 1) < 0.2);
}

TEST_CASE("a block format can be compensated: the residual is kept in bf16 beside it") {
  for (const char* scheme : {"fp8/fp32", "mxfp4_rceil/fp32"}) {
    CAPTURE(std::string(scheme));
    TensorPlan plain = parse_scheme(scheme).base, kahan = plain;
    kahan.compensation = Compensation::kahan;
    CHECK(*kahan.residual()->format == unscaled(bf16));
    const AdamW::Config config{.eta = 1e-3};
    CHECK(progress<AdamW>(kahan, config) > progress<AdamW>(plain, config) + 0.1);
  }
}

TEST_CASE("compensation: formats that cannot serve are refused") {
  TensorPlan plan = parse_scheme("fp8/fp32").base;
  plan.compensation = Compensation::collage_light;
  CHECK_THROWS_AS(plan.residual(), Error);
  plan = parse_scheme("bf16/fp8").base;
  plan.compensation = Compensation::collage_plus;
  CHECK_THROWS_AS(plan.residual(), Error);
  plan = parse_scheme("bf16/fp32").base;
  plan.compensation = Compensation::kahan;
  plan.compensation_slot = state_slot(parse_format("fp8_tensor"));
  CHECK_THROWS_AS(plan.residual(), Error);
}

TEST_CASE("gradients: each is stored, then their sum, in the formats that the plan names") {
  const TensorInfo info{"w", 0, {size}, 0};
  TensorPlan plan = parse_scheme("fp64").base;
  plan.gradient = state_slot(unscaled(bf16));
  plan.accumulator = state_slot(unscaled(fp16));
  OptimizedTensor<AdamW, double> tensor(info, plan, start_weights());
  OptimizedTensor<AdamW, double>::Gradients sum;
  const StepInfo now{1, 1.0, 0};
  const auto view = tensor.look(adamw, now, -1);
  for (int part = 0; part < 4; ++part)
    tensor.pull_back(adamw, now, view, gradients_at(static_cast<std::uint64_t>(part)), 0.25, part, sum);
  for (std::size_t i = 0; i < size; ++i) {
    double expected = 0;
    for (std::uint64_t part = 0; part < 4; ++part)
      expected = round(expected + 0.25 * b(gradient_at(part, i)), fp16, nearest_even, 0);
    CHECK(sum[0][i] == expected);
  }
}

TEST_CASE("a compensated slot is probed on weight plus compensation") {
  const TensorInfo info{"w", 0, {1}, 0};
  TensorPlan plan = parse_scheme("bf16/fp32").base;
  plan.compensation = Compensation::kahan;
  OptimizedTensor<test::Additive, double> tensor(info, plan, std::vector<double>{1.0});
  for (std::uint64_t t = 1; t <= 64; ++t) {
    test::Recorder<double> recorder;
    tensor.step({}, {t, 1.0, 0}, {std::vector<double>{0x1p-12}}, nullptr, recorder);
    const auto& seen = recorder.tiles.at(0);
    // w + c = 1 + k 2^-12 exactly: nothing is lost, though the weight itself moves but now and then.
    CHECK(seen.before[0] == 1 + static_cast<double>(t - 1) * 0x1p-12);
    CHECK(seen.wanted[0] == seen.before[0] + 0x1p-12);
    CHECK(seen.after[0] == seen.wanted[0]);
    CHECK(seen.multiplier.empty());
  }
}

}  // namespace
}  // namespace halfulp
