// Causes of stagnation on numbers worked by hand.
#include "analysis/stagnation.h"

#include <doctest/doctest.h>

#include "tests/analysis/representable.h"

namespace halfulp {
namespace {

using Cause = StagnationCause;
using test::moved;

/// The same step under stochastic rounding.
ElementStep drawn(ElementStep e) {
  e.stochastic = true;
  return e;
}

TEST_CASE("stagnation: bf16 at 1, nearest even") {
  // Up: gap 2^-7. 2^-9 is below half of it, 2^-8 is the half (a tie to the even 1).
  CHECK(stagnation_cause(moved(bf16, 1, 0x1p-9, 1)) == Cause::below_half_gap);
  CHECK(stagnation_cause(moved(bf16, 1, 0x1p-8, 1)) == Cause::otherwise);
  // Down: gap 2^-8. -2^-9 is a tie, which stays too; -2^-10 is below.
  CHECK(stagnation_cause(moved(bf16, 1, -0x1p-9, 1)) == Cause::otherwise);
  CHECK(stagnation_cause(moved(bf16, 1, -0x1p-10, 1)) == Cause::below_half_gap);
  // Mirrored.
  CHECK(stagnation_cause(moved(bf16, -1, -0x1p-9, -1)) == Cause::below_half_gap);
  CHECK(stagnation_cause(moved(bf16, -1, 0x1p-9, -1)) == Cause::otherwise);
}

TEST_CASE("stagnation: absorbed comes first, whatever else would apply") {
  ElementStep e = moved(e4m3, 448, 0x1p-60, 448);
  CHECK(e.wanted == e.before);
  CHECK(stagnation_cause(e) == Cause::absorbed);
  e.stochastic = true;
  CHECK(stagnation_cause(e) == Cause::absorbed);
  // Absorbed in float, though not in double: wanted is what the rule's number type gave.
  ElementStep single = moved(fp32, 1, 0x1p-25, 1);
  single.wanted = static_cast<float>(1 + 0x1p-25);
  CHECK(stagnation_cause(single) == Cause::absorbed);
  // Without a grid (the unrounded double) that is the only cause.
  single.grid.reset();
  CHECK(stagnation_cause(single) == Cause::absorbed);
}

TEST_CASE("stagnation: saturated before all causes that look at the gap") {
  CHECK(stagnation_cause(moved(e4m3, 448, 100, 448)) == Cause::saturated);
  CHECK(stagnation_cause(moved(e4m3, 448, 0.5, 448)) == Cause::saturated);
  CHECK(stagnation_cause(moved(e4m3, -448, -100, -448)) == Cause::saturated);
  CHECK(stagnation_cause(drawn(moved(e2m1, 6 * 0.25, 1, 6 * 0.25, 0.25))) == Cause::saturated);
  // Inward from the end is no saturation: gap 32, half 16.
  CHECK(stagnation_cause(moved(e4m3, 448, -15, 448)) == Cause::below_half_gap);
  CHECK(stagnation_cause(moved(e4m3, 448, -16, 448)) == Cause::otherwise);
  CHECK(stagnation_cause(moved(int8, -2, -1, -2)) == Cause::saturated);
  CHECK(stagnation_cause(moved(int8, -127.0 / 64, -0.001, -127.0 / 64)) == Cause::below_half_gap);
  // An unsigned format ends at zero: downward there is nothing.
  CHECK(stagnation_cause(moved(ue4m3, 0, -1, 0)) == Cause::saturated);
  CHECK(stagnation_cause(moved(e8m0, 0x1p-127, -0x1p-128, 0x1p-127)) == Cause::saturated);
}

TEST_CASE("stagnation: at zero before below half a gap and random") {
  CHECK(stagnation_cause(moved(e2m1, 0, 0.1, 0)) == Cause::at_zero);
  CHECK(stagnation_cause(moved(e2m1, 0, 0.25, 0)) == Cause::at_zero);
  CHECK(stagnation_cause(moved(e2m1, 0, -0.25, -0.0)) == Cause::at_zero);
  CHECK(stagnation_cause(drawn(moved(e2m1, 0, 0.4, 0))) == Cause::at_zero);
  // Zero is what `before` has become under the new scale, not what it was.
  ElementStep e = moved(e2m1, 0.5, 0.1, 0, 8);
  e.unmoved = 0;
  CHECK(stagnation_cause(e) == Cause::at_zero);
}

TEST_CASE("stagnation: random only where nearest rounding could have moved") {
  CHECK(stagnation_cause(drawn(moved(bf16, 1, 0x1p-9, 1))) == Cause::below_half_gap);
  CHECK(stagnation_cause(drawn(moved(bf16, 1, 0x1p-8, 1))) == Cause::random);
  CHECK(stagnation_cause(drawn(moved(bf16, 1, 0x1.8p-8, 1))) == Cause::random);
  // A directed mode refuses a step of most of a gap.
  CHECK(stagnation_cause(moved(bf16, 1, 0x1.8p-8, 1)) == Cause::otherwise);
}

TEST_CASE("stagnation: the gap is that of unmoved under this step's scale") {
  // The scale doubled from 1 to 2 and 3 became 4 (3/2 = 1.5 stays 1.5, times 2 = 3: take 1 -> 0.5 * 2).
  ElementStep e = moved(e2m1, 3, 0.4, 3, 2);
  CHECK(e.gap() == 1);
  CHECK(stagnation_cause(e) == Cause::below_half_gap);
  e.update = 0.5;
  e.wanted = 3.5;
  CHECK(stagnation_cause(e) == Cause::otherwise);
  e.grid->multiplier = 1;  // the same number is the top but three of a finer grid: gap 1 upward
  CHECK(e.gap() == 1);
}

TEST_CASE("stagnation: a block scale of zero is a grid of zeros") {
  const ElementStep e = moved(e2m1, 0, 1e-9, 0, 0);
  CHECK(stagnation_cause(e) == Cause::at_zero);
}

TEST_CASE("stagnation: shares by direction, zero updates aside") {
  Stagnation s;
  s.see(moved(bf16, 1, 0, 1));                  // no update: not counted
  s.see(moved(bf16, 1, 0x1p-9, 1));             // outward, stays
  s.see(moved(bf16, -1, -0x1p-9, -1));          // outward, stays
  s.see(moved(bf16, 1, 0x1p-7, 1 + 0x1p-7));    // outward, moves
  s.see(moved(bf16, 1, -0x1p-10, 1));           // inward, stays
  s.see(moved(bf16, -1, 0x1p-7, -1 + 0x1p-7));  // inward, moves
  s.see(moved(bf16, 0, 0x1p-140, 0));           // from zero every way is outward
  CHECK(s.updated == 6);
  CHECK(s.stayed == 4);
  CHECK(s.updated_outward == 4);
  CHECK(s.stayed_outward == 3);
  CHECK(s.share() == 4.0 / 6);
  CHECK(s.by_cause == std::array<std::uint64_t, 6>{0, 0, 1, 3, 0, 0});
  Stagnation twice = s;
  twice.join(s);
  CHECK(twice.updated == 12);
  CHECK(twice.stayed == 8);
  CHECK(twice.updated_outward == 8);
  CHECK(twice.stayed_outward == 6);
  CHECK(twice.by_cause == std::array<std::uint64_t, 6>{0, 0, 2, 6, 0, 0});
  CHECK(Stagnation{}.share() == 0);
}

TEST_CASE("stagnation: movement by the scale alone is stagnation, and -0 is 0") {
  Stagnation s;
  ElementStep carried = moved(e2m1, 3, 0.1, 3.25, 0);
  carried.grid->multiplier = 3.25 / 3;
  carried.unmoved = 3.25;
  s.see(carried);
  CHECK(s.stayed == 1);
  s.see(moved(e2m1, 0.0, -0.1, -0.0));
  CHECK(s.stayed == 2);
}

}  // namespace
}  // namespace halfulp
