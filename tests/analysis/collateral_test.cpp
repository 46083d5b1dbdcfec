// Movement that only a shared scale made.
#include "analysis/collateral.h"

#include <doctest/doctest.h>

#include "tests/analysis/representable.h"

namespace halfulp {
namespace {

ElementStep carried(double before, double update, double unmoved, double after) {
  ElementStep e = test::moved(e2m1, before, update, after);
  e.unmoved = unmoved;
  return e;
}
Collateral after_one(const ElementStep& e) {
  Collateral c;
  c.see(e);
  CHECK(c.elements == 1);
  return c;
}

TEST_CASE("collateral: carried, only by the scale, and against the update") {
  const Collateral still = after_one(carried(2, 0.1, 2, 2));
  CHECK(still.carried == 0);
  CHECK(still.only_by_scale == 0);
  CHECK(still.against_update == 0);
  CHECK(still.mass == 0);
  const Collateral own = after_one(carried(2, 1, 2, 3));
  CHECK(own.carried == 0);
  CHECK(own.only_by_scale == 0);
  const Collateral only = after_one(carried(2, 0.1, 2.25, 2.25));
  CHECK(only.carried == 1);
  CHECK(only.only_by_scale == 1);
  CHECK(only.against_update == 0);
  CHECK(only.mass == 0.25);
  const Collateral both = after_one(carried(2, 1, 2.25, 3.375));
  CHECK(both.carried == 1);
  CHECK(both.only_by_scale == 0);
  const Collateral against = after_one(carried(-2, 0.1, -2.25, -2.25));
  CHECK(against.only_by_scale == 1);
  CHECK(against.against_update == 1);
  CHECK(against.mass == 0.25);
}

TEST_CASE("collateral: without an update nothing is against it, but it may be carried") {
  const Collateral c = after_one(carried(2, 0, 2.25, 2.25));
  CHECK(c.only_by_scale == 1);
  CHECK(c.against_update == 0);
  CHECK(after_one(carried(2, -0.5, 2, 3)).against_update == 1);  // an unlucky draw is against it too
  CHECK(after_one(carried(0.0, 1, -0.0, -0.0)).carried == 0);    // -0 is 0
}

TEST_CASE("collateral: joins") {
  Collateral sum = after_one(carried(-2, 0.1, -2.25, -2.25));
  sum.join(after_one(carried(4, 0.1, 4.5, 4.5)));
  CHECK(sum.elements == 2);
  CHECK(sum.carried == 2);
  CHECK(sum.only_by_scale == 2);
  CHECK(sum.against_update == 1);
  CHECK(sum.mass == 0.75);
}

}  // namespace
}  // namespace halfulp
