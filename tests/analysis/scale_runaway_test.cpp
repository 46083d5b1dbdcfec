// Growth through scales on numbers worked by hand: a product over steps, a sum over tiles.
#include "analysis/scale_runaway.h"

#include <doctest/doctest.h>

#include "analysis/step_counters.h"
#include "tests/analysis/random_tiles.h"

namespace halfulp {
namespace {

/// A weight carried from `before` to `unmoved` by its scale.
ElementStep carried(double before, double update, double unmoved) {
  ElementStep e = test::moved(e2m1, before, update, unmoved, 1);
  e.unmoved = unmoved;
  return e;
}

TEST_CASE("scale runaway: weights without an update or with one towards zero, and no others") {
  ScaleRunaway r;
  r.see(carried(2, 0, 3));       // nothing asked: grows
  r.see(carried(-2, 0.1, -3));   // asked towards zero: grows
  r.see(carried(4, -0.5, 3));    // towards zero: shrinks
  r.see(carried(1, 0, 1));       // stays
  r.see(carried(2, 0.1, 3));     // outward: its growth was asked for
  r.see(carried(-2, -0.1, -3));  // outward
  r.see(carried(0, 0, 0));       // no magnitude to grow
  r.see(carried(0, 0.1, 0));
  CHECK(r.elements == 4);
  CHECK(r.grown == 2);
  CHECK(r.shrunk == 1);
  CHECK(r.before == 2 + 2 + 4 + 1);
  CHECK(r.unmoved == 3 + 3 + 3 + 1);
  CHECK(r.growth() == 1);  // the step is still open
  CHECK(r.steps == 0);
}

TEST_CASE("scale runaway: ratios multiply over steps; the ratio of all sums would not") {
  // Two tiles a step. Step 1: 1 -> 2 and 3 -> 6, a factor of 2. Step 2: 2 -> 8 and 6 -> 24, a factor of 4.
  ScaleRunaway run;
  for (const double factor : {2.0, 4.0}) {
    const double start = factor == 2 ? 1 : 2;
    ScaleRunaway step, tile, other;
    tile.see(carried(start, 0, start * factor));
    other.see(carried(3 * start, 0, 3 * start * factor));
    step.join(tile);
    step.join(other);
    step.after_step();
    CHECK(step.growth() == factor);
    CHECK(step.before == 0);
    run.join(step);
  }
  CHECK(run.log2_growth == 3);
  CHECK(run.growth() == 8);
  CHECK(run.steps == 2);
  CHECK((2.0 + 6 + 8 + 24) / (1.0 + 3 + 2 + 6) < 3.5);
  // The same by one object that is closed step by step.
  ScaleRunaway one;
  one.see(carried(1, 0, 2));
  one.after_step();
  one.see(carried(2, 0, 8));
  one.after_step();
  CHECK(one.growth() == 8);
  // There and back is no growth.
  one.see(carried(8, 0, 1));
  one.after_step();
  CHECK(one.growth() == 1);
}

TEST_CASE("scale runaway: a step with nothing to see, or of weights that all vanish, changes nothing") {
  ScaleRunaway r;
  r.after_step();
  r.see(carried(2, 1, 3));  // outward only
  r.after_step();
  r.see(carried(0.5, 0, 0));  // underflowed under a new scale
  r.after_step();
  CHECK(r.steps == 0);
  CHECK(r.growth() == 1);
  r.see(carried(1, 0, 1.5));
  r.after_step();
  CHECK(r.steps == 1);
  CHECK(r.growth() == doctest::Approx(1.5).epsilon(1e-15));
}

TEST_CASE("scale runaway: random steps of random tiles against a product of ratios") {
  test::Draws draw(11);
  for (const char* name : {"nvfp4", "fp8_tensor", "bf16"}) {
    CounterProbe run;
    double product = 1;
    for (int step = 0; step < 25; ++step) {
      CounterProbe open;
      double before = 0, unmoved = 0;
      for (int i = 0; i < 4; ++i) {
        test::CountAndKeep::Tile tile;
        test::draw_tile<double>(draw, parse_format(name), 50).show(tile);
        open.join(tile.counted);
        for (const test::Row& r : tile.rows) {
          if (!r.is_part || !r.is_finite()) continue;
          if ((r.before > 0 && r.update <= 0) || (r.before < 0 && r.update >= 0))
            before += std::fabs(r.before), unmoved += std::fabs(r.unmoved);
        }
      }
      open.after_step();
      run.join(open);
      if (before > 0 && unmoved > 0) product *= unmoved / before;
    }
    CHECK(run.stored.runaway.steps > 20);
    CHECK(run.stored.runaway.growth() == doctest::Approx(product).epsilon(1e-12));
    if (std::string(name) != "bf16") CHECK(product != 1);
  }
}

}  // namespace
}  // namespace halfulp
