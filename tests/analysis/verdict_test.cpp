// Verdicts on numbers worked by hand, and over real steps against the counters of the same steps.
#include "analysis/verdict.h"

#include <doctest/doctest.h>

#include "analysis/step_recorder.h"
#include "formats/spec.h"
#include "optimizers/all_rules.h"
#include "optimizers/step.h"
#include "tests/analysis/representable.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

using Kind = VerdictKind;
using Cause = StagnationCause;
using test::moved;

SlotPlan plan_of(const ScalarFormat& f, Rounding rounding = nearest_even) {
  SlotPlan plan = weight_slot(unscaled(f));
  plan.rounding = rounding;
  return plan;
}

std::string text_of(const ElementStep& e, const SlotPlan& plan) {
  return describe(verdict_of(e, plan), e, plan);
}

TEST_CASE("verdict: bf16, nearest even") {
  const SlotPlan plan = plan_of(bf16);
  // Above 4 the gap is 2^-5, below it 2^-6.
  const ElementStep down = moved(bf16, 4, -1e-3, 4), up = moved(bf16, 4, 1e-3, 4);
  CHECK(verdict_of(down, plan).kind == Kind::stays);
  CHECK(verdict_of(down, plan).cause == Cause::below_half_gap);
  CHECK(verdict_of(down, plan).half_gap == 0x1p-7);
  CHECK(verdict_of(up, plan).half_gap == 0x1p-6);
  CHECK(text_of(down, plan) == "stays: |update| 0.001 < half gap 7.8e-3 downwards");
  CHECK(text_of(up, plan) == "stays: |update| 0.001 < half gap 1.6e-2 upwards");
  // Two digits would read 7.8e-3 < 7.8e-3.
  CHECK(text_of(moved(bf16, 4, -0.0078, 4), plan) == "stays: |update| 7.80e-3 < half gap 7.81e-3 downwards");
  CHECK(text_of(moved(bf16, 4, -0x1p-7, 4), plan) ==
        "stays: |update| 7.8e-3 = half gap 7.8e-3 downwards: a tie, which nearest_even leaves");
  CHECK(text_of(moved(bf16, 1, 0x1p-6, 1 + 0x1p-6), plan) ==
        "moves: after - before = 1.6e-2 (wanted 1.6e-2)");
  CHECK(text_of(moved(bf16, 1, 4.5, 5.5), plan) == "moves: after - before = 4.5 (wanted 4.5)");
  CHECK(text_of(moved(bf16, 1, 0, 1), plan) == "no update");
  CHECK(text_of(moved(bf16, 4, 1e-30, 4), plan) ==
        "stays: |update| 1e-30 < half gap 1.6e-2 upwards: already before + update is before");
}

TEST_CASE("verdict: directed modes, ends of the format, NaN") {
  const SlotPlan inward = plan_of(bf16, parse_rounding("toward_zero"));
  CHECK(text_of(moved(bf16, 1, 0.005, 1), inward) ==
        "stays: |update| 0.005 > half gap 3.9e-3 upwards, and toward_zero keeps it");
  const SlotPlan plan = plan_of(e4m3);
  const ElementStep top = moved(e4m3, 448, 100, 448), bottom = moved(e4m3, -448, -100, -448);
  CHECK(verdict_of(top, plan).kind == Kind::saturated);
  CHECK_FALSE(verdict_of(top, plan).half_gap);
  CHECK(text_of(top, plan) ==
        "saturates at the largest number: |update| 100 upwards, and no number lies above");
  CHECK(text_of(bottom, plan) ==
        "saturates at the lowest number: |update| 100 downwards, and no number lies below");
  CHECK(text_of(moved(e4m3, NAN, 1, NAN), plan) == "not finite");
}

TEST_CASE("verdict: zero") {
  const SlotPlan plan = plan_of(e2m1);
  // Gap 0.5 on both sides of zero; moved() has a gradient of -1.
  ElementStep e = moved(e2m1, 0, 0.125, 0);
  CHECK(verdict_of(e, plan).kind == Kind::trapped_at_zero);
  CHECK(text_of(e, plan) == "trapped at zero: |update| 0.125 < half gap 0.25 upwards");
  e.gradient = 0;
  CHECK(verdict_of(e, plan).kind == Kind::stays);
  CHECK(text_of(e, plan) == "stays at zero: |update| 0.125 < half gap 0.25 upwards");
  // A multiplicative rule asks for nothing there.
  const ElementStep madam = moved(e2m1, 0, 0, 0);
  CHECK(verdict_of(madam, plan).kind == Kind::trapped_at_zero);
  CHECK(text_of(madam, plan) == "trapped at zero: no update, though the gradient is -1");
  const ElementStep near = moved(e2m1, 0.5, 0.125, 0.5);
  CHECK(verdict_of(near, plan).trapped);
  CHECK(text_of(near, plan) ==
        "stays: |update| 0.125 < half gap 0.25 upwards; trapped near zero: still no more than the smallest "
        "positive number");
  ElementStep dead = moved(e2m1, 0, 0.125, 0);
  dead.grid->multiplier = 0;
  CHECK(text_of(dead, plan) == "trapped at zero: |update| 0.125 upwards, and the scale of its block is 0");
}

