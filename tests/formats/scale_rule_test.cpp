// Every scale rule against its definition in exact rationals, at each place where the rule changes its mind and one
// step of double and of float beside it.
#include <doctest/doctest.h>

#include "tests/formats/exact_scales.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

/// A block format whose scale is a power of two between 2^-127 and 2^127.
BlockFormat power_format(const ScaledElement& e, ScaleRule rule, TensorScale tensor_scale) {
  return {e.format, {BlockAxis::tile, 32}, e8m0, rule, tensor_scale};
}

int exponent_of(const ScalarFormat& element, ScaleRule rule, double amax) {
  return static_cast<int>(choose_scale(mx(element, rule), amax, 1.0f, 0)) - 127;
}

/// Where the rules of an element change: powers of two, its largest number, the tie of the even rules, roots of 2
/// (inexact: the doubles around them are on either side) of both kinds, and places in between.
std::vector<double> thresholds(const ScaledElement& e) {
  const double largest = std::ldexp(e.largest, -e.exponent), root = std::sqrt(2.0);
  return {1,
          1.25,
          1.5,
          1.5625,
          1.75,
          1.875,
          2 - std::ldexp(1.0, -e.fraction_bits - 1),
          root,
          largest,
          0x1.ffffffffffffep0,
          largest * root,
          largest / root};
}

std::uint32_t expected_code(int exponent) {
  return static_cast<std::uint32_t>(std::clamp(exponent, -127, 127) + 127);
}

}  // namespace

TEST_CASE("scale rules: the published exponents of the five common rules for amax between 1 and 2") {
  struct {
    ScalarFormat element;
    double amax;
    int floor, even, rceil, ceil, rfloor;
  } const rows[] = {{e2m1, 1.25, -2, -2, -2, -1, -3},     {e2m1, 1.5, -2, -2, -2, -1, -2},
                    {e2m1, 1.5625, -2, -2, -1, -1, -2},   {e2m1, 1.75, -2, -1, -1, -1, -2},
                    {e4m3, 1.5, -8, -8, -8, -7, -9},      {e4m3, 1.75, -8, -8, -8, -7, -8},
                    {e4m3, 1.875, -8, -8, -7, -7, -8},    {e4m3, 1.9375, -8, -7, -7, -7, -8},
                    {e2m3, 1.75, -2, -2, -2, -1, -3},     {e2m3, 1.9375, -2, -1, -1, -1, -2},
                    {e3m2, 1.5, -4, -4, -4, -3, -5},      {e3m2, 1.875, -4, -3, -3, -3, -4},
                    {e5m2, 1.5, -15, -15, -15, -14, -16}, {e5m2, 1.875, -15, -14, -14, -14, -15}};
  for (const auto& row : rows)
    for (const int shift : {-90, -1, 0, 1, 90}) {
      INFO(row.amax, " shift ", shift);
      const double amax = std::ldexp(row.amax, shift);
      CHECK(exponent_of(row.element, ScaleRule::ocp_floor, amax) == row.floor + shift);
      CHECK(exponent_of(row.element, ScaleRule::even, amax) == row.even + shift);
      CHECK(exponent_of(row.element, ScaleRule::rceil, amax) == row.rceil + shift);
      CHECK(exponent_of(row.element, ScaleRule::ceil, amax) == row.ceil + shift);
      CHECK(exponent_of(row.element, ScaleRule::rfloor, amax) == row.rfloor + shift);
    }
}

