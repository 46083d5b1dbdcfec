// The largest number of a block, pressed against the end of its format.
#include "analysis/ceiling_trap.h"

#include <doctest/doctest.h>

#include "tests/analysis/representable.h"

namespace halfulp {
namespace {

using test::moved;

CeilingTrap after_one(const ElementStep& e) {
  CeilingTrap t;
  t.see(e);
  return t;
}
void check(const ElementStep& e, std::uint64_t pressed, std::uint64_t released, std::uint64_t trapped) {
  const CeilingTrap t = after_one(e);
  CHECK(t.pressed == pressed);
  CHECK(t.released == released);
  CHECK(t.trapped == trapped);
}

TEST_CASE("ceiling trap: at the end, outward, and it stays") {
  check(moved(e2m1, 6, 1, 6), 1, 0, 1);
  check(moved(e2m1, -6, -1, -6), 1, 0, 1);
  check(moved(e4m3, 448, 0x1p-20, 448), 1, 0, 1);
  // Under a scale, also one whose product is rounded to fp32.
  check(moved(e2m1, 18, 1, 18, 3), 1, 0, 1);
  const double m = 0x1.0000011p-5, end = static_cast<float>(6 * m);
  CHECK(end != 6 * m);
  check(moved(e2m1, end, 1, end, m), 1, 0, 1);
}

TEST_CASE("ceiling trap: inward, inside, zero, absorbed and gridless are none") {
  check(moved(e2m1, 6, -0.1, 6), 0, 0, 0);
  check(moved(e2m1, 6, 0, 6), 0, 0, 0);
  check(moved(e2m1, 4, 0.9, 4), 0, 0, 0);
  check(moved(e2m1, 6, 1, 6, 2), 0, 0, 0);  // 6 = 3 * 2, not the end under that scale
  check(moved(ue4m3, 0, -1, 0), 0, 0, 0);   // the end of an unsigned format at zero is no ceiling
  check(moved(e8m0, 0x1p-127, -0x1p-128, 0x1p-127), 0, 0, 0);
  ElementStep e = moved(e2m1, 6, 0x1p-60, 6);
  REQUIRE(e.wanted == e.before);
  check(e, 0, 0, 0);
  e = moved(e2m1, 6, 1, 6);
  e.grid.reset();
  check(e, 0, 0, 0);
  check(moved(e2m1, 0, 1, 0, 0), 0, 0, 0);  // a scale of zero holds nothing but zero
  // Two's complement has one more number below: -127/64 has not come to the end, 127/64 has.
  check(moved(int8, -127.0 / 64, -1, -127.0 / 64), 0, 0, 0);
  check(moved(int8, -2, -1, -2), 1, 0, 1);
  check(moved(int8, 127.0 / 64, 1, 127.0 / 64), 1, 0, 1);
}

TEST_CASE("ceiling trap: a scale that makes room releases, one that shuts down traps anew") {
  // The scale doubles: 6 becomes 3 * 2, wanted 6.9 rounds to 4 * 2.
  ElementStep e = moved(e2m1, 6, 1.1, 8, 2);
  e.multiplier_before = 1;
  check(e, 1, 1, 0);
  // It doubles, but the update is below the half gap of 1: neither released nor trapped; it stagnates.
  e = moved(e2m1, 6, 0.5, 6, 2);
  e.multiplier_before = 1;
  check(e, 1, 0, 0);
  // It halves: 4 was inside and is now beyond 6 * 0.5 = 3.
  e = moved(e2m1, 4, 0.5, 3, 0.5);
  e.multiplier_before = 1;
  e.unmoved = 3;
  check(e, 0, 0, 1);
}

TEST_CASE("ceiling trap: joins") {
  CeilingTrap sum = after_one(moved(e2m1, 6, 1, 6));
  ElementStep released = moved(e2m1, 6, 1.1, 8, 2);
  released.multiplier_before = 1;
  sum.join(after_one(released));
  CHECK(sum.pressed == 2);
  CHECK(sum.released == 1);
  CHECK(sum.trapped == 1);
}

}  // namespace
}  // namespace halfulp
