// What people met in other low-precision optimizers, and the right answers here.
#include <doctest/doctest.h>

#include "formats/spec.h"
#include "optimizers/all_rules.h"
#include "tests/optimizers/additive_rule.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

SlotPlan in(const ScalarFormat& format, Rounding rounding = nearest_even) {
  SlotPlan plan = weight_slot(unscaled(format));
  plan.rounding = rounding;
  return plan;
}
double to_format(double x, const ScalarFormat& f, RoundingMode mode = RoundingMode::nearest_even) {
  return decode(f, convert(x, f, {mode, 0}, special_values(OverflowPolicy::saturate), 0));
}

/// Share of all random integers for which x is stored as `code`.
double probability(const ScalarFormat& f, double x, std::uint32_t code) {
  int hits = 0;
  for (std::uint32_t r = 0; r < 65536; ++r)
    hits += convert(x, f, stochastic, special_values(OverflowPolicy::saturate), r) == code;
  return hits / 65536.0;
}
constexpr double bits_error = 0x1p-17;  // sixteen random bits give a probability to half of 2^-16

/// A rule on a few weights in double.
template <class Rule>
struct Run {
  TensorInfo info;
  OptimizedTensor<Rule, double> tensor;
  typename Rule::Config config;

  Run(const TensorPlan& plan, const std::vector<double>& start, typename Rule::Config c = {})
      : info{"w", 0, {start.size()}, 0}, tensor(info, plan, start), config(c) {}
  void steps(int count, const std::vector<double>& gradient, int from = 1) {
    NoProbe probe;
    for (int t = from; t < from + count; ++t)
      tensor.step(config, {static_cast<std::uint64_t>(t), 1.0, 9}, {gradient}, nullptr, probe);
  }
  std::vector<double> weights() const { return read(tensor.weight(0)); }
  std::vector<double> state(std::size_t slot) const { return read(tensor.state(slot)); }

 private:
  static std::vector<double> read(const Slot<double>& slot) {
    std::vector<double> out(slot.size());
    slot.load(0, std::span(out));
    return out;
  }
};

TensorPlan plan_of(const std::string& scheme) { return parse_scheme(scheme).of({"w", 0, {1}, 0}); }

TEST_CASE("report: bf16 weights of 1 never move by steps of 6e-4") {
  test::Stored<double> w(in(bf16), {768}, std::vector<double>(768, 1.0));
  NoProbe probe;
  const std::array<std::vector<double>, 1> step{std::vector<double>(768, -6e-4)};
  for (std::uint64_t t = 1; t <= 100; ++t) w.tensor.step({}, {t, 1.0, 1}, step, nullptr, probe);
  CHECK(w.values() == std::vector<double>(768, 1.0));
  CHECK(std::fabs(probability(bf16, 1 - 6e-4, 0x3F7F) - 96.0 / 625) <= bits_error);
  CHECK(std::fabs(probability(bf16, 1 - 6e-4, 0x3F80) - 529.0 / 625) <= bits_error);
  // e4m3 at 1: down 2^-5, up 2^-4 stick, the next doubles move.
  for (const double d : {-0x1p-5, 0x1p-4}) {
    test::Stored<double> stuck(in(e4m3), {1}, {1.0}), free(in(e4m3), {1}, {1.0});
    CHECK(stuck.add({d}).after[0] == 1);
    CHECK(free.add({1.0000001 * d}).after[0] != 1);
  }
}

TEST_CASE("report: betas rounded to the parameter type would be other numbers") {
  CHECK(to_format(0.999, bf16) == 1);
  CHECK(to_format(0.999, bf16, RoundingMode::toward_zero) == 0.99609375);
  CHECK(to_format(0.9999, bf16, RoundingMode::toward_zero) == 0.99609375);
  CHECK(to_format(0.999, fp16) == 0.9990234375);
  CHECK(to_format(0.999, e4m3) == 1);
  CHECK(to_format(0.999, e5m2, RoundingMode::toward_zero) == 0.875);
  for (const char* scheme : {"fp32", "bf16/bf16"}) {
    Run<AdamW> a(plan_of(scheme), {1.0}, {.eta = 0.1, .beta2 = 0.999});
    Run<AdamW> b(plan_of(scheme), {1.0}, {.eta = 0.1, .beta2 = 0.9999});
    for (int t = 1; t <= 20; ++t) {
      a.steps(1, {t % 2 ? 1.0 : 0.1}, t);
      b.steps(1, {t % 2 ? 1.0 : 0.1}, t);
    }
    CHECK(a.weights() != b.weights());
  }
}

