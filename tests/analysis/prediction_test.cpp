#include "analysis/prediction.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "formats/encode.h"
#include "formats/spec.h"
#include "formats/value_table.h"

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

TEST_CASE("prediction: a table by hand, and conversion does what is predicted for every number of it") {
  // Gaps 3, 1, 1, 1, 2 of {-4, -1, 0, 1, 2, 4}: an update of 0.6 passes half of 1 but not of 2.
  const ScalarFormat skewed = table_format({-4, -1, 0, 1, 2, 4}, "skewed");
  const AdditiveThresholds by_hand = additive_thresholds(skewed, 1, 0.6);
  CHECK(by_hand.frozen_above == 2);  // 2 moves down, 4 and -4 do not move inward
  CHECK(by_hand.free_below == 1);    // 0 moves both ways, -1 not down
  CHECK(additive_thresholds(skewed, 8, 0.6 * 8).frozen_above == 16);
  CHECK(additive_thresholds(skewed, 1, 0.4).frozen_above == 0);
  CHECK(zero_escape_threshold(skewed, 1) == 0.5);

  const std::vector<ScalarFormat> tables{skewed, table_format({-3, -1, 2, 5}, "no zero"),
                                         table_format({0.25, 0.5, 3}, "positive"), lns_format(5, 1)};
  for (const ScalarFormat& f : tables)
    for (const double update : {0.03125, 0.1, 0.25, 0.375, 0.5, 0.6, 1.0, 1.5, 3.0}) {
      double largest_moving = 0, smallest_stuck = std::numeric_limits<double>::infinity();
      for (std::uint32_t i = 0; i < f.table_size; ++i)
        for (const double step : {update, -update}) {
          const std::uint32_t code =
              convert(f.table[i] + step, f, nearest_even, special_values(OverflowPolicy::saturate), 0);
          const double magnitude = std::fabs(f.table[i]);
          if (code == i) smallest_stuck = std::min(smallest_stuck, magnitude);
          if (code != i) largest_moving = std::max(largest_moving, magnitude);
        }
      INFO("table of ", f.table_size, " update ", update);
      const AdditiveThresholds thresholds = additive_thresholds(f, 1, update);
      REQUIRE(thresholds.frozen_above == largest_moving);
      REQUIRE(thresholds.free_below == smallest_stuck);
    }
}

TEST_CASE("prediction: the zone of zeros beside the largest number of a block") {
  const BlockFormat mxfp4 = parse_format("mxfp4"), fp8_tensor = parse_format("fp8_tensor");
  // mxfp4 by ocp_floor: amax 6 gives scale 1, and 0.25 is a tie that goes to zero; amax 8 gives scale 2.
  CHECK(zero_zone(mxfp4, 6) == 0.25);
  CHECK(zero_zone(mxfp4, 7.9) == 0.25);
  CHECK(zero_zone(mxfp4, 8) == 0.5);
  CHECK(zero_zone(mxfp4, 0x1p-20) == 0x1p-24);
  // One fp32 scale of amax / 448: a share of 2^-10 / 448 of the largest.
  CHECK(zero_zone(fp8_tensor, 448) == 0x1p-10);
  CHECK(zero_zone(fp8_tensor, 4.48) == doctest::Approx(0x1p-10 / 100).epsilon(1e-7));
  CHECK(zero_zone(unscaled(bf16), 100) == 0x1p-134);
  // nvfp4 with a tensor scale of 1: amax 6 and amax 3.
  CHECK(zero_zone(nvfp4, 6) == 0.25);
  CHECK(zero_zone(nvfp4, 3) == 0.125);
  // Conversion agrees, on both sides of the zone's edge.
  for (const BlockFormat& f : {mxfp4, nvfp4, fp8_tensor, parse_format("mxfp8_e5m2")})
    for (const double amax : {0.1f, 1.0f, 5.3f, 100.0f}) {
      const double zone = zero_zone(f, amax);
      const auto code = choose_scale(f, amax, {1.0f}, 0);
      const Converter nearest(f.element, nearest_even, special_values(OverflowPolicy::saturate));
      const auto element = [&](double x) {
        return element_in_block(x, true, block_divisor(f, code, {1.0f}), nearest, 0);
      };
      CHECK(element(zone) == 0);
      CHECK(element(-zone) == 0);
      CHECK(element(zone * (1 + 0x1p-30)) > 0);
    }
}

TEST_CASE("prediction: weight decay as an operation of its own, for every normal number") {
  CHECK(decay_reach(bf16).none_below ==
        0x1p-9);  // 1.95e-3: a rate times decay of 1e-3 * 0.1 does nothing at all
  CHECK(decay_reach(bf16).all_above == 0x1p-8 / (1 + 0x1p-7));
  for (const ScalarFormat& f : {bf16, fp16, e4m3, e5m2, e3m2, e2m3, e2m1}) {
    const RelativeReach reach = decay_reach(f);
    const auto moved = [&](double w, double rate) {
      return decode(f, convert(w - rate * w, f, nearest_even, special_values(OverflowPolicy::saturate), 0)) !=
             w;
    };
    std::size_t early = 0, late = 0, between = 0, numbers = 0;
    const std::uint32_t first =
        (std::uint32_t{1} << f.fraction_bits) + 1;  // above the smallest normal number
    for (std::uint32_t code = first; code <= f.top_magnitude(); ++code) {
      const double w = f.magnitude_value(code);
      early += moved(w, reach.none_below * (1 - 0x1p-20));
      late += !moved(w, reach.all_above * (1 + 0x1p-20));
      between += moved(w, (reach.none_below + reach.all_above) / 2);
      ++numbers;
    }
    CHECK(early == 0);
    CHECK(late == 0);
    CHECK(between > 0);
    CHECK(between < numbers);
  }
}

TEST_CASE("prediction: the signed exponential step, for every normal number and both directions") {
  const RelativeReach of_bf16 = exponential_reach(bf16);
  CHECK(of_bf16.none_below == doctest::Approx(0x1p-9).epsilon(2e-3));
  CHECK(of_bf16.all_above == doctest::Approx(0x1p-8).epsilon(3e-3));
  for (const ScalarFormat& f : {bf16, e4m3, e5m2, e3m2, e2m3, e2m1}) {
    const RelativeReach reach = exponential_reach(f);
    std::size_t early = 0, late = 0;
    bool some_up = false, some_down = false;
    const std::uint32_t first = (std::uint32_t{1} << f.fraction_bits) + 1;
    for (std::uint32_t code = first; code < f.top_magnitude(); ++code) {
      const double w = f.magnitude_value(code);
      const auto moved = [&](double alpha) {
        const double wanted = w * elementary::exp(alpha);
        return decode(f, convert(wanted, f, nearest_even, special_values(OverflowPolicy::saturate), 0)) != w;
      };
      for (const double sign : {1.0, -1.0}) {
        early += moved(sign * reach.none_below * (1 - 0x1p-20));
        late += !moved(sign * reach.all_above * (1 + 0x1p-20));
      }
      some_up = some_up || moved(reach.none_below * 1.05);
      some_down = some_down || moved(-reach.none_below * 1.05);
    }
    CHECK(early == 0);
    CHECK(late == 0);
    CHECK((some_up || some_down));
  }
}
