// Properties of rounding between two neighbours, from the sentences of the modes and without any arithmetic
// on x: every point is constructed on a known side of a midpoint.
#include <algorithm>

#include "formats/conformance/exact_number.h"
#include "formats/conformance/properties.h"

namespace halfulp::conformance {
namespace {

bool is_nearest(RoundingMode mode) {
  return mode == RoundingMode::nearest_even || mode == RoundingMode::nearest_away ||
         mode == RoundingMode::nearest_to_zero;
}

void compare_with_definition(Tally& tally, const Subject& subject, const Gap& gap,
                             const std::vector<GapPoint>& points, const std::vector<Rounding>& roundings) {
  for (const GapPoint& point : points)
    for (const Rounding& rounding : roundings)
      tally.same(point.x, rounding, subject.plain(), 0, subject.code(point.x, rounding, subject.plain(), 0),
                 code_by_definition(gap, point, rounding.mode));
}

std::vector<Rounding> modes_of(const Subject& subject, bool nearest) {
  std::vector<Rounding> modes;
  for (const Rounding& rounding : subject.deterministic())
    if (is_nearest(rounding.mode) == nearest) modes.push_back(rounding);
  return modes;
}

/// An intermediate format that conversions are known to go through.
struct Narrow {
  int precision, min_exponent, max_exponent;
};
constexpr Narrow intermediates[] = {{24, -126, 127}, {11, -14, 15}, {8, -126, 127}};  // fp32, fp16, bf16

/// An eighth of the intermediate's ulp at x, if x is one of its numbers: x plus or minus that rounds to x
/// there.
std::optional<int> eighth_of_ulp(const Dyadic& x, const Narrow& narrow) {
  if (is_zero(x)) return std::nullopt;
  const int last = x.exponent + std::countr_zero(x.significand);
  const int first = x.exponent + static_cast<int>(std::bit_width(x.significand)) - 1;
  const int ulp = std::max(first, narrow.min_exponent) - (narrow.precision - 1);
  if (first > narrow.max_exponent || last < ulp) return std::nullopt;
  return ulp - 3;
}

Dyadic opposite(Dyadic x) { return x.kind == NumberClass::not_a_number ? x : negated(x); }

RoundingMode mirrored(RoundingMode mode) {
  return mode == RoundingMode::up ? RoundingMode::down : mode == RoundingMode::down ? RoundingMode::up : mode;
}

/// Whether every number has its opposite and rounding can treat both alike: for tables that means parity too.
bool is_symmetric(const ScalarFormat& f) {
  if (!f.is_signed) return false;
  if (!f.is_table()) return true;
  for (std::uint32_t i = 0; i < f.table_size; ++i)
    if (f.table[i] != -f.table[f.table_size - 1 - i]) return false;
  return f.table_size % 2 == 1;
}

}  // namespace

PropertyReport check_nearest(const Subject& subject, const std::vector<Gap>& gaps) {
  Tally tally(subject, "nearest", coverage_of(subject),
              "midpoints of neighbours, the next double and float on both sides");
  const std::vector<Rounding> modes = modes_of(subject, true);
  std::vector<GapPoint> points;
  for (const Gap& gap : gaps) {
    points.clear();
    append_around_midpoint(points, gap, subject);
    append_beside_ends(points, gap, subject);
    compare_with_definition(tally, subject, gap, points, modes);
  }
  return tally.result();
}

PropertyReport check_directed(const Subject& subject, const std::vector<Gap>& gaps) {
  Tally tally(subject, "directed", coverage_of(subject),
              "the next double and float beside numbers and midpoints");
  const std::vector<Rounding> modes = modes_of(subject, false);
  std::vector<GapPoint> points;
  for (const Gap& gap : gaps) {
    points.clear();
    append_beside_ends(points, gap, subject);
    append_around_midpoint(points, gap, subject);
    compare_with_definition(tally, subject, gap, points, modes);
  }
  return tally.result();
}

PropertyReport check_single_rounding(const Subject& subject, const std::vector<Gap>& gaps) {
  Tally tally(subject, "single_rounding", coverage_of(subject),
              "an eighth ulp of fp32, fp16 and bf16 beside midpoints and numbers");
  std::vector<GapPoint> points;
  for (const Gap& gap : gaps)
    for (const Narrow& narrow : intermediates) {
      points.clear();
      const std::optional<Dyadic> middle = midpoint(gap);
      for (const Dyadic& centre :
           {middle.value_or(Dyadic{NumberClass::finite, false, 0, 0}), gap.low, gap.high}) {
        const std::optional<int> part = eighth_of_ulp(centre, narrow);
        if (!part) continue;
        for (const bool minus : {false, true}) {
          const Dyadic beside{NumberClass::finite, minus, 1, *part};
          append_inside(points, gap, subject, sum(centre, beside));
        }
      }
      compare_with_definition(tally, subject, gap, points, subject.deterministic());
    }
  return tally.result();
}

PropertyReport check_sign_symmetry(const Subject& subject, const std::vector<Gap>& gaps) {
  const ScalarFormat& f = subject.format();
  Tally tally(subject, "sign_symmetry", coverage_of(subject),
              "x and -x at every number and midpoint and beside them");
  if (!is_symmetric(f)) return tally.result();
  const bool has_minus_zero =
      oracle::number(f, subject.oracle().convert(-0.0, nearest_even, subject.plain(), 0)).negative;
  std::vector<Rounding> roundings;
  for (const std::vector<Rounding>* some : {&subject.deterministic(), &subject.stochastic()})
    for (const Rounding& rounding : *some)
      if (std::find(some->begin(), some->end(), Rounding{mirrored(rounding.mode), rounding.random_bits}) !=
          some->end())
        roundings.push_back(rounding);
  std::vector<GapPoint> points;
  for (const Gap& gap : gaps) {
    if (gap.low.negative || gap.high.negative) continue;
    points.clear();
    append_around_midpoint(points, gap, subject);
    append_beside_ends(points, gap, subject);
    if (const auto high = subject.point(gap.high)) points.push_back({*high, 1});
    for (const GapPoint& point : points) {
      const Point minus{negated(point.x.exact), -point.x.value, point.x.is_double};
      for (const Rounding& rounding : roundings) {
        const std::uint32_t random = is_stochastic(rounding.mode) ? 1u << (rounding.random_bits - 1) : 0;
        const std::uint32_t there =
            subject.code(point.x, {mirrored(rounding.mode), rounding.random_bits}, subject.plain(), random);
        const std::uint32_t here = subject.code(minus, rounding, subject.plain(), random);
        Dyadic expected = opposite(oracle::number(f, there));
        if (is_zero(expected)) expected.negative = has_minus_zero;
        const bool same = is_same_number(oracle::number(f, here), expected);
        tally.expect(same, minus, rounding, subject.plain(), random, same ? "" : tally.code_text(here),
                     same ? "" : "the opposite of " + tally.code_text(there));
      }
    }
  }
  return tally.result();
}

}  // namespace halfulp::conformance
