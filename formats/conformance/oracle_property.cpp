// Everything against the oracle: all points of the other properties, random numbers, every mode.
#include <cmath>
#include <random>

#include "formats/conformance/exact_number.h"
#include "formats/conformance/properties.h"

namespace halfulp::conformance {
namespace {

class OracleComparison {
 public:
  OracleComparison(Tally& tally, const Subject& subject) : tally_(tally), subject_(subject) {}

  /// Every mode under some special values in turn, or under all policies.
  void compare(const Point& x, bool under_all_policies) {
    const oracle::Bracket b = subject_.bracket(x);
    for (const Rounding& rounding : subject_.deterministic()) compare(x, b, rounding, under_all_policies);
    const std::vector<Rounding>& stochastic = subject_.stochastic();
    if (!subject_.options().same_random_integers || stochastic.empty()) return;
    // Wide formats have many points: five stochastic roundings at each, all of them in the end.
    const bool all = subject_.format().bits() <= 8;
    const std::size_t count = all ? stochastic.size() : std::min<std::size_t>(5, stochastic.size());
    for (std::size_t i = 0; i < count; ++i)
      compare(x, b, stochastic[all ? i : stochastic_turn_++ % stochastic.size()], under_all_policies);
  }

 private:
  void compare(const Point& x, const oracle::Bracket& b, Rounding rounding, bool under_all_policies) {
    const std::vector<SpecialValues>& specials = subject_.specials();
    for (const std::uint32_t random : randoms_at(b, rounding)) {
      if (under_all_policies)
        for (const SpecialValues& policy : subject_.policies()) compare(x, b, rounding, policy, random);
      else
        compare(x, b, rounding, specials[special_turn_++ % specials.size()], random);
    }
  }
  void compare(const Point& x, const oracle::Bracket& b, Rounding rounding, const SpecialValues& special,
               std::uint32_t random) {
    tally_.same(x, rounding, special, random, subject_.code(x, rounding, special, random),
                subject_.oracle().code(b, rounding, special, random));
  }

  Tally& tally_;
  const Subject& subject_;
  std::size_t special_turn_ = 0, stochastic_turn_ = 0;
};

/// Doubles spread over the binades from below the smallest number to beyond the largest.
std::vector<Point> random_points(const Subject& subject) {
  std::mt19937_64 random(31);
  std::vector<Point> points;
  const auto exponent = [](const Dyadic& x) {
    return x.exponent + static_cast<int>(std::bit_width(x.significand)) - 1;
  };
  const ScalarFormat& f = subject.format();
  const int top = std::min(exponent(subject.oracle().largest()) + 3, 1023);
  const int bottom =
      f.is_table() ? top - 60 : std::max((f.has_zero ? 1 : 0) - f.bias - f.fraction_bits - 4, -1000);
  if (top < bottom) return points;
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t bits = random();
    const int at = bottom + static_cast<int>(random() % static_cast<std::uint64_t>(top - bottom + 1));
    const double significand = 1 + std::ldexp(static_cast<double>(bits >> 12), -52);
    const double x = std::ldexp(bits % 2 == 0 ? significand : -significand, at);
    points.push_back(subject.point(x));
    if (std::fabs(x) < 0x1p127) points.push_back(subject.point(static_cast<double>(static_cast<float>(x))));
  }
  return points;
}

}  // namespace

PropertyReport check_oracle(const Subject& subject, const std::vector<Gap>& gaps) {
  Tally tally(
      subject, "oracle", coverage_of(subject),
      "every number and midpoint, the next double and float on both sides, both ends, random numbers");
  OracleComparison comparison(tally, subject);
  std::vector<GapPoint> points;
  for (const Gap& gap : gaps) {
    points.clear();
    append_around_midpoint(points, gap, subject);
    append_beside_ends(points, gap, subject);
    for (const GapPoint& point : points) comparison.compare(point.x, false);
    if (const auto end = subject.point(gap.high.negative || is_zero(gap.high) ? gap.low : gap.high))
      comparison.compare(*end, false);
  }
  for (const Point& point : points_beyond(subject)) comparison.compare(point, true);
  for (const Point& point : special_points(subject)) comparison.compare(point, true);
  for (const Point& point : random_points(subject)) comparison.compare(point, false);
  return tally.result();
}

}  // namespace halfulp::conformance
