// Where moving averages stall, iterated in their format.
#include "analysis/ema_stall.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "analysis/prediction.h"
#include "tests/analysis/representable.h"

namespace halfulp {
namespace {

/// The same average by the sorted list of all numbers: the nearest one, a tie to the even position among magnitudes.
EmaStall by_list(const std::vector<double>& values, double decay, double x, double start) {
  const auto nearest = [&](double v) {
    const auto above = std::lower_bound(values.begin(), values.end(), v);
    if (above == values.end()) return values.back();
    if (above == values.begin() || *above == v) return *above;
    const double low = above[-1], high = above[0];
    if (v - low != high - v) return v - low < high - v ? low : high;
    const auto zero = std::lower_bound(values.begin(), values.end(), 0.0);
    return (above - zero) % 2 == 0 ? high : low;
  };
  EmaStall stall{nearest(start), 0};
  for (double next = 0; (next = nearest(decay * stall.value + (1 - decay) * x)) != stall.value; ++stall.steps)
    stall.value = next;
  return stall;
}

TEST_CASE("ema stall: bf16 second moments of ones, from below and from above") {
  // What a pure iteration of v <- b v + (1 - b) gave, to the digits noted.
  const struct {
    double decay, from_zero, from_four;
  } known[] = {
      {0.9, 0.984, 1.03}, {0.95, 0.961, 1.08}, {0.99, 0.805, 1.39}, {0.995, 0.609, 2.56}, {0.999, 0.25, 4}};
  for (const auto& k : known) {
    CAPTURE(k.decay);
    CHECK(std::fabs(ema_stall(bf16, 1, k.decay, 1, 0).value - k.from_zero) < 0.0006);
    CHECK(std::fabs(ema_stall(bf16, 1, k.decay, 1, 4).value - k.from_four) < 0.006);
  }
  CHECK(ema_stall(bf16, 1, 0.999, 1, 0).value == 0.25);
  CHECK(ema_stall(bf16, 1, 0.999, 1, 0).steps == 256);
  CHECK(ema_stall(bf16, 1, 0.999, 1, 4).steps == 0);
  CHECK(ema_stall(bf16, 1, 0.999, 0, 1).value == 1);
}

TEST_CASE("ema stall: e4m3 freezes from 0.99 on, and stops early at 0.95") {
  for (const double decay : {0.99, 0.999}) {
    CHECK(ema_stall(e4m3, 1, decay, 0, 1).value == 1);
    CHECK(ema_stall(e4m3, 1, decay, 0, 1.75).value == 1.75);
    CHECK(ema_stall(e4m3, 1, decay, 1, 1.25).value == 1.25);
  }
  // 1.75 * 0.95 = 1.6625 and 1.625 * 0.95 = 1.54375 cross a midpoint, 1.25 * 0.95 = 1.1875 is the midpoint and ties to
  // 1.25, even.
  CHECK(ema_stall(e4m3, 1, 0.95, 0, 1.75).value == 1.25);
  CHECK(ema_stall(e4m3, 1, 0.95, 0, 1.75).steps == 4);
}

TEST_CASE("ema stall: against the nearest number of the whole list, any start, decay and input") {
  for (const ScalarFormat& f : {e4m3, e5m2, e2m1, e3m2, bf16, fp16}) {
    const std::vector<double> values = test::representable(f);
    for (const double decay : {0.0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0})
      for (const double x : {0.0, 1.0, -0.7, 3.3})
        for (const double start : {0.0, -1.0, 4.0, 0.3}) {
          const EmaStall got = ema_stall(f, 1, decay, x, start), expected = by_list(values, decay, x, start);
          CHECK(got.value == expected.value);
          CHECK(got.steps == expected.steps);
        }
  }
}

TEST_CASE("ema stall: a decay above the freezing one never moves a normal number, a smaller one moves some") {
  for (const ScalarFormat& f : {bf16, e4m3, e5m2, e2m1}) {
    const double freezing = ema_freezing_decay(f), above = freezing + (1 - freezing) / 8;
    for (const double start : {1.0, 1.5, 2.0, 3.0}) CHECK(ema_stall(f, 1, above, 0, start).value == start);
    CHECK(ema_stall(f, 1, freezing - (1 - freezing) / 8, 0, 2).value < 2);
  }
}

TEST_CASE("ema stall: a block's scale moves the average with it") {
  for (const double scale : {0.125, 8.0})
    CHECK(ema_stall(e4m3, scale, 0.95, 0, 1.75 * scale).value == 1.25 * scale);
  // Under a scale of 3 the numbers are fl32(3 q).
  CHECK(ema_stall(e4m3, 3, 0.95, 0, 5.25).value == 3.75);
  CHECK(ema_stall(e4m3, 0.1f, 0.5, 1, 0).value ==
        doctest::Approx(ema_stall(e4m3, 1, 0.5, 10, 0).value / 10).epsilon(1e-6));
}

}  // namespace
}  // namespace halfulp