TEST_CASE("verdict: sign flips and scales") {
  const SlotPlan plan = plan_of(e2m1);
  // From 1 over zero to -0.25, yet 0.5 was stored.
  ElementStep flip = moved(e2m1, 1, -1.25, 0.5);
  CHECK(verdict_of(flip, plan).kind == Kind::sign_flip_refused);
  CHECK(text_of(flip, plan) == "sign flip refused: wanted -0.25, stored 0.5");
  flip.after = 0;  // no sign is left to keep
  CHECK(verdict_of(flip, plan).kind == Kind::moves);
  // The 3 of another scale became a 4, gap 2 upwards: no update asked for it.
  ElementStep carried = moved(e2m1, 3, 0, 4, 2);
  carried.unmoved = 4;
  CHECK(verdict_of(carried, plan).kind == Kind::moved_by_scale);
  CHECK(text_of(carried, plan) ==
        "moved by its scale alone: after - before = 1; no update, though the gradient is -1");
  carried.update = 0.5, carried.wanted = 3.5;
  CHECK(text_of(carried, plan) ==
        "moved by its scale alone: after - before = 1; |update| 0.5 < half gap 1 upwards");
  carried.after = 6;
  CHECK(verdict_of(carried, plan).kind == Kind::moves);
  CHECK(text_of(carried, plan) == "moves: after - before = 3 (wanted 0.5); its scale alone moves it by 1");
}

TEST_CASE("verdict: the probability of the upper neighbour") {
  const SlotPlan plan = plan_of(bf16, stochastic);
  const auto drawn = [&](double before, double update, double after) {
    ElementStep e = moved(bf16, before, update, after);
    e.stochastic = true;
    return e;
  };
  // A quarter of the gap 2^-7 above 1; half of the gap 2^-8 below.
  CHECK(up_probability(drawn(1, 0x1p-9, 1), plan) == 0.25);
  CHECK(up_probability(drawn(1, -0x1p-9, 1), plan) == 0.5);
  CHECK(up_probability(drawn(-1, 0x1p-9, -1), plan) == 0.5);
  CHECK(up_probability(drawn(-1, -0x1p-9, -1), plan) == 0.75);
  CHECK_FALSE(up_probability(drawn(1, 0x1p-7, 1 + 0x1p-7), plan));  // a number of the format
  CHECK_FALSE(up_probability(moved(bf16, 1, 0x1p-9, 1), plan_of(bf16)));
  CHECK(text_of(drawn(1, 0x1p-9, 1), plan) ==
        "stays: |update| 2.0e-3 < half gap 3.9e-3 upwards; up with probability 0.25");
  CHECK(text_of(drawn(1, 0x1.8p-8, 1), plan) ==
        "stays: |update| 5.9e-3 > half gap 3.9e-3 upwards, and the draw kept it; up with probability 0.75");
  CHECK(text_of(drawn(1, 0x1p-9, 1 + 0x1p-7), plan) ==
        "moves: after - before = 7.8e-3 (wanted 2.0e-3); up with probability 0.25");
}

