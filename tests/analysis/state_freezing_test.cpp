// Optimizer states that should move and stay, on numbers worked by hand.
#include "analysis/state_freezing.h"

#include <doctest/doctest.h>

#include "tests/analysis/random_tiles.h"

namespace halfulp {
namespace {

/// One element of a state; multiplier 0: none is shown.
StateFreezing after_one(const ScalarFormat& f, double before, double wanted, double after, double unmoved,
                        double multiplier = 1) {
  const SlotPlan plan = state_slot(unscaled(f));
  std::span<const double> scale(&multiplier, multiplier == 0 ? 0 : 1);
  StateFreezing counted;
  counted.see(
      StateRecord<double>{
          {"v", Moment::second}, plan, {&before, 1}, {&wanted, 1}, {&after, 1}, {&unmoved, 1}, scale},
      FormatNumbers(f));
  return counted;
}

TEST_CASE(
    "state freezing: a second moment in bf16 that decays by a thousandth stays, growing by half does not") {
  const StateFreezing decay = after_one(bf16, 1, 0.999, 1, 1);
  CHECK(decay.elements == 1);
  CHECK(decay.wanted == 1);
  CHECK(decay.frozen == 1);
  CHECK(decay.decaying == 1);
  CHECK(decay.frozen_decaying == 1);
  CHECK(decay.growing == 0);
  CHECK(decay.share() == 1);
  const StateFreezing growth = after_one(bf16, 1, 1.5, 1.5, 1);
  CHECK(growth.wanted == 1);
  CHECK(growth.frozen == 0);
  CHECK(growth.growing == 1);
  CHECK(growth.frozen_growing == 0);
  CHECK(after_one(bf16, -1, -1.001, -1, -1).frozen_growing == 1);  // away from zero, not upwards
}

TEST_CASE("state freezing: what wants nothing is not frozen, and a mirrored state has no direction") {
  const StateFreezing still = after_one(bf16, 1, 1, 1, 1);
  CHECK(still.elements == 1);
  CHECK(still.wanted == 0);
  CHECK(still.share() == 0);
  const StateFreezing mirrored = after_one(bf16, 1, -1, 1, 1);
  CHECK(mirrored.frozen == 1);
  CHECK(mirrored.growing + mirrored.decaying == 0);
  CHECK(after_one(bf16, 0, -0.0, 0, 0).wanted == 0);
}

TEST_CASE("state freezing: moved by its scale alone is frozen, and uniform decay under it is not") {
  CHECK(after_one(e4m3, 3, 2.9, 3.25, 3.25, 3.25 / 3).frozen == 1);
  // All codes stay and the scale decays: after differs from before, and from before stored anew.
  CHECK(after_one(e4m3, 4, 3.6, 3.6, 4.05, 0.9).frozen == 0);
}

TEST_CASE("state freezing: underflow, saturation, and numbers that are not finite") {
  const StateFreezing under = after_one(e5m2, 0, 0x1p-18, 0, 0);
  CHECK(under.underflowed == 1);
  CHECK(under.frozen_growing == 1);
  CHECK(after_one(e5m2, 0, 0, 0, 0).underflowed == 0);
  CHECK(after_one(e4m3, 448, 500, 448, 448).saturated == 1);
  CHECK(after_one(e4m3, -448, -500, -448, -448).saturated == 1);
  CHECK(after_one(e4m3, 448, 448, 448, 448).saturated == 0);
  CHECK(after_one(e4m3, 448, -500, 448, 448).saturated == 0);
  CHECK(after_one(e4m3, 224, 500, 224, 224, 0.5).saturated == 1);
  CHECK(after_one(e4m3, 448, 500, 448, 448, 0).saturated == 0);  // on no grid
  for (int which = 0; which < 4; ++which) {
    double x[] = {1, 1.5, 1.5, 1};
    x[which] = std::nan("");
    const StateFreezing bad = after_one(bf16, x[0], x[1], x[2], x[3]);
    CHECK(bad.nonfinite == 1);
    CHECK(bad.elements + bad.wanted + bad.frozen + bad.underflowed == 0);
  }
}

TEST_CASE("state counters: each slot by its name, joined in any order") {
  test::Draws draw(3);
  const auto counted = [&](const std::vector<StateSlot>& slots) {
    StatesCounters counters;
    for (const StateSlot& slot : slots) counters.of(slot).elements += 1 + draw.below(9);
    return counters;
  };
  const StateSlot m{"m", Moment::first}, v{"v", Moment::second}, k{"k", Moment::none};
  StatesCounters sum = counted({m, v});
  const std::uint64_t m_before = sum.of(m).elements, v_before = sum.of(v).elements;
  StatesCounters other = counted({v, k});
  sum.join(other);
  REQUIRE(sum.slots.size() == 3);
  CHECK(sum.of(m).elements == m_before);
  CHECK(sum.of(v).elements == v_before + other.of(v).elements);
  CHECK(sum.of(k).elements == other.of(k).elements);
  CHECK(sum.slots[2].slot.moment == Moment::none);
}

}  // namespace
}  // namespace halfulp
