// Saturation and underflow, under scales too.
#include "analysis/range_ends.h"

#include <doctest/doctest.h>

#include "formats/value_table.h"
#include "tests/analysis/representable.h"

namespace halfulp {
namespace {

using test::moved;

RangeEnds after_one(const ElementStep& e) {
  RangeEnds r;
  r.see(e);
  return r;
}

TEST_CASE("range ends: at the largest number, and wanted beyond it") {
  CHECK(after_one(moved(e2m1, 4, 2, 6)).at_end == 1);
  CHECK(after_one(moved(e2m1, 4, 2, 6)).saturated == 0);
  CHECK(after_one(moved(e2m1, 4, 2.5, 6)).saturated == 1);
  CHECK(after_one(moved(e2m1, 4, 1.5, 6)).saturated == 0);  // rounded up to it
  CHECK(after_one(moved(e2m1, -4, -2.5, -6)).saturated == 1);
  CHECK(after_one(moved(e2m1, 4, 0, 4)).at_end == 0);
  CHECK(after_one(moved(e2m1, 8, 5, 12, 2)).saturated == 1);
  CHECK(after_one(moved(e2m1, 4, 2, 6, 2)).at_end == 0);
  CHECK(after_one(moved(int8, -1.9, -1, -2)).saturated == 1);
  CHECK(after_one(moved(int8, -1.9, -0.1, -127.0 / 64)).at_end == 0);
  // A table that differs on both sides.
  const ScalarFormat skewed = table_format({-4, -1, 0, 1, 2}, "skewed");
  CHECK(after_one(moved(skewed, -1, -9, -4)).saturated == 1);
  CHECK(after_one(moved(skewed, 1, 9, 2)).saturated == 1);
  CHECK(after_one(moved(skewed, 0, -1, -1)).at_end == 0);
}

TEST_CASE("range ends: underflow is a zero that nobody wanted") {
  CHECK(after_one(moved(e2m1, 0, 0.1, 0)).underflowed == 1);
  CHECK(after_one(moved(e2m1, 0.5, -0.4, -0.0)).underflowed == 1);
  CHECK(after_one(moved(e2m1, 0.5, -0.5, 0)).underflowed == 0);
  CHECK(after_one(moved(e2m1, 0, 0, 0)).underflowed == 0);
  CHECK(after_one(moved(e2m1, 0, 0.1, 0, 0)).underflowed == 1);
  CHECK(after_one(moved(e2m1, 0, 0.1, 0, 0)).at_end ==
        0);  // under a scale of zero there is no largest number
  ElementStep e = moved(e2m1, 6, 1, 6);
  e.grid.reset();
  CHECK(after_one(e).at_end == 0);
  RangeEnds sum = after_one(moved(e2m1, 0, 0.1, 0));
  sum.join(after_one(moved(e2m1, 4, 2.5, 6)));
  CHECK(sum.at_end == 1);
  CHECK(sum.saturated == 1);
  CHECK(sum.underflowed == 1);
}

TEST_CASE("the ends of a format: the lowest number of a table without zero is no end, since it lies inward") {
  const FormatNumbers numbers(table_format({1, 2, 4}, "table{a}"));
  CHECK_FALSE(numbers.is_last(1, 1));
  CHECK_FALSE(numbers.is_last(2, 1));
  CHECK(numbers.is_last(4, 1));
  CHECK(FormatNumbers(table_format({-3, 0, 4}, "table{b}")).is_last(-3, 1));
}

TEST_CASE("the ends of a format: as they are stored, on both sides") {
  CHECK(FormatNumbers(e4m3).stored(false, 1) == 448);
  CHECK(FormatNumbers(e4m3).stored(true, 1) == -448);
  CHECK(FormatNumbers(int8).stored(true, 0.5) == -1);
  CHECK(FormatNumbers(int8).stored(false, 0.5) == 127.0 / 128);
  const double m = 0x1.23456p-5 * 1.375;
  CHECK(FormatNumbers(e2m1).stored(false, m) == static_cast<float>(6 * m));
}

}  // namespace
}  // namespace halfulp