/// Significands of a binade of which a second moment stays under v <- round(beta2 v), by whole steps of
/// AdamW.
int frozen(const ScalarFormat& format, double beta2) {
  const int count = 1 << format.fraction_bits;
  TensorPlan plan = plan_of("bf16/fp32");
  plan.second_moment = in(format);
  std::vector<double> first;
  for (int i = 0; i < count; ++i) first.push_back(std::sqrt((1 + i / double(count)) / (1 - beta2)));
  Run<AdamW> run(plan, std::vector<double>(first.size(), 1.0), {.beta2 = beta2});
  run.steps(1, first);
  const std::vector<double> before = run.state(1);
  for (int i = 0; i < count; ++i) REQUIRE(before[static_cast<std::size_t>(i)] == 1 + i / double(count));
  run.steps(1, std::vector<double>(first.size(), 0.0), 2);
  const std::vector<double> after = run.state(1);
  int same = 0;
  for (std::size_t i = 0; i < before.size(); ++i) same += before[i] == after[i];
  return same;
}

TEST_CASE("report: a narrow second moment cannot decay") {
  CHECK(frozen(bf16, 0.999) == 128);
  CHECK(frozen(bf16, 0.99) == 0);
  CHECK(frozen(bf16, 0.95) == 0);
  CHECK(frozen(bf16, 0.9) == 0);
  CHECK(frozen(e4m3, 0.999) == 8);
  CHECK(frozen(e4m3, 0.99) == 8);
  CHECK(frozen(e4m3, 0.95) == 2);
  CHECK(frozen(e4m3, 0.9) == 0);
  CHECK(frozen(e5m2, 0.999) == 4);
  CHECK(frozen(e5m2, 0.99) == 4);
  CHECK(frozen(e5m2, 0.95) == 4);
  CHECK(frozen(e5m2, 0.9) == 0);
}

TEST_CASE("report: epsilon survives narrow states, and a zero gradient moves nothing") {
  // eps = 1e-8 is 0 in fp16, e4m3 and e5m2; the denominator is formed in the rule's numbers instead.
  for (const ScalarFormat& state : {fp16, bf16, e4m3, e5m2}) {
    TensorPlan plan = plan_of("bf16/fp32");
    plan.first_moment = plan.second_moment = in(state);
    Run<AdamW> adamw(plan, {1, -2, 0.5});
    adamw.steps(3, {0, 0, 0});
    CHECK(adamw.weights() == std::vector<double>{1, -2, 0.5});
    Run<MAdam> m_adam(plan, {1, -2, 0.5});
    m_adam.steps(3, {0, 0, 0});
    CHECK(m_adam.weights() == std::vector<double>{1, -2, 0.5});
    Run<Madam> madam(plan, {1, -2, 0.5});
    madam.steps(3, {0, 0, 0});
    CHECK(madam.weights() == std::vector<double>{1, -2, 0.5});
  }
  CHECK(to_format(1e-8, fp16) == 0);
  CHECK(to_format(std::nextafter(0x1p-25, 1), fp16) > 0);
  CHECK(to_format(0x1p-25, fp16) == 0);
}

TEST_CASE("report: epsilon is added after the root") {
  const AdamW::Config config{.eta = 1.0, .eps = 1e-8};
  std::array<double, 2> state{};
  const auto c = AdamW::scalars<double>(config, {1}, {1, 1.0, 0});
  const double zero = update_of<AdamW>(c, std::array{1.0}, std::array{0.0}, state)[0];
  CHECK(zero == 0);
  // v = 0 with a gradient of 1e-170, whose square underflows: m^ / eps, not infinity.
  state = {};
  const double tiny = update_of<AdamW>(c, std::array{1.0}, std::array{1e-170}, state)[0];
  CHECK(std::isfinite(tiny));
}

TEST_CASE("report: a second moment that is flushed makes the next step thousands of times too large") {
  // v = 1e-9, m = 3e-5: 3e-5 / (sqrt(1e-9) + 1e-8) = 0.9484; with fp16(v) = 0 it is 3e-5 / 1e-8 = 3000.
  CHECK(to_format(1e-9, fp16) == 0);
  CHECK(std::fabs(3e-5 / (std::sqrt(1e-9) + 1e-8) - 0.9484) < 5e-5);
  // The default fp8 second moment (e5m2, one scale per 256) keeps 2^-31 of the largest, e4m3 2^-17.
  const auto kept = [](const char* name) {
    std::vector<double> first(256, std::sqrt(1000.0));
    first[7] = std::sqrt(1000 * 0x1p-25);
    TensorPlan plan = plan_of("bf16/fp32");
    plan.second_moment = state_slot(parse_format(name));
    Run<AdamW> run(plan, std::vector<double>(256, 1.0), {.beta2 = 0.999});
    run.steps(1, first);
    return run.state(1)[7] > 0;
  };
  CHECK(kept("fp8_block256_e5m2"));
  CHECK_FALSE(kept("fp8_block256"));
}