TEST_CASE(
    "scale rules: every rule is its definition at its thresholds and beside them, clamped at both ends") {
  std::uint64_t checked = 0;
  for (const ScaledElement& e : scaled_elements)
    for (const ScaleRule rule : power_of_two_rules)
      for (const int shift : {-149, -148, -127, -126, -112, -3, 0, 29, 126, 127, 142})
        for (const double threshold : thresholds(e))
          for (const double amax : around(std::ldexp(threshold, shift))) {
            if (amax == 0 || !std::isfinite(amax)) continue;
            for (const std::uint32_t random : {0u, 1u, 0x3fffffu, 0x7ffffeu, 0x7fffffu}) {
              const auto expected = expected_code(exponent_by_definition(rule, e, exact(amax), random));
              const auto got = choose_scale(power_format(e, rule, TensorScale::none), amax, 1.0f, random);
              ++checked;
              if (rule != ScaleRule::stochastic_exponent) {
                if (got == expected) break;
              } else if (got == expected) {
                continue;
              }
              INFO(std::string(name_of(rule)), " element max ", e.largest, " amax ", amax, " random ",
                   random);
              CHECK(got == expected);
            }
          }
  CHECK(checked > 60'000);
}

TEST_CASE("scale rules: under a tensor scale every rule sees the exact quotient amax / t") {
  std::uint64_t checked = 0;
  for (const ScaledElement& e : scaled_elements)
    for (const ScaleRule rule : power_of_two_rules)
      for (const float t : awkward_tensor_scales)
        for (const int shift : {-100, 7})
          for (const double threshold : thresholds(e))
            for (const double amax : around(std::ldexp(threshold, shift) * t)) {
              if (amax == 0 || !std::isfinite(amax)) continue;
              const std::uint32_t random = 0x2f0f0f;
              const auto expected =
                  expected_code(exponent_by_definition(rule, e, exact(amax) / exact(t), random));
              const auto got = choose_scale(power_format(e, rule, TensorScale::tensor), amax, t, random);
              ++checked;
              if (got == expected) continue;
              INFO(std::string(name_of(rule)), " element max ", e.largest, " amax ", amax, " t ", t);
              CHECK(got == expected);
            }
  CHECK(checked > 50'000);
}

TEST_CASE("scale rules: powers of two in scale formats with fractions are clamped to their own ends") {
  for (const ScaleGrid& grid : scale_grids)
    for (const ScaleRule rule : power_of_two_rules)
      for (int k = -170; k <= 170; ++k) {
        BlockFormat f{e2m1, {BlockAxis::tile, 16}, grid.format, rule, TensorScale::none};
        const double amax = std::ldexp(1.0, k);
        const int exponent = exponent_by_definition(rule, scaled_elements[0], exact(amax), 0);
        const double expected =
            std::clamp(std::ldexp(1.0, exponent), grid.smallest, std::ldexp(1.0, std::ilogb(grid.largest)));
        INFO(std::string(name_of(rule)), " ", k, " largest ", grid.largest);
        CHECK(decode(grid.format, choose_scale(f, amax, 1.0f, 0)) == expected);
      }
}

TEST_CASE("stochastic_exponent: of the 2^23 random integers exactly floor(f 2^23) round the exponent up") {
  const BlockFormat f = mx(e2m1, ScaleRule::stochastic_exponent);
  for (const std::uint32_t count : {0u, 1u, 2u, 0x400000u, 0x555555u, 0x7ffffeu, 0x7fffffu})
    for (const double beside : {0.0, 0x1p-24, 0x1p-23 - 0x1p-52}) {
      const double amax = std::ldexp(1 + count * 0x1p-23 + beside, 5);
      INFO("count ", count, " beside ", beside);
      // Monotone in the random integer, so the one that decides tells the count.
      const std::uint32_t all = 1u << scale_random_bits, first = all - count;
      if (first < all) CHECK(choose_scale(f, amax, 1.0f, first) == 127 + 5 - 2 + 1);
      CHECK(choose_scale(f, amax, 1.0f, first - 1) == 127 + 5 - 2);
      CHECK(choose_scale(f, amax, 1.0f, 0) == 127 + 5 - 2);
    }
  std::uint32_t up = 0, before = 0, falls = 0;
  for (std::uint32_t random = 0; random < 1u << scale_random_bits; ++random) {
    const std::uint32_t code = choose_scale(f, 1.3, 1.0f, random);
    up += code == 126 ? 1 : 0;
    falls += code < before ? 1 : 0;
    before = code;
  }
  CHECK(up == static_cast<std::uint32_t>(0.3 * 0x1p23));  // 1.3 - 1 = 0.3 in floor(f 2^23)
  CHECK(falls == 0);
}

TEST_CASE(
    "amax and p3109_maxabs: the exact quotient rounded once to the scale format, at its ties and beside") {
  std::uint64_t checked = 0;
  for (const ScaleGrid& grid : scale_grids)
    for (const ScaledElement& e : scaled_elements)
      for (const ScaleRule rule : {ScaleRule::amax, ScaleRule::p3109_maxabs})
        for (const float t : awkward_tensor_scales)
          for (int k = -20; k <= 18; k += t == 1 ? 3 : 19)
            for (const double fraction : {1.0, 1.0625, 1.1875, 1 + std::ldexp(1.0, -grid.fraction_bits - 1),
                                          2 - std::ldexp(1.0, -grid.fraction_bits - 1), 1.3}) {
              const double divisor = rule == ScaleRule::amax ? e.largest : 1;
              for (const double amax : around(std::ldexp(fraction, k) * divisor * t))
                for (const bool up : {false, true}) {
                  if (amax == 0 || !std::isfinite(amax)) continue;
                  BlockFormat f{e.format,
                                {BlockAxis::tile, 16},
                                grid.format,
                                rule,
                                t == 1 ? TensorScale::none : TensorScale::tensor};
                  f.conventions.rounds_up = up;
                  const double expected =
                      scale_by_definition(grid, exact(amax) / exact(divisor) / exact(t), up);
                  const double got = decode(grid.format, choose_scale(f, amax, t, 0));
                  ++checked;
                  if (got == expected) continue;
                  INFO(std::string(name_of(rule)), " scale up to ", grid.largest, " amax ", amax, " t ", t,
                       " up ", up);
                  CHECK(got == expected);
                }
            }
  CHECK(checked > 40'000);
}

TEST_CASE("amax and p3109_maxabs under e8m0: nearest in value, ties to the even code; or up") {
  for (const ScaleRule rule : {ScaleRule::amax, ScaleRule::p3109_maxabs})
    for (int k = -127; k <= 127; ++k) {
      BlockFormat f = mx(e2m1, rule);
      const double divisor = rule == ScaleRule::amax ? 6 : 1, one = std::ldexp(divisor, k);
      const auto code = static_cast<std::uint32_t>(k + 127);
      const auto limited = [](std::uint32_t c) { return std::min(c, 254u); };
      INFO(std::string(name_of(rule)), " 2^", k);
      CHECK(choose_scale(f, one, 1.0f, 0) == code);
      CHECK(choose_scale(f, 1.5 * one, 1.0f, 0) == limited(code + code % 2));
      CHECK(choose_scale(f, std::nextafter(1.5 * one, 0.0), 1.0f, 0) == code);
      CHECK(choose_scale(f, std::nextafter(1.5 * one, 1e308), 1.0f, 0) == limited(code + 1));
      f.conventions.rounds_up = true;
      CHECK(choose_scale(f, one, 1.0f, 0) == code);
      CHECK(choose_scale(f, std::nextafter(one, 1e308), 1.0f, 0) == limited(code + 1));
    }
}
