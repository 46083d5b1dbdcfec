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
  OptimizedTensor<Rule, R> tensor(info, plan, initial);
  test::CountAndKeep probe;
  for (std::uint32_t t = 1; t <= 20; ++t) {
    std::array<std::vector<R>, Rule::weight_slots.size()> gradients;
    for (std::size_t slot = 0; slot < gradients.size(); ++slot)
      for (std::size_t i = 0; i < info.size(); ++i) {
        const double g = test::uniform(slot + 1, t, i);
        gradients[slot].push_back(static_cast<R>(i % 4 == 0 ? 0 : g));
      }
    if (with_nan && t == 12) gradients[0][100] = std::numeric_limits<R>::quiet_NaN();
    tensor.step({}, {t, 3.0, 7}, gradients, nullptr, probe);
  }
  CHECK(probe.tiles.size() >= 20);
  test::check_equal(probe.counted.stored, probe, true);
  CHECK(probe.counted.has_parts == (Rule::weight_slots.size() > 1));
  if (probe.counted.has_parts) test::check_equal(probe.counted.made_of_parts, probe, false);
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
    // Of the elements that have an update at all, the scale moves some against it.
    CHECK(kept.against_update < lazy.counted.stagnation.updated / 1000);
    if (format == std::string("nvfp4")) CHECK(carried.against_update > anew.counted.stagnation.updated / 20);
  }
}

}  // namespace
}  // namespace halfulp