TEST_CASE("verdict: the probability equals the share of all random integers") {
  int seen = 0;
  for (const char* rounding : {"stochastic_a:6", "stochastic_b:6", "stochastic_c:6", "stochastic_odd:6",
                               "stochastic_c:1", "stochastic_equal"})
    for (const ScalarFormat& f : {e2m1, e4m3, e5m2, bf16, int8, ue4m3})
      for (const double multiplier : {1.0, 0.25, 0x1p40})
        for (int i = -40; i <= 40; ++i) {
          const SlotPlan plan = plan_of(f, parse_rounding(rounding));
          if (i < 0 && !f.is_signed) continue;
          ElementStep e = moved(f, 0, i * 0.0377 * multiplier, 0, multiplier);
          e.stochastic = true;
          const Converter convert(f, plan.rounding, special_values(plan.overflow));
          const std::uint32_t draws = 1u << plan.rounding.random_bits;
          double largest = -INFINITY, smallest = INFINITY;
          for (std::uint32_t r = 0; r < draws; ++r) {
            largest = std::fmax(largest, convert.value(e.wanted / multiplier, r));
            smallest = std::fmin(smallest, convert.value(e.wanted / multiplier, r));
          }
          std::uint32_t up = 0;
          for (std::uint32_t r = 0; r < draws; ++r) up += convert.value(e.wanted / multiplier, r) == largest;
          const std::optional<double> p = up_probability(e, plan);
          CAPTURE(rounding);
          CAPTURE(e.wanted);
          REQUIRE(p.has_value() == (largest != smallest));
          if (p) REQUIRE(*p == static_cast<double>(up) / draws);
          seen += p.has_value();
        }
  CHECK(seen > 1000);
}

struct Tally {
  std::array<std::uint64_t, verdict_kind_names.size()> kinds{};
  std::array<std::uint64_t, stagnation_cause_names.size()> causes{};
  std::uint64_t trapped = 0, words = 0;

  void add(const ElementStep& e, const SlotPlan& plan) {
    const Verdict verdict = verdict_of(e, plan);
    ++kinds[static_cast<std::size_t>(verdict.kind)];
    if (verdict.cause) ++causes[static_cast<std::size_t>(*verdict.cause)];
    trapped += verdict.trapped;
    words += !describe(verdict, e, plan).empty();
  }
  std::uint64_t of(Kind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};

void check_against(const Tally& tally, const StepCounters& counted) {
  CHECK(tally.causes == counted.stagnation.by_cause);
  CHECK(tally.of(Kind::nonfinite) == counted.nonfinite);
  CHECK(tally.of(Kind::trapped_at_zero) == counted.trapping.trapped_at_zero);
  CHECK(tally.trapped == counted.trapping.trapped);
  CHECK(tally.of(Kind::sign_flip_refused) == counted.sign_flips.refused);
  CHECK(tally.of(Kind::moved_by_scale) <= counted.collateral.only_by_scale);
  CHECK(tally.words == counted.trapping.elements + counted.nonfinite);
}

TEST_CASE_TEMPLATE("verdict: as many of each as the counters of the same step", Rule, AdamW, Madam, Lmd,
                   MAdam) {
  Tally all;
  for (const char* scheme : {"bf16/fp32", "fp8/fp8", "nvfp4/fp8", "mxfp4_rceil/fp32", "mxint8/fp32", "fp32"})
    for (const Rounding& rounding : {nearest_even, stochastic}) {
      TensorPlan plan = parse_scheme(scheme).base;
      plan.weights.rounding = rounding;
      const TensorInfo info{"w", 0, {6, 32}, 0};
      std::vector<double> initial(info.size());
      for (std::size_t i = 0; i < initial.size(); ++i)
        initial[i] = i % 7 == 0 ? 0 : test::log_spread(5, 0, i, 12);
      OptimizedTensor<Rule, float> tensor(info, plan, initial);
      for (std::uint32_t t = 1; t <= 8; ++t) {
        std::array<std::vector<float>, Rule::weight_slots.size()> gradients;
        for (std::size_t slot = 0; slot < gradients.size(); ++slot)
          for (std::size_t i = 0; i < info.size(); ++i)
            gradients[slot].push_back(i % 4 == 0 ? 0 : static_cast<float>(test::uniform(slot + 1, t, i)));
        if (t == 8) gradients[0][100] = std::numeric_limits<float>::infinity();
        StepRecorder recorder;
        tensor.step({}, {t, 3.0, 7}, gradients, nullptr, recorder);
        Tally stored, made;
        for (const RecordedElement& seen : recorder.elements) {
          CHECK(seen.made_of_parts == (seen.weight_slot == Rule::weight_slots.size()));
          (seen.made_of_parts ? made : stored).add(seen.step, plan.weights);
          all.add(seen.step, plan.weights);
        }
        CAPTURE(scheme);
        CAPTURE(t);
        check_against(stored, recorder.counters.stored);
        check_against(made, recorder.counters.made_of_parts);
      }
    }
  CHECK(all.of(Kind::moves) > 0);
  CHECK(all.of(Kind::stays) > 0);
  CHECK(all.of(Kind::moved_by_scale) > 0);
  CHECK(all.of(Kind::nonfinite) > 0);
}

}  // namespace
}  // namespace halfulp
