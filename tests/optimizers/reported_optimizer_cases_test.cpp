// More of what people met in low-precision optimizers; reports_test has the others.
#include <doctest/doctest.h>

#include "formats/spec.h"
#include "optimizers/all_rules.h"
#include "tests/optimizers/additive_rule.h"

namespace halfulp {
namespace {

SlotPlan in(const ScalarFormat& format, Rounding rounding = nearest_even) {
  SlotPlan plan = weight_slot(unscaled(format));
  plan.rounding = rounding;
  return plan;
}
std::uint32_t code(double x, const ScalarFormat& f, RoundingMode mode = RoundingMode::nearest_even) {
  return convert(x, f, {mode, 0}, special_values(OverflowPolicy::saturate), 0);
}

TEST_CASE("report: beta2 rounded to the parameter type, in every type and both roundings") {
  constexpr auto truncate = RoundingMode::toward_zero;
  CHECK(code(0.999, bf16) == 0x3F80);
  CHECK(code(0.999, bf16, truncate) == 0x3F7F);
  CHECK(code(0.9999, bf16, truncate) == 0x3F7F);
  CHECK(code(0.9, bf16) == 0x3F66);
  CHECK(code(0.999, fp16) == 0x3BFE);
  CHECK(code(0.999, fp16, truncate) == 0x3BFD);
  CHECK(code(0.999, e4m3) == 0x38);
  CHECK(code(0.999, e4m3, truncate) == 0x37);
  CHECK(code(0.999, e5m2) == 0x3C);
  CHECK(code(0.999, e5m2, truncate) == 0x3B);
}

TEST_CASE("report: the smallest epsilon that a type keeps") {
  CHECK(code(1e-8, bf16) == 0x322C);
  for (const ScalarFormat& f : {fp16, e4m3, e5m2}) {
    CHECK(code(1e-8, f) == 0);
    const double half = f.min_positive() / 2;
    CHECK(code(half, f) == 0);
    CHECK(code(std::nextafter(half, 1), f) == 1);
  }
  CHECK(fp16.min_positive() == 0x1p-24);
  CHECK(e4m3.min_positive() == 0x1p-9);
  CHECK(e5m2.min_positive() == 0x1p-16);
  CHECK(code(4.5e-41, bf16) == 0);  // half of 2^-133 is 4.59e-41
  CHECK(code(4.7e-41, bf16) == 1);
}

TEST_CASE("report: decay with a rounding of its own is lost for every bf16 weight below a rate of 2^-9") {
  std::vector<double> start;
  for (int i = 0; i < 128; ++i) start.push_back(1 + i / 128.0);
  const TensorInfo info{"w", 0, {128}, 0};
  const auto after = [&](double rate, DecayPlacement placement, Rounding rounding, int steps) {
    TensorPlan plan = parse_scheme("bf16/fp32").of(info);
    plan.decay = placement;
    plan.weights.rounding = rounding;
    OptimizedTensor<AdamW, double> tensor(info, plan, start);
    NoProbe probe;
    for (int t = 1; t <= steps; ++t)
      tensor.step({.eta = rate, .weight_decay = 1}, {static_cast<std::uint64_t>(t), 1.0, 3},
                  {std::vector<double>(128)}, nullptr, probe);
    std::vector<double> w(128);
    tensor.weight(0).load(0, std::span(w));
    return w;
  };
  CHECK(after(1e-5, DecayPlacement::own_rounding, nearest_even, 50) == start);
  CHECK(after(1.9e-3, DecayPlacement::own_rounding, nearest_even, 50) == start);
  // Just above, 1 = 2^0 decays alone, half a gap below it being 2^-9; w = 1 + i / 128 needs w rate > 2^-8.
  const std::vector<double> one = after(1.96e-3, DecayPlacement::own_rounding, nearest_even, 1);
  CHECK(one[0] == 1 - 0x1p-8);
  for (std::size_t i = 1; i < 128; ++i) CHECK((one[i] != start[i]) == (start[i] * 1.96e-3 > 0x1p-8));
  CHECK(code(1 - 1e-5, bf16) == 0x3F80);
}

TEST_CASE("report: fused with a gradient step, decay is not lost but shifts the sum") {
  // Below 1 numbers are 2^-8 apart. The gradient alone asks for 1 - 2^-8 - (2^-9 - 2^-11), nearest 1 - 2^-8; with a
  // decay of 2^-10 for 1 - 2^-8 - (2^-9 + 2^-11), nearest 1 - 2^-7. By itself 1 - 2^-10 is stored as 1.
  const TensorInfo info{"w", 0, {1}, 0};
  const auto after = [&](double rate, DecayPlacement placement, double eta) {
    TensorPlan plan = parse_scheme("bf16/fp32").of(info);
    plan.decay = placement;
    OptimizedTensor<Sgd, double> tensor(info, plan, std::vector<double>{1.0});
    NoProbe probe;
    tensor.step({.eta = eta, .weight_decay = rate / eta}, {1, 1.0, 3}, {std::vector<double>{1.0}}, nullptr,
                probe);
    std::vector<double> w(1);
    tensor.weight(0).load(0, std::span(w));
    return w[0];
  };
  const double step = 0x1p-8 + 0x1p-9 - 0x1p-11;
  CHECK(after(0, DecayPlacement::fused, step) == 1 - 0x1p-8);
  CHECK(after(0x1p-10, DecayPlacement::fused, step) == 1 - 0x1p-7);
  CHECK(after(0x1p-10, DecayPlacement::own_rounding, step) == 1 - 0x1p-8);
}

/// 1 + k 2^-12 in bf16 with a Kahan compensation in bf16.
struct KahanSum {
  TensorInfo info{"w", 0, {1}, 0};
  OptimizedTensor<test::Additive, double> tensor;
  std::uint64_t t = 0;

