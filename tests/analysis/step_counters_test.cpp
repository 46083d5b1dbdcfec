// The counters of real steps against a slow recount of what the probe was shown, element by element.
#include "analysis/step_counters.h"

#include <doctest/doctest.h>

#include "formats/spec.h"
#include "optimizers/all_rules.h"
#include "tests/analysis/recount.h"
#include "tests/optimizers/additive_rule.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

using test::Counts;
using test::none;

/// 20 steps of pseudo-random gradients, a quarter of them zero, over weights spread over 12 binades.
template <class Rule, class R>
void check_rule(const TensorPlan& plan, bool with_nan) {
  const TensorInfo info{"w", 0, {12, 64}, 0};
  std::vector<double> initial(info.size());
  for (std::size_t i = 0; i < initial.size(); ++i)
    initial[i] = i % 7 == 0 ? 0 : test::log_spread(5, 0, i, 12);
  OptimizedTensor<Rule, R> tensor(info, plan, initial), same(info, plan, initial);
  test::CountAndKeep probe;
  StagnationShare share;  // which is shown less, and longer tiles
  for (std::uint32_t t = 1; t <= 20; ++t) {
    std::array<std::vector<R>, Rule::weight_slots.size()> gradients;
    for (std::size_t slot = 0; slot < gradients.size(); ++slot)
      for (std::size_t i = 0; i < info.size(); ++i) {
        const double g = test::uniform(slot + 1, t, i);
        gradients[slot].push_back(static_cast<R>(i % 4 == 0 ? 0 : g));
      }
    if (with_nan && t == 12) gradients[0][100] = std::numeric_limits<R>::quiet_NaN();
    tensor.step({}, {t, 3.0, 7}, gradients, nullptr, probe);
    same.step({}, {t, 3.0, 7}, gradients, nullptr, share);
  }
  CHECK(share.elements == probe.share.elements);
  CHECK(share.updated == probe.share.updated);
  CHECK(share.stayed == probe.share.stayed);
  CHECK(share.nonfinite == probe.share.nonfinite);
  for (std::size_t slot = 0; slot < Rule::weight_slots.size(); ++slot) {
    std::vector<R> numbers(info.size()), others(info.size());
    tensor.weight(slot).load(0, std::span(numbers));
    same.weight(slot).load(0, std::span(others));
    std::size_t different = 0;
    for (std::size_t i = 0; i < info.size(); ++i)
      different += bits_of(numbers[i]) != bits_of(others[i]);
    CHECK(different == 0);
  }
  CHECK(probe.tiles.size() >= 20);
  test::check_equal(probe.counted.stored, probe, true);
  CHECK(probe.share.updated == probe.counted.stored.stagnation.updated);
  CHECK(probe.share.stayed == probe.counted.stored.stagnation.stayed);
  CHECK(probe.share.nonfinite == probe.counted.stored.nonfinite);
  CHECK(probe.counted.has_parts == (Rule::weight_slots.size() > 1));
  if (probe.counted.has_parts) test::check_equal(probe.counted.made_of_parts, probe, false);
  test::check_states(probe.counted.states, probe);
  REQUIRE(probe.counted.states.slots.size() >= Rule::state_slots.size());
  for (std::size_t i = 0; i < Rule::state_slots.size(); ++i) {
    CHECK(probe.counted.states.slots[i].slot.name == Rule::state_slots[i].name);
    CHECK(probe.counted.states.slots[i].freezing.wanted > 0);
  }
  if (with_nan) CHECK(probe.counted.stored.nonfinite > 0);
  CHECK(&probe.counted.weight() ==
        (probe.counted.has_parts ? &probe.counted.made_of_parts : &probe.counted.stored));
}

struct NamedPlan {
  std::string scheme, scale;
};
const std::vector<NamedPlan> plans{{"fp32", ""},
                                   {"bf16/fp32", ""},
                                   {"bf16/fp8", ""},
                                   {"fp16/bf16", ""},
                                   {"fp8/fp8", ""},
                                   {"fp8/fp8", "recompute"},
                                   {"nvfp4/fp8", ""},
                                   {"nvfp4/fp32", "recompute"},
                                   {"nvfp4/fp32", "delayed"},
                                   {"mxfp4/fp32", ""},
                                   {"mxfp8_e5m2_rceil/bf16", ""},
                                   {"mxint8/fp32", ""},
                                   {"e3m2/fp32", ""}};

