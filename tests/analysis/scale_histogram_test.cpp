// Scales by octave, and how many elements saw theirs change.
#include "analysis/scale_histogram.h"

#include <doctest/doctest.h>

#include "tests/analysis/representable.h"

namespace halfulp {
namespace {

ElementStep under(double multiplier, std::optional<double> before) {
  ElementStep e = test::moved(e2m1, 0, 0, 0, multiplier);
  e.multiplier_before = before;
  return e;
}

TEST_CASE("scale histogram: octaves of the multiplier, changes up and down") {
  ScaleHistogram h;
  for (const ElementStep& e : {under(1, 1), under(2, 1), under(3, 4), under(0x1p-70, 0x1p-69), under(0, 0.5),
                               under(0.75, std::nullopt), under(0x1p40, 0)})
    h.see(e);
  const auto bin = [&](int exponent) {
    return h.multipliers.counts[static_cast<std::size_t>(exponent - h.multipliers.lowest_exponent)];
  };
  CHECK(bin(0) == 1);
  CHECK(bin(1) == 2);
  CHECK(bin(-1) == 1);
  CHECK(bin(-64) == 1);
  CHECK(bin(32) == 1);
  CHECK(h.multipliers.zeros == 1);
  CHECK(h.raised == 2);
  CHECK(h.lowered == 3);
  ElementStep gridless = under(1, 2);
  gridless.grid.reset();
  h.see(gridless);
  CHECK(h.lowered == 3);
  ScaleHistogram twice = h;
  twice.join(h);
  CHECK(twice.raised == 4);
  CHECK(twice.lowered == 6);
  CHECK(twice.multipliers.zeros == 2);
}

}  // namespace
}  // namespace halfulp
