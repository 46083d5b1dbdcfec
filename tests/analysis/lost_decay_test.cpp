// Weight decay that was asked for and what of it is stored.
#include "analysis/lost_decay.h"

#include <doctest/doctest.h>

#include "tests/analysis/representable.h"

namespace halfulp {
namespace {

ElementStep decayed(double before, double decay, double after, double without) {
  ElementStep e = test::moved(bf16, before, decay, after);
  e.decay = decay;
  e.without_decay = without;
  return e;
}

TEST_CASE("lost decay: nothing, all, too much, and the wrong way") {
  LostDecay none, all, twice, back;
  none.see(decayed(1, -0x1p-12, 1, 1));
  CHECK(none.elements == 1);
  CHECK(none.lost == 1);
  CHECK(none.ratio() == 0);
  CHECK(none.lost_share() == 1);
  all.see(decayed(1, -0x1p-8, 1 - 0x1p-8, 1));
  CHECK(all.lost == 0);
  CHECK(all.ratio() == 1);
  twice.see(decayed(-1, 0x1p-8, -1 + 0x1p-7, -1));
  CHECK(twice.ratio() == 2);
  back.see(decayed(1, -0x1p-8, 1 + 0x1p-8, 1));
  CHECK(back.ratio() == -1);
}

TEST_CASE("lost decay: fifteen of sixteen weights lose it and one delivers a whole gap: the ratio is 1") {
  LostDecay d;
  for (int i = 0; i < 15; ++i) d.see(decayed(1, -0x1p-12, 1, 1));
  d.see(decayed(1, -0x1p-12, 1 - 0x1p-8, 1));  // the sum with the update came out just beyond the midpoint
  CHECK(d.mass == 16 * 0x1p-12);
  CHECK(d.delivered == 0x1p-8);
  CHECK(d.ratio() == 1);
  CHECK(d.lost_share() == 15.0 / 16);
  LostDecay joined = d;
  joined.join(d);
  CHECK(joined.elements == 32);
  CHECK(joined.lost == 30);
  CHECK(joined.mass == 2 * d.mass);
  CHECK(joined.delivered == 2 * d.delivered);
}

TEST_CASE("lost decay: no decay, none finite, and no elements at all") {
  LostDecay d;
  d.see(decayed(1, 0, 1, 1));
  d.see(decayed(1, -0.0, 1, 2));
  d.see(decayed(1, std::nan(""), 1, 1));
  d.see(decayed(1, -0.1, 1, std::nan("")));
  CHECK(d.elements == 0);
  CHECK(d.ratio() == 0);
  CHECK(d.lost_share() == 0);
}

}  // namespace
}  // namespace halfulp
