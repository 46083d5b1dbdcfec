#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "formats/conformance/oracle.h"

namespace halfulp::test {

/// v with its neighbours among the doubles and, where v is in their range, among the floats.
inline void append_with_neighbours(std::vector<double>& points, double v) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr float float_infinity = std::numeric_limits<float>::infinity();
  points.insert(points.end(), {v, std::nextafter(v, infinity), std::nextafter(v, -infinity)});
  if (std::fabs(v) > std::numeric_limits<float>::max()) return;
  const auto narrow = static_cast<float>(v);
  points.insert(points.end(),
                {narrow, std::nextafter(narrow, float_infinity), std::nextafter(narrow, -float_infinity)});
}

/// Non-negative finite values of a format, ascending: all of them up to 16 bits; above, for every exponent
/// the ends of the fraction range and their inner neighbours, some inner fractions, and the neighbours of all
/// of these.
inline std::vector<double> positive_values(const ScalarFormat& f) {
  std::vector<double> values;
  const auto keep = [&](std::uint32_t code) {
    const double v = oracle::decode(f, code);
    if (std::isfinite(v)) values.push_back(std::fabs(v));
  };
  if (f.bits() <= 16) {
    for (std::uint32_t code = 0; code < f.code_count(); ++code) keep(code);
  } else {
    std::mt19937 random(12345);
    const std::uint32_t count = std::uint32_t{1} << f.fraction_bits;
    const auto any = [&] { return static_cast<std::uint32_t>(random()) % count; };
    for (std::uint32_t field = 0; field < std::uint32_t{1} << f.exponent_bits; ++field)
      for (const std::uint32_t fraction :
           {0u, 1u, 2u, 3u, count / 2 - 1, count / 2, count - 3, count - 2, count - 1, any(), any()})
        for (const std::uint32_t step : {0u, 1u})
          keep((field << f.fraction_bits | fraction) + (fraction + step < count ? step : 0u));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// Every place where a conversion can change its mind, both signs: each value, each midpoint of neighbours,
/// the next double and float on both sides of each; the first overflow midpoint and its surroundings; the
/// ends of double.
inline std::vector<double> sample_points(const ScalarFormat& f) {
  const std::vector<double> values = positive_values(f);
  const double largest = values.back(), gap = largest - values[values.size() - 2];
  std::vector<double> points;
  for (std::size_t i = 0; i < values.size(); ++i) {
    append_with_neighbours(points, values[i]);
    if (i + 1 < values.size()) append_with_neighbours(points, values[i] + (values[i + 1] - values[i]) / 2);
  }
  const double beyond = std::ldexp(1.0, std::ilogb(largest) + 1), smallest = values[values[0] == 0 ? 1 : 0];
  for (const double v : {largest + gap / 2, largest + gap / 4, largest + gap, beyond - gap / 2, beyond,
                         1.5 * beyond, 2 * beyond, 3 * beyond, 1e10 * beyond, smallest / 2, smallest / 4,
                         smallest * 0.75, smallest * 0.125, smallest * 0x1p-40, smallest * 0x1p-60})
    append_with_neighbours(points, v);
  using Limits = std::numeric_limits<double>;
  points.insert(points.end(), {0.0, Limits::denorm_min(), Limits::min(), Limits::max(), 0x1p-149, 0x1p-150,
                               double{std::numeric_limits<float>::max()}, Limits::infinity()});
  for (double& v : points) v = std::fabs(v);
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  points.push_back(Limits::quiet_NaN());
  const std::size_t count = points.size();
  for (std::size_t i = 0; i < count; ++i) points.push_back(std::copysign(points[i], -1.0));
  return points;
}

/// Random integers worth trying: the ends, the middle, one free choice and both sides of the decision.
inline void choose_randoms(std::vector<std::uint32_t>& out, const oracle::Bracket& b, Rounding rounding,
                           std::uint32_t free_choice) {
  const std::uint64_t count = std::uint64_t{1} << rounding.random_bits,
                      boundary = count - oracle::outward_count(b, rounding);
  out.clear();
  for (const std::uint64_t r :
       {std::uint64_t{0}, count - 1, count / 2, free_choice % count, boundary, boundary - 1})
    if (r < count) out.push_back(static_cast<std::uint32_t>(r));
}

}  // namespace halfulp::test