TEST_CASE("report: zero is stored as zero beside large numbers") {
  for (const char* scheme : {"bf16/fp8", "fp8/fp8", "nvfp4/fp8", "mxfp4_rceil/fp8"}) {
    CAPTURE(scheme);
    TensorPlan plan = parse_scheme(scheme).of({"w", 0, {2, 16}, 0});
    std::vector<double> start(32, 0.0), gradient(32, 0.0);
    start[0] = 1, gradient[0] = -1, gradient[1] = 1e-3;
    Run<AdamW> run(plan, start);
    run.steps(500, gradient);
    for (std::size_t i = 2; i < 32; ++i) {
      CHECK(run.state(0)[i] == 0);
      CHECK(run.weights()[i] == 0);
    }
  }
}

TEST_CASE("report: weight decay is fused with the step and rounded once") {
  Run<AdamW> run(plan_of("bf16/fp32"), {1.0}, {.eta = 1e-3, .weight_decay = 0.01});
  run.steps(50, {0});
  CHECK(run.weights()[0] == 1);  // 1e-5 is below half an ulp: stagnation, visible as such
  CHECK(std::fabs(probability(bf16, 1 - 1e-5, 0x3F7F) - 8.0 / 3125) <= bits_error);

  TensorPlan plan = plan_of("bf16/fp32");
  plan.weights.rounding = stochastic;
  constexpr std::size_t count = 4096;
  Run<AdamW> many(plan, std::vector<double>(count, 1.0), {.eta = 1e-3, .weight_decay = 0.01});
  many.steps(1000, std::vector<double>(count, 0.0));
  double mean = 0;
  for (const double w : many.weights()) mean += w / count;
  // (1 - 1e-5)^1000 = 0.99005. One step has variance <= 1e-5 * 2^-8; the bits err by 2^-17 * 2^-8 a step.
  const double sigma = std::sqrt(1000 * 1e-5 * 0x1p-8);
  CHECK(std::fabs(mean - 0.99005) < 4 * sigma / std::sqrt(double(count)) + 1000 * 0x1p-25);
}

TEST_CASE("report: multiplicative updates keep zeros and signs") {
  for (const char* scheme : {"fp64", "bf16/fp32", "e4m3/fp32", "fp8/fp8"}) {
    CAPTURE(scheme);
    TensorPlan plan = plan_of(scheme);
    if (plan.weights.format && plan.weights.format->has_scale())
      plan.weights.scale = {ScalePolicyKind::keep, 0};
    Run<Madam> run(plan, {0.0, -0.0, 0x1p-9, 0.5, -0.5}, {.eta = 0.01});
    for (int t = 1; t <= 1000; ++t) {
      run.steps(1, {1, -1, 1000, 1, -1}, t);
      const std::vector<double> w = run.weights();
      CHECK((w[0] == 0 && !std::signbit(w[0])));
      CHECK((w[1] == 0 && std::signbit(w[1])));
      CHECK(w[2] >= 0);
      CHECK(w[3] >= 0);
      CHECK(w[4] <= 0);
    }
  }
}

TEST_CASE("report: without an update a negative zero stays negative") {
  for (const double g : {1.0, -1.0, 0.0}) {
    Run<Madam> madam(plan_of("bf16/fp32"), {-0.0});
    madam.steps(3, {g});
    CHECK(std::signbit(madam.weights()[0]));
  }
  Run<AdamW> adamw(plan_of("bf16/fp32"), {-0.0});
  adamw.steps(3, {0.0});
  CHECK(std::signbit(adamw.weights()[0]));
}

TEST_CASE("report: multiplicative steps smaller than half an ulp freeze a whole binade") {
  const auto still = [](const ScalarFormat& f, double exponent) {
    const int count = 1 << f.fraction_bits;
    std::vector<double> start;
    for (int i = 0; i < count; ++i) start.push_back(1 + i / double(count));
    TensorPlan plan = plan_of("bf16/fp32");
    plan.weights = in(f);
    Run<Madam> run(plan, start, {.eta = std::fabs(exponent)});
    run.steps(1, std::vector<double>(start.size(), exponent < 0 ? 1.0 : -1.0));  // n = +-1 at the first step
    int same = 0;
    for (std::size_t i = 0; i < start.size(); ++i) same += run.weights()[i] == start[i];
    return same;
  };
  CHECK(still(e4m3, -0.01) == 8);
  CHECK(still(e5m2, -0.01) == 4);
  CHECK(still(bf16, -0.01) == 0);
  CHECK(still(e4m3, 0.01) == 8);
  CHECK(still(e5m2, 0.01) == 4);
  CHECK(still(bf16, 0.01) == 0);
  CHECK(still(e4m3, -0.1) == 0);
  CHECK(still(e5m2, -0.1) == 1);
  CHECK(still(e4m3, 0.1) == 0);
  CHECK(still(e5m2, 0.1) == 1);
  CHECK(still(bf16, 0.1) == 0);
  CHECK(std::fabs(probability(e4m3, 1.875 * std::exp(-0.01), 0x3E) - 0.149252) <= bits_error + 5e-7);
}