  static TensorPlan plan(Compensation kind) {
    TensorPlan plan = test::weights_in(in(bf16));
    plan.compensation = kind;
    return plan;
  }
  explicit KahanSum(Compensation kind, double start = 1)
      : tensor(info, plan(kind), std::vector<double>{start}) {}

  void add() {
    NoProbe probe;
    tensor.step({}, {++t, 1.0, 1}, {std::vector<double>{0x1p-12}}, nullptr, probe);
  }
  /// Weight, and compensation if there is one.
  std::vector<double> values() const {
    std::vector<double> all;
    tensor.for_each_slot([&](const Slot<double>& slot) {
      double x = 0;
      slot.load(0, std::span(&x, 1));
      all.push_back(x);
    });
    return all;
  }
};

TEST_CASE("report: 1024 additions of 2^-12 to 1 in bf16, without and with Kahan compensation") {
  KahanSum none(Compensation::none);
  for (int k = 1; k <= 1024; ++k) none.add();
  CHECK(none.values() == std::vector<double>{1});

  // Half a gap above 1 is 16 * 2^-12: a tie at 16 stays at the even 1.0, 17 moves; from then on ties leave the odd
  // code.
  KahanSum kahan(Compensation::kahan);
  std::vector<int> moves;
  double before = 1;
  for (int k = 1; k <= 1024; ++k) {
    kahan.add();
    const std::vector<double> now = kahan.values();
    CHECK(now[0] + now[1] == 1 + k * 0x1p-12);
    if (now[0] != before) moves.push_back(k);
    before = now[0];
  }
  CHECK(kahan.values() == std::vector<double>{1.25, 0});
  REQUIRE(moves.size() >= 5);
  CHECK(std::vector<int>(moves.begin(), moves.begin() + 5) == std::vector<int>{17, 48, 81, 112, 145});
}

TEST_CASE("report: a Kahan compensation that is dropped after 10 steps is 10 steps lost") {
  // The weight is 1 still: to drop the buffer is to start again from it.
  KahanSum kahan(Compensation::kahan);
  for (int k = 1; k <= 10; ++k) kahan.add();
  REQUIRE(kahan.values()[0] == 1);
  KahanSum again(Compensation::kahan);
  int first_move = 0;
  for (int k = 11; k <= 1024; ++k) {
    again.add();
    if (!first_move && again.values()[0] != 1) first_move = k;
  }
  CHECK(first_move == 27);
  CHECK(again.values()[0] + again.values()[1] == 1.24755859375);
}

TEST_CASE("report: a Kahan compensation starts with what the weight could not hold") {
  for (const double start : {1.001, 0.3, -2.7}) {
    const std::vector<double> w = KahanSum(Compensation::kahan, start).values();
    const double rounded = decode(bf16, code(start, bf16));
    CHECK(w == std::vector<double>{rounded, decode(bf16, code(start - rounded, bf16))});
  }
}

TEST_CASE("report: an average of weights in double arrives where 16 bits stay") {
  test::Stored<double> ema(SlotPlan{unrounded_slot}, {1}, {1.0});
  for (int t = 0; t < 10000; ++t) ema.add({(1 - 0.9999) * (1.1 - ema.values()[0])});
  CHECK(std::fabs(ema.values()[0] - 1.063214) < 5e-7);
}

TEST_CASE("report: a thousand additions of 0.001, mean of 400 runs") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    test::Stored<double> w(in(bf16, stochastic), {400}, std::vector<double>(400, 1.0));
    NoProbe probe;
    for (std::uint64_t t = 1; t <= 1000; ++t)
      w.tensor.step({}, {t, 1.0, seed}, {std::vector<double>(400, 0.001)}, nullptr, probe);
    double mean = 0;
    for (const double x : w.values()) mean += x / 400;
    CHECK(std::fabs(mean - 2) < 0.02);  // 4.8 of its standard deviations 0.083 / 20
  }
}

TEST_CASE("report: multiplicative steps of exp(-0.1) move every bf16 significand") {
  const TensorInfo info{"w", 0, {128}, 0};
  std::vector<double> start;
  for (int i = 0; i < 128; ++i) start.push_back(1 + i / 128.0);
  OptimizedTensor<Madam, double> tensor(info, parse_scheme("bf16/fp32").of(info), start);
  NoProbe probe;
  tensor.step({.eta = 0.1}, {1, 1.0, 1}, {std::vector<double>(128, 1.0)}, nullptr, probe);
  std::vector<double> after(128);
  tensor.weight(0).load(0, std::span(after));
  for (std::size_t i = 0; i < 128; ++i) CHECK(after[i] != start[i]);
}

TEST_CASE("report: the e5m2 significand that both exp(-0.1) and exp(0.1) leave") {
  // 1.25: its half gaps of 1/8 are 10 % of it, above 1 - exp(-0.1) = 9.5 %; 1.75 exp(0.1) = 1.934 is in reach of 2,
  // 1.25 exp(0.1) = 1.381 passes 1.375, and 1 exp(0.1) = 1.105 stays below 1.125.
  const auto times = [](double w, double x) { return decode(e5m2, code(w * std::exp(x), e5m2)); };
  CHECK(times(1.25, -0.1) == 1.25);
  CHECK(times(1, 0.1) == 1);
  for (const double w : {1.0, 1.5, 1.75}) CHECK(times(w, -0.1) != w);
  for (const double w : {1.25, 1.5, 1.75}) CHECK(times(w, 0.1) != w);
}

}  // namespace
}  // namespace halfulp
