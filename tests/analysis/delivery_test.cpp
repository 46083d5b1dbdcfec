// Delivered ratio, cosine and lost mass on numbers worked by hand.
#include "analysis/delivery.h"

#include <doctest/doctest.h>

#include "tests/analysis/representable.h"

namespace halfulp {
namespace {

using test::moved;

TEST_CASE("delivery: nothing, everything, twice as much, and the wrong way") {
  Delivery none, all, twice, back;
  none.see(moved(e2m1, 2, 0.25, 2));
  CHECK(none.ratio() == 0);
  CHECK(none.cosine() == 0);
  CHECK(none.lost_ratio() == 1);
  all.see(moved(e2m1, 2, 1, 3));
  CHECK(all.ratio() == 1);
  CHECK(all.cosine() == 1);
  CHECK(all.lost_ratio() == 0);
  twice.see(moved(e2m1, 2, 0.5, 3));
  CHECK(twice.ratio() == 2);
  CHECK(twice.cosine() == 1);
  CHECK(twice.lost_ratio() == 1);
  back.see(moved(e2m1, 2, 0.5, 1.5));
  CHECK(back.ratio() == -1);
  CHECK(back.cosine() == -1);
  CHECK(back.lost_ratio() == 2);
}

TEST_CASE("delivery: sums over elements, and no update at all is 0") {
  Delivery d;
  CHECK(d.ratio() == 0);
  CHECK(d.cosine() == 0);
  CHECK(d.lost_ratio() == 0);
  d.see(moved(e2m1, 2, 1, 3));     // effective 1, update 1
  d.see(moved(e2m1, 4, -0.5, 4));  // effective 0, update -0.5
  d.see(moved(e2m1, 0, 0, 0));     // neither
  CHECK(d.effective_dot_update == 1);
  CHECK(d.update_squared == 1.25);
  CHECK(d.effective_squared == 1);
  CHECK(d.ratio() == 1 / 1.25);
  CHECK(d.cosine() == 1 / std::sqrt(1.25));
  CHECK(d.lost == 0.5);
  CHECK(d.wanted_mass == 1.5);
  CHECK(d.lost_ratio() == 0.5 / 1.5);
  Delivery joined = d;
  joined.join(d);
  CHECK(joined.ratio() == d.ratio());
  CHECK(joined.wanted_mass == 3);
  CHECK(joined.effective_squared == 2);
}

TEST_CASE("delivery: what a scale carried is no delivery, but it is lost where it leads away") {
  ElementStep e = moved(e2m1, 3, 0.25, 3.5);
  e.unmoved = 3.5;
  Delivery d;
  d.see(e);
  CHECK(d.effective_dot_update == 0);
  CHECK(d.ratio() == 0);
  CHECK(d.lost == 0.25);  // |3.25 - 3.5|
}

}  // namespace
}  // namespace halfulp
