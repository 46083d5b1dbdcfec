#include "analysis/prediction.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "formats/encode.h"

using namespace halfulp;

namespace {

constexpr Direction away = Direction::away_from_zero, inward = Direction::toward_zero;

/// What conversion itself does with the number plus or minus the update; the scale is a power of two here, so
/// the sums are exact for updates of few bits.
bool conversion_sticks(const ScalarFormat& f, double scale, std::uint32_t magnitude, Direction direction,
                       double update) {
  const double value = f.magnitude_value(magnitude);
  const double signed_update = direction == Direction::away_from_zero ? update / scale : -update / scale;
  const std::uint32_t code =
      convert(value + signed_update, f, nearest_even, special_values(OverflowPolicy::saturate), 0);
  return decode(f, code) == value;
}

}  // namespace

TEST_CASE("prediction bf16: the hand-worked steps around 1 and its odd neighbour") {
  constexpr std::uint32_t one = 0x3f80, odd = 0x3f81;
  CHECK(is_stuck(bf16, 1, one, away, 0x1p-8));  // a tie: 1 is even
  CHECK_FALSE(is_stuck(bf16, 1, one, inward, 0x1p-8));
  CHECK(is_stuck(bf16, 1, one, inward, 0x1p-9));  // below a power of two the gap is halved; again a tie
  CHECK_FALSE(is_stuck(bf16, 1, one, inward, 1.01 * 0x1p-9));
  CHECK_FALSE(is_stuck(bf16, 1, odd, away, 0x1p-8));
  CHECK_FALSE(is_stuck(bf16, 1, odd, inward, 0x1p-8));
  CHECK(is_stuck(bf16, 1, odd, away, 0x1p-9));
  CHECK(is_stuck(bf16, 1, odd, inward, 0x1p-9));
}

TEST_CASE("prediction bf16: an update of 1e-3 moves every number below 0.5 and none above") {
  // The half gap in [0.25, 0.5) is 2^-10 = 9.77e-4 < 1e-3; from 0.5 on it is 2^-9 outward. 0.5 itself still
  // moves toward zero, by the smaller gap below it.
  constexpr AdditiveThresholds thresholds = additive_thresholds(bf16, 1, 1e-3);
  CHECK(thresholds.free_below == 0.5);
  CHECK(thresholds.frozen_above == 0.5);
}

TEST_CASE("prediction: an update of exactly half a gap moves the odd half of a binade") {
  // 2^-10 is half the gap in [0.25, 0.5): 0.25 and every even number there stay, the last odd one moves.
  constexpr AdditiveThresholds thresholds = additive_thresholds(bf16, 1, 0x1p-10);
  CHECK(thresholds.free_below == 0.25);
  CHECK(thresholds.frozen_above == 0.5 - 0x1p-9);
}

TEST_CASE("prediction e4m3: 1e-3 freezes above 2^-5 and less than 2^-10 freezes everything") {
  CHECK(additive_thresholds(e4m3, 1, 1e-3).frozen_above == 0x1p-5);
  CHECK(additive_thresholds(e4m3, 1, 1e-3).free_below == 0x1p-5);
  CHECK(additive_thresholds(e4m3, 1, 0.99 * 0x1p-10).frozen_above == 0);
  CHECK(additive_thresholds(e4m3, 1, 0.99 * 0x1p-10).free_below == 0);
}

TEST_CASE("prediction: a block scale multiplies thresholds and the update alike") {
  const AdditiveThresholds plain = additive_thresholds(e2m1, 1, 0.3),
                           scaled = additive_thresholds(e2m1, 0.125, 0.0375);
  CHECK(plain.frozen_above == 2);
  CHECK(scaled.frozen_above == 2 * 0.125);
  CHECK(scaled.free_below == plain.free_below * 0.125);
}

TEST_CASE("prediction: relative half gaps of bf16 and e4m3") {
  CHECK(relative_thresholds(bf16).largest == 0x1p-8);
  CHECK(relative_thresholds(bf16).smallest == 0x1p-8 / (2 - 0x1p-7));
  CHECK(relative_thresholds(e4m3).largest == 0.0625);
  CHECK(relative_thresholds(e4m3).smallest == 0.0625 / 1.875);
}

TEST_CASE("prediction: zero escapes above half the smallest positive number") {
  CHECK(zero_escape_threshold(e4m3, 1) == 0x1p-10);
  CHECK(zero_escape_threshold(e5m2, 1) == 0x1p-17);
  CHECK(zero_escape_threshold(e2m1, 1) == 0.25);
  CHECK(zero_escape_threshold(e3m2, 1) == 0x1p-5);
  CHECK(zero_escape_threshold(e2m3, 1) == 0.0625);
  CHECK(zero_escape_threshold(e2m1, 0.5) == 0.125);
}

TEST_CASE("prediction: a multiplicative update is trapped below half the smallest gap over its rate") {
  CHECK(multiplicative_trap(e4m3, 1, 0.0625) == 0x1p-6);
  CHECK(multiplicative_trap(e3m0, 1, 0.5) == 0.25);
}

TEST_CASE("prediction: decays that freeze a moving average") {
  CHECK(ema_freezing_decay(bf16) == 1 - 0x1p-9);
  CHECK(ema_freezing_decay(e4m3) == 0.96875);
  CHECK(ema_freezing_decay(e5m2) == 0.9375);
  CHECK(ema_freezing_decay(e2m1) == 0.875);
}

TEST_CASE("prediction: conversion does what is predicted, for every number of every small format") {
  ScalarFormat flushing = e3m2;
  flushing.has_subnormals = false;
  std::vector<ScalarFormat> formats{flushing};
  for (const NamedScalarFormat& known : all_scalar_formats)
    if (known.format.bits() <= 8) formats.push_back(known.format);
  for (const ScalarFormat& f : formats)
    for (const double scale : {1.0, 0.25, 8.0})
      for (const int exponent : {-9, -4, -2, -1, 0, 1})
        for (const double mantissa : {1.0, 1.0625, 1.5, 1.9375}) {
          const double update = mantissa * f.min_positive() * power_of_two(exponent) * scale;
          double largest_moving = 0, smallest_stuck = std::numeric_limits<double>::infinity();
          const std::uint32_t start =
              f.has_zero && !f.has_subnormals ? std::uint32_t{1} << f.fraction_bits : 0;
          for (std::uint32_t code = start; code <= f.top_magnitude(); ++code)
            for (const Direction direction : {away, inward}) {
              if (code == 0 && direction == inward) continue;
              const bool sticks = conversion_sticks(f, scale, code, direction, update);
              INFO("bits ", f.bits(), " code ", code, " update ", update, " inward ", direction == inward);
              REQUIRE(is_stuck(f, scale, code, direction, update) == sticks);
              const double value = f.magnitude_value(code) * scale;
              if (sticks) smallest_stuck = std::min(smallest_stuck, value);
              if (!sticks) largest_moving = std::max(largest_moving, value);
            }
          if (start != 0) continue;  // zero was left out, and with it one candidate
          INFO("bits ", f.bits(), " exponent bits ", f.exponent_bits, " update ", update, " scale ", scale);
          const AdditiveThresholds thresholds = additive_thresholds(f, scale, update);
          REQUIRE(thresholds.frozen_above == largest_moving);
          if (!f.has_zero) continue;  // at its smallest number E8M0 has no direction inward
          REQUIRE(thresholds.free_below == smallest_stuck);
        }
}