TEST_CASE_TEMPLATE("step counters: equal a recount, every rule, plan and rounding", Rule, AdamW, Madam, Lmd,
                   MAdam) {
  for (const NamedPlan& named : plans)
    for (const Rounding& rounding : {nearest_even, stochastic}) {
      CAPTURE(named.scheme);
      CAPTURE(named.scale);
      CAPTURE(to_string(rounding));
      TensorPlan plan = parse_scheme(named.scheme).base;
      plan.weights.rounding = rounding;
      if (!named.scale.empty()) plan.weights.scale = parse_scale_policy(named.scale);
      check_rule<Rule, float>(plan, false);
    }
  check_rule<Rule, float>(parse_scheme("bf16/fp32").base, true);
  check_rule<Rule, float>(parse_scheme("nvfp4/fp8").base, true);
  check_rule<Rule, double>(parse_scheme("fp64").base, true);
  check_rule<Rule, double>(parse_scheme("nvfp4/fp8").base, false);
}

TEST_CASE("step counters: a number that is not finite counts as nonfinite and as nothing else") {
  for (int which = 0; which < 6; ++which)
    for (const double bad : {none, -none, std::nan("")}) {
      ElementStep e = test::moved(bf16, 1, 0.5, 1.5);
      (which == 0   ? e.before
       : which == 1 ? e.gradient
       : which == 2 ? e.update
       : which == 3 ? e.wanted
       : which == 4 ? e.after
                    : e.unmoved) = bad;
      StepCounters counters;
      counters.see(e);
      Counts n = test::counts_of(counters);
      CHECK(n["nonfinite"] == 1);
      n.erase("nonfinite");
      for (const auto& [name, count] : n) CHECK(count == 0);
      CHECK(counters.delivery.wanted_mass == 0);
      CHECK(counters.collateral.elements == 0);
    }
}

/// 60 steps of AdamW, weights near 1, with a rate of 1e-3 and a decay of 0.1.
CounterProbe adamw_steps(const std::string& weights, const std::string& second_moment,
                         StatesUsed states_used = StatesUsed::rounded) {
  TensorPlan plan = parse_scheme("fp32").base;
  plan.weights = weight_slot(parse_format(weights));
  plan.second_moment = state_slot(parse_format(second_moment));
  plan.states_used = states_used;
  AdamW::Config config;
  config.eta = 1e-3, config.weight_decay = 0.1;
  std::vector<double> initial(512);
  for (std::size_t i = 0; i < initial.size(); ++i) initial[i] = 1 + 0.5 * test::uniform(1, 0, i);
  OptimizedTensor<AdamW, float> tensor({"w", 0, {8, 64}, 0}, plan, initial);
  CounterProbe probe;
  for (std::uint32_t t = 1; t <= 60; ++t) {
    std::array<std::vector<float>, 1> gradients;
    // Of 16 sizes within each block of a state, each within a binade over time; every fourth step has none.
    for (std::size_t i = 0; i < initial.size(); ++i) {
      const double g = std::ldexp(1.5 + 0.5 * test::uniform(2, t, i), -static_cast<int>(i % 16));
      gradients[0].push_back(t % 4 == 0 ? 0 : static_cast<float>(g));
    }
    tensor.step(config, {t, 1.0, 7}, gradients, nullptr, probe);
    probe.after_step();
  }
  return probe;
}

TEST_CASE("step counters: second moments lost in e4m3 make steps explode; in e5m2 and fp32 there are none") {
  // In e4m3 a second moment is zero below 2^-10 / 448 of its block's largest: gradients below 2^-9.4 of the largest.
  const ExplodingSteps small = adamw_steps("fp32", "fp8_block256").stored.exploding,
                       wide = adamw_steps("fp32", "fp8_block256_e5m2").stored.exploding,
                       full = adamw_steps("fp32", "fp32").stored.exploding;
  CHECK(small.compared == 512 * 60);
  CHECK(small.exploding > 512 * 60 / 4);
  CHECK(small.second_moment_lost == small.exploding);
  CHECK(wide.exploding == 0);
  CHECK(full.exploding == 0);
}

TEST_CASE("step counters: weight decay of 1e-4 in bf16 is lost by most, in fp32 it all arrives") {
  const LostDecay coarse = adamw_steps("bf16", "fp32").stored.decay,
                  fine = adamw_steps("fp32", "fp32").stored.decay;
  CHECK(coarse.elements == 512 * 60);
  CHECK(fine.elements == 512 * 60);
  CHECK(coarse.lost_share() > 0.9);
  CHECK(fine.lost_share() == 0);
  CHECK(fine.ratio() == doctest::Approx(1).epsilon(1e-3));
}