TEST_CASE("report: zero absorbs multiplicative updates under stochastic rounding") {
  CHECK(std::fabs(probability(e4m3, 0.99 * 0x1p-9, 0x00) - 0.01) <= bits_error);
  CHECK(convert(0.4 * 0x1p-9, e4m3, nearest_even, special_values(OverflowPolicy::saturate), 0) == 0x00);
  CHECK(convert(0.99 * 0x1p-9, e4m3, nearest_even, special_values(OverflowPolicy::saturate), 0) == 0x01);
  // From 2^-9 by 0.99 a step, 100 steps: 1 - 0.99^100 = 0.634 are trapped, and none returns.
  constexpr std::size_t count = 4000;
  TensorPlan plan = plan_of("bf16/fp32");
  plan.weights = in(e4m3, stochastic);
  Run<Madam> run(plan, std::vector<double>(count, 0x1p-9), {.eta = -std::log(0.99)});
  std::size_t trapped = 0;
  for (int t = 1; t <= 100; ++t) {
    run.steps(1, std::vector<double>(count, 1.0), t);
    std::size_t zeros = 0;
    for (const double w : run.weights()) zeros += w == 0;
    CHECK(zeros >= trapped);
    trapped = zeros;
  }
  // Binomial, 4 sigma; n is 1 to a few ulp, the bits move the share by 100 * 2^-17.
  const double share = 1 - std::pow(0.99, 100), sigma = std::sqrt(share * (1 - share) / count);
  CHECK(std::fabs(static_cast<double>(trapped) / count - share) < 4 * sigma + 100 * 0x1p-17);
}

TEST_CASE("report: an average of weights kept in 16 bits never follows") {
  for (const ScalarFormat& f : {bf16, fp16}) {
    test::Stored<double> ema(in(f), {1}, {1.0});
    for (int t = 0; t < 10000; ++t) {
      const double now = ema.values()[0];
      ema.add({(1 - 0.9999) * (1.1 - now)});
    }
    CHECK(ema.values()[0] == 1);
  }
}

TEST_CASE("report: one addition of 0.001 to 1 in bf16 moves with probability 16/125") {
  CHECK(std::fabs(probability(bf16, 1.001, 0x3F81) - 16.0 / 125) <= bits_error);
  CHECK(std::fabs(probability(bf16, 1.001, 0x3F80) - 109.0 / 125) <= bits_error);
}

TEST_CASE("report: states smaller than a block") {
  const std::vector<std::size_t> sizes{1, 5, 255, 256, 257, 300}, scales{1, 1, 1, 1, 2, 2};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Run<AdamW> run(plan_of("bf16/fp8"), std::vector<double>(sizes[i], 1.0));
    const auto layout = [&] {
      const Tensor& state = run.tensor.state(0).tensor();
      return std::pair(state.block_count(), state.format().shape.columns);
    };
    CHECK(layout() == std::pair(scales[i], std::size_t{256}));
    run.steps(3, std::vector<double>(sizes[i], 0.0));
    CHECK(layout() == std::pair(scales[i], std::size_t{256}));
    CHECK(run.state(0) == std::vector<double>(sizes[i], 0.0));
    CHECK(run.weights() == std::vector<double>(sizes[i], 1.0));
    run.steps(1, std::vector<double>(sizes[i], 1.0), 4);
    CHECK(run.state(1)[0] > 0);
  }
}

TEST_CASE("report: crossing zero in fp4") {
  test::Stored<double> w(in(e2m1), {1}, {0.5});
  for (int t = 0; t < 5; ++t) CHECK(w.add({-0.1}).after[0] == 0.5);
  CHECK(w.add({-0.25}).after[0] == 0);  // a tie to even
  for (int t = 0; t < 5; ++t) CHECK(w.add({-0.1}).after[0] == 0);
  test::Stored<double> zero(in(e2m1), {1}, {0.0});
  CHECK(zero.add({-0.25}).after[0] == 0);
  CHECK(zero.tensor.weight(0).tensor().code(0) == 0x8);
  CHECK(std::fabs(probability(e2m1, 0.4, 0x0) - 0.2) <= bits_error);
  CHECK(std::fabs(probability(e2m1, 0.4, 0x1) - 0.8) <= bits_error);
  CHECK(std::fabs(probability(e2m1, -0.1, 0x8) - 0.8) <= bits_error);
  CHECK(std::fabs(probability(e2m1, -0.1, 0x9) - 0.2) <= bits_error);
}

}  // namespace
}  // namespace halfulp
