// The scale of a block, at every amax where its rule changes its mind.
#include <cmath>

#include "formats/conformance/block_subject.h"
#include "formats/conformance/exact_number.h"
#include "formats/conformance/gaps.h"

namespace halfulp::conformance {
namespace {

/// x with its neighbours among the doubles, two on each side because thresholds that are no doubles have been
/// rounded, and among the floats; of both signs in turn.
void append_beside(std::vector<double>& points, double x) {
  if (!(x > 0) || std::isinf(x)) return;
  const double below = std::nextafter(x, 0.0), above = std::nextafter(x, 2 * x);
  for (const double v : {x, below, std::nextafter(below, 0.0), above, std::nextafter(above, 2 * above)})
    points.push_back(v);
  if (x >= 0x1p127 || x < 0x1p-149) return;
  const auto narrow = static_cast<float>(x);
  for (const float v : {narrow, std::nextafter(narrow, 0.0f), std::nextafter(narrow, 2 * narrow)})
    points.push_back(v);
}

bool chooses_powers(ScaleRule rule) { return rule != ScaleRule::amax && rule != ScaleRule::p3109_maxabs; }

/// Significands at which some rule goes from one power of two to the next: all of them, whatever the rule,
/// since a rule that is wrong by one goes at another rule's.
std::vector<double> thresholds(const oracle::BlockOracle& oracle) {
  const int m = oracle.format().element.is_table() ? 0 : oracle.format().element.fraction_bits;
  const double largest = std::ldexp(oracle.largest_element(), -oracle.largest_exponent());
  constexpr double root = 0x1.6a09e667f3bcdp+0;  // sqrt 2
  return {1.0, largest, 2 - std::ldexp(1.0, -(m + 1)), root, root * largest, 1.25};
}

/// in: `every` binade, or one in seven
std::vector<double> points_of_powers(const oracle::BlockOracle& oracle, double t, bool every) {
  const oracle::Oracle& scale = oracle.scale();
  std::uint32_t first = 0;
  while (is_zero(oracle::number(scale.format(), first))) ++first;
  const int lowest = std::ilogb(as_double(oracle::number(scale.format(), first)).value()),
            highest = std::ilogb(as_double(scale.largest()).value());
  std::vector<double> points;
  for (int k = lowest - 3; k <= highest + 3; ++k) {
    if (!every && k % 7 != 0 && k > lowest + 2 && k < highest - 2) continue;
    for (const double threshold : thresholds(oracle))
      append_beside(points, std::ldexp(threshold, k + oracle.largest_exponent()) * t);
  }
  return points;
}

/// Midpoints of scales times the largest element, and the scales themselves.
std::vector<double> points_of_quotients(const oracle::BlockOracle& oracle, double t, bool every) {
  const BlockFormat& f = oracle.format();
  std::vector<double> factors{oracle.largest_element()};
  if (f.conventions.four_over_six != FourOverSix::none) factors.push_back(4);
  if (f.rule == ScaleRule::p3109_maxabs) factors = {1};
  std::vector<double> points;
  const std::vector<Gap> gaps = gaps_of(oracle.scale());
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i].low.negative || gaps[i].high.negative) continue;
    if (!every && i % 3 != 0 && i > 2) continue;
    for (const double factor : factors) {
      append_beside(points, as_double(midpoint(gaps[i]).value()).value() * factor * t);
      append_beside(points, as_double(gaps[i].high).value() * factor * t);
    }
  }
  const double largest = as_double(oracle.scale().largest()).value(), floor = f.conventions.floor;
  for (const double factor : factors) {
    for (const double beyond :
         {largest * 1.015625, largest * 1.03125, largest * 1.0625, largest * 1.5, largest * 3})
      append_beside(points, beyond * factor * t);
    if (floor > 0) append_beside(points, floor * factor * t);
  }
  return points;
}

}  // namespace

PropertyReport check_block_scale(const BlockSubject& subject) {
  const BlockFormat& f = subject.format();
  const bool powers = chooses_powers(f.rule);
  const bool settles = !f.has_tensor_scale() && f.scale.bits() <= 16 &&
                       f.conventions.four_over_six == FourOverSix::none &&
                       f.rule != ScaleRule::stochastic_exponent;
  BlockTally tally(subject, "block_scale", settles ? Coverage::exhaustive : Coverage::sampled,
                   powers ? "amax at every threshold of every rule in every binade, and beside them"
                          : "amax at the midpoints between scales, at the scales, and beside them");
  const SpecialValues& special = subject.element.plain();
  bool every = true;
  std::size_t turn = 0;
  for (const TensorMultiplier& t : subject.tensor_scales()) {
    const std::vector<double> points = powers ? points_of_powers(subject.oracle, t.decode, every)
                                              : points_of_quotients(subject.oracle, t.decode, every);
    every = false;
    for (const double amax : points) {
      // The largest magnitude may stand anywhere and be negative.
      const double blocks[][2] = {{amax, amax / 3}, {-amax / 2, -amax}};
      const std::span<const double> block = blocks[++turn % 2];
      std::vector<std::uint32_t> randoms{0};
      if (f.rule == ScaleRule::stochastic_exponent) {
        const double a = amax / t.decode, fraction = std::ldexp(a, -std::ilogb(a)) - 1;
        const auto boundary =
            static_cast<std::uint32_t>((1u << scale_random_bits) - std::ldexp(fraction, scale_random_bits));
        const std::uint32_t last = (1u << scale_random_bits) - 1;
        randoms = {0, 1, last, boundary & last, (boundary - 1) & last, (boundary + 1) & last};
      }
      for (const std::uint32_t random : randoms)
        tally.compare(block, t, nearest_even, special, 0, random, false);
    }
  }
  return tally.result();
}

PropertyReport check_tensor_scale(const BlockSubject& subject) {
  const BlockFormat& f = subject.format();
  BlockTally tally(subject, "tensor_scale", Coverage::sampled,
                   "tensor amax at midpoints of fp32 times its divisor, and beside them; both ends");
  if (!f.has_tensor_scale() || subject.conversion.tensor_scale == nullptr) return tally.result();
  const double scale =
      f.conventions.largest > 0 ? f.conventions.largest : as_double(subject.oracle.scale().largest()).value();
  const double target =
      f.conventions.four_over_six == FourOverSix::always_four ? 4 : subject.oracle.largest_element();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> points{0, infinity, std::numeric_limits<double>::quiet_NaN(), 0x1p-1074, 1e308};
  std::uint32_t bits = 0x9e3779b9u;
  for (int i = 0; i < 1000; ++i) {
    bits = bits * 1664525u + 1013904223u;
    const float t = std::ldexp(static_cast<float>((bits >> 9) | 0x800000), i % 270 - 23 - 140);
    const double half = std::ldexp(1.0, std::max(std::ilogb(t), -126) - 24);
    if (std::isfinite(t)) append_beside(points, (double{t} + half) * scale * target);
  }
  for (const double amax : points)
    tally.expect_tensor_scale(amax, subject.conversion.tensor_scale(amax), subject.oracle.tensor_scale(amax));
  return tally.result();
}

}  // namespace halfulp::conformance
