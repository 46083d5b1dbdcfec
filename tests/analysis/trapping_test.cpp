// Near-zero trapping, under scales too.
#include "analysis/trapping.h"

#include <doctest/doctest.h>

#include "tests/analysis/representable.h"

namespace halfulp {
namespace {

using test::moved;

Trapping after_one(const ElementStep& e) {
  Trapping t;
  t.see(e);
  CHECK(t.elements == 1);
  return t;
}

TEST_CASE("trapping: at the smallest positive number or at zero, with a gradient, and staying there") {
  // E2M1 unscaled: smallest positive 0.5.
  const Trapping at_zero = after_one(moved(e2m1, 0, 0.1, 0));
  CHECK(at_zero.near_zero == 1);
  CHECK(at_zero.trapped == 1);
  CHECK(at_zero.trapped_at_zero == 1);
  CHECK(at_zero.zero_after == 1);
  const Trapping smallest = after_one(moved(e2m1, 0.5, 0.1, 0.5));
  CHECK(smallest.near_zero == 1);
  CHECK(smallest.trapped == 1);
  CHECK(smallest.trapped_at_zero == 0);
  CHECK(smallest.zero_after == 0);
  // From -0.5 to 0.5 and from 0.5 to 0 it is still there; to zero is not "at zero", which asks for both.
  CHECK(after_one(moved(e2m1, -0.5, 1, 0.5)).trapped == 1);
  const Trapping sinks = after_one(moved(e2m1, 0.5, -0.4, 0));
  CHECK(sinks.trapped == 1);
  CHECK(sinks.trapped_at_zero == 0);
  CHECK(sinks.zero_after == 1);
}

TEST_CASE("trapping: escapes, no gradient, and larger numbers do not count") {
  const Trapping escaped = after_one(moved(e2m1, 0.5, 0.5, 1));
  CHECK(escaped.near_zero == 1);
  CHECK(escaped.trapped == 0);
  ElementStep still = moved(e2m1, 0, 0, 0);
  still.gradient = 0;
  const Trapping without = after_one(still);
  CHECK(without.near_zero == 1);
  CHECK(without.trapped == 0);
  CHECK(without.zero_after == 1);
  CHECK(after_one(moved(e2m1, 1, 0.1, 1)).near_zero == 0);
  // Falling to zero from above is no trapping, only a zero.
  const Trapping fell = after_one(moved(e2m1, 1, -0.9, 0));
  CHECK(fell.near_zero == 0);
  CHECK(fell.zero_after == 1);
}

TEST_CASE("trapping: a multiplicative rule at exactly zero has a gradient but no update") {
  ElementStep e = moved(bf16, 0, 0, 0);
  e.gradient = 1;
  CHECK(after_one(e).trapped_at_zero == 1);
}

TEST_CASE("trapping: the smallest positive number of a block follows its scale") {
  CHECK(after_one(moved(e2m1, 4, 0.1, 4, 8)).trapped == 1);    // 4 = 0.5 * 8
  CHECK(after_one(moved(e2m1, 8, 0.1, 8, 8)).near_zero == 0);  // 8 = 1 * 8
  CHECK(after_one(moved(e2m1, -1.5, 0.1, -1.5, 3)).trapped == 1);
  // A ue4m3 scale times an fp32 tensor scale: 0.5 m has more bits than the fp32 that is stored.
  for (const double m : {0x1.0000011p-5, 0x1.0000019p-5, 0x1.23456p-5 * 1.375}) {
    const double stored = static_cast<float>(0.5 * m);
    CHECK(after_one(moved(e2m1, stored, 0.1 * m, stored, m)).trapped == 1);
  }
}

TEST_CASE("trapping: a weight without a grid is never near zero, but may be zero") {
  ElementStep e = moved(e2m1, 0, 0.1, 0);
  e.grid.reset();
  const Trapping t = after_one(e);
  CHECK(t.near_zero == 0);
  CHECK(t.zero_after == 1);
  Trapping twice = t;
  twice.join(after_one(moved(e2m1, 0, 0.1, 0)));
  CHECK(twice.elements == 2);
  CHECK(twice.zero_after == 2);
  CHECK(twice.trapped_at_zero == 1);
}

}  // namespace
}  // namespace halfulp
