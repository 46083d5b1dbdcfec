// The null test of scale runaway: nine weights of ten have no update at all, and the one that sets the scale comes back
// to where it was. It climbs in small steps and falls in one, so the sum of its updates is zero.
//
// Why that is enough. A weight without an update is stored again as round(q s / s') s'. While s' is close to s the
// code q stays, and the stored value follows the scale: up, by as much as the largest weight climbs. In the one large
// fall the quotient crosses several codes, and the value stays. So every cycle multiplies the weight by the climb.
#include <doctest/doctest.h>

#include "analysis/step_counters.h"
#include "formats/spec.h"
#include "tests/optimizers/additive_rule.h"

namespace halfulp {
namespace {

constexpr std::size_t size = 1024;
constexpr double climb = 1.01;
constexpr int cycle = 41;  // 40 steps up, one down

struct Null {
  double growth;   ///< of the weights without an update: sum |w| at the end over that at the start
  double counted;  ///< by the probe
};

Null null_test(const char* format, const ScalePolicy& policy, int cycles) {
  SlotPlan plan = weight_slot(parse_format(format));
  plan.scale = policy;
  std::vector<double> start(size);
  for (std::size_t i = 0; i < size; ++i) start[i] = (i % 2 == 0 ? 1 : -1) * (1 + static_cast<double>(i % 97) / 97) / 512;
  start[0] = 1;
  test::Stored<float> stored(plan, {16, size / 16}, start);
  const auto mass = [&] {
    const std::vector<float> w = stored.values();
    double sum = 0;
    for (std::size_t i = 1; i < size; ++i) sum += std::fabs(w[i]);
    return sum;
  };
  const double before = mass();
  CounterProbe counted;
  for (int t = 0; t < cycles * cycle; ++t) {
    std::vector<float> update(size);
    const float largest = stored.values()[0];
    const bool falls = t % cycle == cycle - 1;
    update[0] = falls ? 1 - largest : static_cast<float>(largest * (climb - 1));
    CounterProbe step;
    stored.tensor.step({}, {static_cast<std::uint64_t>(t + 1), 1.0, 1}, {update}, nullptr, step);
    step.after_step();
    counted.join(step);
  }
  return {mass() / before, counted.stored.runaway.growth()};
}

TEST_CASE("null test: under a scale recomputed each step weights without an update grow, and the probe says so") {
  for (const char* format : {"fp8_tensor", "nvfp4"}) {
    CAPTURE(std::string(format));
    const Null null = null_test(format, recompute_scale, 4);
    // Four cycles of 1.01^40 = 1.49 would make 4.9, less what rounding in the fall takes or gives.
    CHECK(null.growth > 2);
    CHECK(null.counted > 2);
  }
}

TEST_CASE("null test: under a lazy scale they stay within one per cent, and the probe says so") {
  for (const char* format : {"fp8_tensor", "nvfp4", "mxfp8_e4m3", "mxfp4"}) {
    CAPTURE(std::string(format));
    const Null null = null_test(format, lazy_scale_default, 4);
    CHECK(std::fabs(null.growth - 1) < 0.01);
    CHECK(std::fabs(null.counted - 1) < 0.01);
  }
}

TEST_CASE("null test: a power-of-two scale recomputed each step cannot drag them either") {
  CHECK(std::fabs(null_test("mxfp8_e4m3", recompute_scale, 4).growth - 1) < 0.01);
}

}  // namespace
}  // namespace halfulp
