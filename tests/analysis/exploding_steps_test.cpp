// Steps of more than ten times the usual, and second moments that were lost.
#include "analysis/exploding_steps.h"

#include <doctest/doctest.h>

#include "tests/analysis/random_tiles.h"

namespace halfulp {
namespace {

ElementStep updated(double before, double update, TypicalStep typical, bool lost = false) {
  ElementStep e = test::moved(bf16, before, update, before);
  e.typical = typical.at(before);
  e.second_moment_lost = lost;
  return e;
}

TEST_CASE("exploding steps: more than ten times the typical step, absolute and relative") {
  ExplodingSteps s;
  s.see(updated(1, 0.01, {0.001, 0}));    // ten times in reals; 10 * fl(0.001) = fl(0.01) in double
  s.see(updated(1, -0.02, {0.001, 0}));   // explodes
  s.see(updated(-4, 0.3, {0, 0.01}));     // usual: 0.04
  s.see(updated(-4, 0.5, {0, 0.01}));     // explodes
  s.see(updated(-4, 0.5, {0.02, 0.01}));  // usual: 0.06
  s.see(updated(1, 1e9, {0, 0}));         // nobody says what is usual
  s.see(updated(0, 1e9, {0, 0.01}));      // of zero a multiplicative rule moves nothing
  CHECK(s.compared == 5);
  CHECK(s.exploding == 2);
  CHECK(s.second_moment_lost == 0);
}

TEST_CASE("exploding steps: of these, a second moment stored as zero") {
  ExplodingSteps s;
  s.see(updated(1, 0.5, {0.001, 0}, true));
  s.see(updated(1, 0.5, {0.001, 0}, false));
  s.see(updated(1, 0.005, {0.001, 0}, true));  // lost, but no explosion
  CHECK(s.exploding == 2);
  CHECK(s.second_moment_lost == 1);
  ExplodingSteps twice = s;
  twice.join(s);
  CHECK(twice.compared == 6);
  CHECK(twice.exploding == 4);
  CHECK(twice.second_moment_lost == 2);
}

/// Whether the one element of two states counts as lost, given their values before and after.
bool is_lost(Moment one, std::array<double, 2> first, Moment two, std::array<double, 2> second) {
  const SlotPlan plan = state_slot(unscaled(bf16));
  const std::span<const double> a(first), b(second);
  const StateRecord<double> states[] = {
      {{"a", one}, plan, a.subspan(0, 1), a.subspan(1), a.subspan(1), a.subspan(0, 1), {}},
      {{"b", two}, plan, b.subspan(0, 1), b.subspan(1), b.subspan(1), b.subspan(0, 1), {}}};
  return is_second_moment_lost(std::span<const StateRecord<double>>(states), 0);
}

TEST_CASE(
    "second moment lost: zero before or after while the first moment is not, in either order of slots") {
  CHECK(is_lost(Moment::first, {1, 1}, Moment::second, {0, 1}));
  CHECK(is_lost(Moment::first, {1, 1}, Moment::second, {1, -0.0}));
  CHECK(is_lost(Moment::second, {0, 0}, Moment::first, {0, 1}));
  CHECK_FALSE(is_lost(Moment::first, {0, 1}, Moment::second, {0, 1}));  // the first step: both start at zero
  CHECK_FALSE(is_lost(Moment::first, {0, 0}, Moment::second, {0, 0}));
  CHECK_FALSE(is_lost(Moment::first, {1, 0}, Moment::second, {1, 0}));
  CHECK_FALSE(is_lost(Moment::first, {1, 1}, Moment::first, {0, 0}));  // no second moment at all
  CHECK_FALSE(is_lost(Moment::none, {1, 1}, Moment::second, {0, 0}));
  CHECK_FALSE(is_second_moment_lost(std::span<const StateRecord<double>>(), 0));
}

}  // namespace
}  // namespace halfulp