TEST_CASE("step counters: a bf16 second moment freezes, most of all where it decays; fp32 does not") {
  const auto freezing = [](const std::string& second_moment) {
    const CounterProbe probe = adamw_steps("fp32", second_moment, StatesUsed::unrounded);
    return probe.states.slots.at(1).freezing;
  };
  const StateFreezing coarse = freezing("bf16"), fine = freezing("fp32");
  CHECK(coarse.wanted > 512 * 50);
  CHECK(fine.share() < 0.01);
  CHECK(coarse.decaying > 1000);
  CHECK(coarse.frozen_decaying == coarse.decaying);  // 0.999 decays nothing in bf16
  CHECK(coarse.frozen_growing < coarse.growing);
}

/// What became of weights that no step ever wanted to move.
struct NullTest {
  double growth;  ///< rms of the untouched weights after 500 steps over their first
  StepCounters counted;
};

/// 1024 weights, each the sum of four uniforms; every tenth walks by +-0.1 with mean zero, the others get no
/// update. Walkers that pass the largest lift the scale, and the untouched top codes keep it there.
NullTest run_null_test(const std::string& format, const std::string& scale) {
  SlotPlan plan = weight_slot(parse_format(format));
  plan.scale = parse_scale_policy(scale);
  std::vector<double> initial(1024);
  for (std::size_t i = 0; i < initial.size(); ++i)
    for (std::uint32_t k = 0; k < 4; ++k) initial[i] += test::uniform(3, k, i);
  test::Stored<float> stored(plan, {16, 64}, initial);
  const auto rms_of_untouched = [&] {
    const std::vector<float> w = stored.values();
    double sum = 0;
    for (std::size_t i = 0; i < w.size(); ++i) sum += i % 10 == 0 ? 0 : static_cast<double>(w[i]) * w[i];
    return std::sqrt(sum);
  };
  const double first = rms_of_untouched();
  CounterProbe probe;
  std::array<std::vector<float>, 1> updates{std::vector<float>(initial.size())};
  for (std::uint32_t t = 1; t <= 500; ++t) {
    for (std::size_t i = 0; i < initial.size(); i += 10)
      updates[0][i] = test::uniform(9, t, i) > 0 ? 0.1f : -0.1f;
    stored.tensor.step({}, {t, 1.0, 1}, updates, nullptr, probe);
    probe.after_step();
  }
  return {rms_of_untouched() / first, probe.stored};
}

TEST_CASE("scale runaway: untouched weights grow with recomputed fp32 scales and stay with lazy ones") {
  for (const char* format : {"nvfp4", "fp8_tensor"}) {
    CAPTURE(std::string(format));
    const NullTest lazy = run_null_test(format, "lazy"), anew = run_null_test(format, "recompute");
    CHECK(std::fabs(lazy.growth - 1) < 0.01);
    CHECK(anew.growth > 2);
    const Collateral &kept = lazy.counted.collateral, &carried = anew.counted.collateral;
    CHECK(kept.elements == 1024 * 500);
    CHECK(kept.only_by_scale < kept.elements / 1000);
    CHECK(carried.only_by_scale > carried.elements / 4);
    CHECK(carried.mass > 100 * kept.mass);
    // The growth that the scales made, as the probe chains it, is that of the untouched weights, which are nine in ten.
    const ScaleRunaway &calm = lazy.counted.runaway, &runaway = anew.counted.runaway;
    CHECK(runaway.steps == 500);
    CHECK(std::fabs(calm.growth() - 1) < 0.01);
    CHECK(runaway.growth() > 2);
    CHECK(runaway.growth() == doctest::Approx(anew.growth).epsilon(0.25));
    CHECK(runaway.grown > runaway.shrunk);
    CHECK(lazy.counted.scales.raised < 1024 * 10);
    CHECK(anew.counted.scales.raised > 1024 * 10);
    // Of the elements that have an update at all, the scale moves some against it.
    CHECK(kept.against_update < lazy.counted.stagnation.updated / 1000);
    if (format == std::string("nvfp4")) CHECK(carried.against_update > anew.counted.stagnation.updated / 20);
  }
}

}  // namespace
}  // namespace halfulp
