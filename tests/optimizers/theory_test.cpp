// When a rounded update is lost: thresholds derived on paper, met exactly by stored weights and states.
#include <doctest/doctest.h>

#include "optimizers/all_rules.h"
#include "tests/optimizers/additive_rule.h"

namespace halfulp {
namespace {

/// What one additive step of d makes of w in a scalar format.
double moved(const ScalarFormat& format, double w, double d, RoundingMode mode = RoundingMode::nearest_even) {
  SlotPlan plan = weight_slot(unscaled(format));
  plan.rounding = {mode, 0};
  test::Stored<double> stored(plan, {1}, {w});
  return stored.add({d}).after[0];
}

TEST_CASE("ties: bf16 at 1 and at its odd neighbour") {
  CHECK(moved(bf16, 1, 0x1p-8) == 1);  // tie, even
  CHECK(moved(bf16, 1, 1.001 * 0x1p-8) > 1);
  CHECK(moved(bf16, 1, -0x1p-8) == 1 - 0x1p-8);  // below a power of two the gap halves
  CHECK(moved(bf16, 1, -0x1p-9) == 1);           // tie, even
  CHECK(moved(bf16, 1, -1.01 * 0x1p-9) == 1 - 0x1p-8);
  const double odd = 1.0078125;
  CHECK(moved(bf16, odd, 0x1p-8) == odd + 0x1p-7);  // ties leave an odd mantissa
  CHECK(moved(bf16, odd, -0x1p-8) == 1);
  CHECK(moved(bf16, odd, 0x1p-9) == odd);
  CHECK(moved(bf16, odd, -0x1p-9) == odd);
}

TEST_CASE("ties: directed modes move inward for any update, and outward only for a whole gap") {
  for (const double w : {1.0078125, 3.0, 0x1p-120}) {
    const double gap = w == 3.0 ? 0x1p-6 : w * 0x1p-7 / (w == 0x1p-120 ? 1 : w);
    const double tiny = gap * 0x1p-30;
    CHECK(moved(bf16, w, -tiny, RoundingMode::toward_zero) < w);
    CHECK(moved(bf16, w, gap - tiny, RoundingMode::toward_zero) == w);
    CHECK(moved(bf16, w, gap, RoundingMode::toward_zero) == w + gap);
    CHECK(moved(bf16, -w, tiny, RoundingMode::toward_zero) > -w);
    CHECK(moved(bf16, w, tiny, RoundingMode::up) == w + gap);
  }
  CHECK(moved(bf16, 1, 0x1p-8, RoundingMode::nearest_away) == 1 + 0x1p-7);
}

TEST_CASE("zero: left only by more than half the smallest subnormal, a tie stays") {
  const auto check = [](const ScalarFormat& f, double half) {
    CHECK(f.min_positive() == 2 * half);
    CHECK(moved(f, 0, half) == 0);
    CHECK(moved(f, 0, -half) == 0);
    CHECK(moved(f, 0, std::nextafter(half, 1)) == 2 * half);
  };
  check(e4m3, 0x1p-10);
  check(e5m2, 0x1p-17);
  check(e2m1, 0.25);
  check(e3m2, 0x1p-5);
  check(e2m3, 0.0625);
}

TEST_CASE("adam: with rate 0.001, bf16 weights above 0.5 never move") {
  // |u| is about eta: half a gap is 2^-9 = 1.95e-3 in [0.5, 1), 9.77e-4 in [0.25, 0.5).
  for (const double w0 : {0.51, 0.75, 1.0078125, 3.0, 100.0}) {
    const TensorInfo info{"w", 0, {1}, 0};
    OptimizedTensor<AdamW, double> tensor(info, parse_scheme("bf16/fp32").of(info), std::vector<double>{w0});
    std::vector<double> start(1), end(1);
    tensor.weight(0).load(0, std::span(start));
    NoProbe probe;
    for (std::uint64_t t = 1; t <= 300; ++t)
      tensor.step({}, {t, 1.0, 1}, {{std::vector<double>{1.0}}}, nullptr, probe);
    tensor.weight(0).load(0, std::span(end));
    CHECK(end == start);
  }
}

/// Second moment of AdamW with bf16 states after `steps` of gradient g, from one first step with gradient g0.
double second_moment(double beta2, double g0, double g, int steps, const std::string& scheme = "bf16/bf16") {
  const TensorInfo info{"w", 0, {1}, 0};
  OptimizedTensor<AdamW, double> tensor(info, parse_scheme(scheme).of(info), std::vector<double>{1.0});
  NoProbe probe;
  const AdamW::Config config{.beta2 = beta2};
  std::vector<double> v(1);
  for (int t = 1; t <= steps; ++t) {
    tensor.step(config, {static_cast<std::uint64_t>(t), 1.0, 1}, {std::vector<double>{t == 1 ? g0 : g}},
                nullptr, probe);
  }
  tensor.state(1).load(0, std::span(v));
  return v[0];
}

TEST_CASE("ema freezing: where a bf16 second moment stalls under g^2 = 1") {
  // From 0: v stops rising where (1 - beta2)(1 - v) falls below half a gap of v; .984 .961 .805 .609 .25.
  CHECK(second_moment(0.9, 1, 1, 3000) == 0.984375);
  CHECK(second_moment(0.95, 1, 1, 3000) == 0.9609375);
  CHECK(second_moment(0.99, 1, 1, 3000) == 0.8046875);
  CHECK(second_moment(0.995, 1, 1, 3000) == 0.609375);
  CHECK(second_moment(0.999, 1, 1, 255) < 0.25);
  CHECK(second_moment(0.999, 1, 1, 3000) == 0.25);
  // From 4 (the first gradient makes it): 1.03, 1.08, 1.39, 2.56, and at 0.999 it never moves.
  const auto from_four = [](double beta2) {
    return second_moment(beta2, std::sqrt(4 / (1 - beta2)), 1, 3000);
  };
  CHECK(from_four(0.9) == 1.03125);
  CHECK(from_four(0.95) == 1.078125);
  CHECK(from_four(0.99) == 1.390625);
  CHECK(from_four(0.995) == 2.5625);
  CHECK(from_four(0.999) == 4.0);
  // fp32 states follow: within half a gap over 1 - beta2 (2^-25 / 0.001 = 3e-5) and the initial 0.999^30000.
  CHECK(std::fabs(second_moment(0.999, 1, 1, 30000, "bf16/fp32") - 1) < 1e-4);
}

TEST_CASE("ema freezing: pure decay stops exactly for beta above 1 - 2^-(t+2)") {
  const auto decays = [](double beta2) {
    return second_moment(beta2, std::sqrt(1 / (1 - beta2)), 0, 200) < 1;
  };
  CHECK_FALSE(decays(0.999));
  CHECK_FALSE(decays(0.9985));
  CHECK(decays(0.9975));  // 2^-9 = 0.00195 at a power of two
  CHECK(decays(0.99));
  CHECK(second_moment(0.999, std::sqrt(1000.0), 0, 10000) == 1.0);
}

TEST_CASE("betas are never rounded to the format of the state") {
  // bf16(0.999) = 1 would leave v = 0 for ever; the stored v is 0.001 rounded once.
  CHECK(second_moment(0.999, 1, 1, 1) ==
        decode(bf16, convert(1 - 0.999, bf16, nearest_even, special_values(OverflowPolicy::saturate), 0)));
  // 0.999 and 0.9999, both 1 in bf16 by nearest and both 0.99609375 by truncation, differ from the first step
  // on.
  for (const int steps : {1, 2, 50})
    CHECK(second_moment(0.999, 1, 1, steps) != second_moment(0.9999, 1, 1, steps));
}

/// Elements of the first part that differ after one LMD step under nearest_even, of 128 significands of a
/// binade.
int parts_moved(double alpha, double gradient) {
  const TensorInfo info{"w", 0, {128}, 0};
  TensorPlan plan = parse_scheme("bf16/fp32").of(info);
  std::vector<double> start(128);
  for (std::size_t i = 0; i < 128; ++i) start[i] = 1 + static_cast<double>(i) / 128;
  OptimizedTensor<Lmd, double> tensor(info, plan, start);
  std::vector<double> before(128), after(128);
  tensor.weight(0).load(0, std::span(before));
  NoProbe probe;
  const std::vector<double> g(128, gradient);
  tensor.step({.alpha = alpha}, {1, 1.0, 1}, {g, g}, nullptr, probe);
  tensor.weight(0).load(0, std::span(after));
  int count = 0;
  for (std::size_t i = 0; i < 128; ++i) count += after[i] != before[i];
  return count;
}

TEST_CASE("lmd: below the relative half ulp nothing moves, above it everything does") {
  // bf16: the relative half gap lies in [2^-8 / (2 - 2^-7), 2^-8], and is 2^-9 downward from a power of two.
  for (const double gradient : {1.0, -1.0, 1e-30}) {
    CHECK(parts_moved(0.99 * 0x1p-9, gradient) == 0);
    CHECK(parts_moved(1.01 * 0x1p-8, gradient) == 128);
  }
  CHECK(parts_moved(1.5 * 0x1p-9, 1.0) > 0);
  CHECK(parts_moved(1.5 * 0x1p-9, 1.0) < 128);
  CHECK(parts_moved(0.5, 0.0) == 0);  // sign(0) = 0
}

}  // namespace
}  // namespace halfulp
