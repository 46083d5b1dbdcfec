#pragma once
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "formats/block.h"
#include "formats/catalog.h"
#include "tests/formats/exact_rational.h"

namespace halfulp::test {

/// What scale rules know of an element, as the specifications print it: exponent of the largest number, that number,
/// fraction bits.
struct ScaledElement {
  ScalarFormat format;
  int exponent;
  double largest;
  int fraction_bits;
};

inline constexpr std::array scaled_elements{
    ScaledElement{e2m1, 2, 6, 1},   ScaledElement{e2m3, 2, 7.5, 3},     ScaledElement{e3m2, 4, 28, 2},
    ScaledElement{e4m3, 8, 448, 3}, ScaledElement{e5m2, 15, 57344, 2},  ScaledElement{int8, 0, 127.0 / 64, 6},
    ScaledElement{e3m0, 4, 16, 0},  ScaledElement{e4m3_ieee, 7, 240, 3}};

inline constexpr std::array power_of_two_rules{ScaleRule::ocp_floor,
                                               ScaleRule::even,
                                               ScaleRule::even_tie_down,
                                               ScaleRule::ceil,
                                               ScaleRule::rceil,
                                               ScaleRule::rfloor,
                                               ScaleRule::log2_nearest,
                                               ScaleRule::log2_nearest_binade,
                                               ScaleRule::stochastic_exponent};

/// A scale format by its numbers: they are the multiples of 2^(min_exponent - fraction_bits) with fraction_bits + 1
/// significant bits from 2^min_exponent on, up to the largest.
struct ScaleGrid {
  ScalarFormat format;
  int fraction_bits, min_exponent;
  double smallest, largest;
};

inline constexpr std::array scale_grids{
    ScaleGrid{ue4m3, 3, -6, 0x1p-9, 448}, ScaleGrid{ue5m3, 3, -14, 0x1p-17, 114688},
    ScaleGrid{fp32, 23, -126, 0x1p-149, std::numeric_limits<float>::max()},
    ScaleGrid{bf16, 7, -126, 0x1p-133, 0x1.fep127}};

/// ceil(log2 x) of a positive rational.
inline int ceil_log2_exact(const Rational& x) {
  const int k = floor_log2_exact(x);
  return power(k) == x ? k : k + 1;
}

/// floor(log2(x) + 1/2): the k with 2^(2k-1) <= x^2 < 2^(2k+1).
inline int nearest_log2_exact(const Rational& x) {
  const int twice = floor_log2_exact(x * x);  // 2 log2 x in [twice, twice + 1)
  return twice >= 0 ? (twice + 1) / 2 : -(-twice / 2);
}

/// Exponent of the scale by each rule's definition, of a block amax that is `a` tensor scales.
inline int exponent_by_definition(ScaleRule rule, const ScaledElement& e, const Rational& a,
                                  std::uint32_t random) {
  const int binade = floor_log2_exact(a);
  // What the integer formulations add to the bits of a: half a step of the element, in the binade of a.
  const Rational half_step = power(binade - e.fraction_bits - 1), next = power(binade + 1);
  const Rational ratio = a / exact(e.largest);
  switch (rule) {
    case ScaleRule::ocp_floor:
      return binade - e.exponent;
    case ScaleRule::even:
      return binade + (a + half_step >= next ? 1 : 0) - e.exponent;
    case ScaleRule::even_tie_down:
      return binade + (a + half_step > next ? 1 : 0) - e.exponent;
    case ScaleRule::ceil:
      return ceil_log2_exact(a) - e.exponent;
    case ScaleRule::rceil:
      return ceil_log2_exact(ratio);
    case ScaleRule::rfloor:
      return floor_log2_exact(ratio);
    case ScaleRule::log2_nearest:
      return nearest_log2_exact(ratio);
    case ScaleRule::log2_nearest_binade:
      return nearest_log2_exact(a) - e.exponent;
    case ScaleRule::stochastic_exponent: {
      const Rational fraction = (a / power(binade) - 1) * power(23);
      const Integer whole = numerator(fraction) / denominator(fraction);
      return binade + (whole + random >= (Integer(1) << 23) ? 1 : 0) - e.exponent;
    }
    case ScaleRule::none:
    case ScaleRule::amax:
    case ScaleRule::p3109_maxabs:
      break;
  }
  throw std::logic_error("no power of two");
}

/// A positive rational as a number of a scale format, to nearest even or up, saturating.
inline double scale_by_definition(const ScaleGrid& grid, const Rational& x, bool up) {
  const Rational step = power(std::max(floor_log2_exact(x), grid.min_exponent) - grid.fraction_bits);
  const Rational steps = x / step;
  Integer whole = numerator(steps) / denominator(steps);
  const Rational rest = steps - Rational(whole), half(1, 2);
  if (up ? rest > 0 : rest > half || (rest == half && whole % 2 == 1)) ++whole;
  const Rational rounded = Rational(whole) * step;
  return rounded > exact(grid.largest) ? grid.largest : static_cast<double>(rounded);
}

/// x, the doubles beside it, the float nearest to it and the floats beside that.
inline std::vector<double> around(double x) {
  const auto narrow = static_cast<float>(x);
  return {x,
          std::nextafter(x, 0.0),
          std::nextafter(x, 1e308),
          double{narrow},
          double{std::nextafter(narrow, 0.0f)},
          double{std::nextafter(narrow, std::numeric_limits<float>::max())}};
}

/// fp32 tensor scales: 1, powers of two, awkward fractions, and subnormal ones.
inline constexpr std::array awkward_tensor_scales{1.0f,       2.0f,           0.75f / 2688,    1.0f / 3,
                                                  0x1p-126f,  0x1.fffffep-9f, 0x1.000002p-20f, 0x1.23457p40f,
                                                  0x1.8p-140f};

}  // namespace halfulp::test
