#include "formats/conformance/gaps.h"

#include <cmath>
#include <limits>
#include <random>

#include "formats/conformance/exact_number.h"

namespace halfulp::conformance {
namespace {

/// Magnitude codes whose gap to the next one is looked at.
std::vector<std::uint32_t> lower_ends(const ScalarFormat& f, std::uint32_t top) {
  std::vector<std::uint32_t> chosen;
  if (f.bits() <= 16) {
    for (std::uint32_t m = 0; m < top; ++m) chosen.push_back(m);
    return chosen;
  }
  std::mt19937 random(12345);
  const std::uint32_t count = std::uint32_t{1} << f.fraction_bits, fields = (top >> f.fraction_bits) + 1;
  const std::uint32_t stride = fields / 280 + 1;
  const auto any = [&] { return static_cast<std::uint32_t>(random()) % count; };
  for (std::uint32_t field = 0; field < fields; ++field) {
    if (field % stride != 0 && field > 8 && field + 8 < fields) continue;
    for (const std::uint32_t fraction :
         {0u, 1u, 2u, count / 2 - 1, count / 2, count - 3, count - 2, count - 1, any(), any()})
      chosen.push_back(field << f.fraction_bits | (fraction & (count - 1)));
  }
  chosen.push_back(top - 1);
  return chosen;
}

void append_side(std::vector<Gap>& gaps, const oracle::Oracle& oracle, bool negative) {
  const ScalarFormat& f = oracle.format();
  const std::uint32_t sign = f.is_signed ? std::uint32_t{1} << (f.exponent_bits + f.fraction_bits) : 0;
  const std::uint32_t top = oracle.largest_code() + (f.is_fixed_point && negative ? 1 : 0);
  const bool has_minus_zero = f.has_negative_zero && f.nan != NanEncoding::negative_zero && !f.is_fixed_point;
  const auto code_of = [&](std::uint32_t m) {
    if (!negative) return m;
    if (m == 0) return has_minus_zero ? sign : 0u;
    return f.is_fixed_point ? 2 * sign - m : sign | m;
  };
  const std::uint32_t first_normal = std::uint32_t{1} << f.fraction_bits;
  for (const std::uint32_t m : lower_ends(f, top)) {
    const bool flushed = f.has_zero && !f.has_subnormals && m < first_normal;
    if (flushed && m > 0) continue;  // other codes of zero
    const std::uint32_t next = flushed ? first_normal : m + 1;
    if (next > top) continue;
    const std::uint32_t inner = code_of(m), outer = code_of(next);
    Gap gap{oracle::number(f, inner), oracle::number(f, outer), inner, outer};
    if (negative) gap = {gap.high, gap.low, gap.high_code, gap.low_code};
    gaps.push_back(gap);
  }
}

/// The midpoint, or the double nearest to it: then `excess` is the sign of what that is too much. Every other
/// double is on the same side of both.
struct Middle {
  Dyadic nearest;
  int excess;
};

Middle middle_of(const Gap& gap) {
  const Dyadic &low = gap.low, &high = gap.high;
  if (is_zero(low)) return {times_power(high, -1), 0};
  if (is_zero(high)) return {times_power(low, -1), 0};
  if (low.negative == high.negative && std::abs(low.exponent - high.exponent) < 10 &&
      (low.significand | high.significand) >> 50 == 0)
    return {times_power(sum(low, high), -1), 0};
  // Tables: the rounding error of a sum of doubles is a double.
  const double a = as_double(low).value() / 2, b = as_double(high).value() / 2, nearest = a + b;
  const double other = nearest - a, missing = (a - (nearest - other)) + (b - other);
  return {exact_number(nearest), missing > 0 ? -1 : missing < 0 ? 1 : 0};
}

void append_floats_beside(std::vector<GapPoint>& points, const Gap& gap, const Subject& subject,
                          const Dyadic& x) {
  const auto value = as_double(x);
  if (!value || std::fabs(*value) > std::numeric_limits<float>::max()) return;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto narrow = static_cast<float>(*value);
  for (const float beside : {narrow, std::nextafter(narrow, infinity), std::nextafter(narrow, -infinity)})
    if (std::isfinite(beside) && double{beside} != *value)
      append_inside(points, gap, subject, exact_number(beside));
}

}  // namespace

std::vector<Gap> gaps_of(const oracle::Oracle& oracle) {
  std::vector<Gap> gaps;
  const ScalarFormat& f = oracle.format();
  if (f.is_table()) {
    for (std::uint32_t i = 0; i + 1 < f.table_size; ++i)
      gaps.push_back({oracle::number(f, i), oracle::number(f, i + 1), i, i + 1});
    return gaps;
  }
  append_side(gaps, oracle, false);
  if (f.is_signed) append_side(gaps, oracle, true);
  return gaps;
}

std::optional<Dyadic> midpoint(const Gap& gap) {
  const Middle middle = middle_of(gap);
  return middle.excess == 0 ? std::optional(middle.nearest) : std::nullopt;
}

void append_inside(std::vector<GapPoint>& points, const Gap& gap, const Subject& subject, const Dyadic& x) {
  if (is_zero(x) || compare(x, gap.low) <= 0 || compare(x, gap.high) >= 0) return;
  const std::optional<Point> point = subject.point(x);
  if (!point) return;
  const Middle middle = middle_of(gap);
  const int side = compare(x, middle.nearest);
  points.push_back({*point, side != 0 ? side : middle.excess});
}

void append_around_midpoint(std::vector<GapPoint>& points, const Gap& gap, const Subject& subject) {
  const Dyadic middle = middle_of(gap).nearest;
  if (is_zero(middle)) return;  // a table's gap from -v to v: zero is judged elsewhere
  for (const Dyadic& x : {middle, next_outward(middle), next_inward(middle)})
    append_inside(points, gap, subject, x);
  append_floats_beside(points, gap, subject, middle);
}

void append_beside_ends(std::vector<GapPoint>& points, const Gap& gap, const Subject& subject) {
  for (const Dyadic* end : {&gap.low, &gap.high}) {
    if (!is_zero(*end)) {
      append_inside(points, gap, subject, next_outward(*end));
      append_inside(points, gap, subject, next_inward(*end));
      append_floats_beside(points, gap, subject, *end);
      continue;
    }
    // Beside zero: the smallest double and float, and where those are too large, a small part of the gap.
    const bool negative = end == &gap.high;
    for (const int exponent : {-1074, -149})
      append_inside(points, gap, subject, {NumberClass::finite, negative, 1, exponent});
    append_inside(points, gap, subject, times_power(negative ? gap.low : gap.high, -60));
  }
}

std::uint32_t code_by_definition(const Gap& gap, const GapPoint& point, RoundingMode mode) {
  const bool negative = point.negative();
  const std::uint32_t inner = negative ? gap.high_code : gap.low_code,
                      outer = negative ? gap.low_code : gap.high_code;
  const auto nearest = [&](std::uint32_t in_a_tie) {
    return point.side == 0 ? in_a_tie : point.side < 0 ? gap.low_code : gap.high_code;
  };
  // The codes of a sign, and of a table, alternate in parity; the zero of a format without subnormals is
  // even.
  const bool inner_is_even = inner % 2 == 0;
  switch (mode) {
    case RoundingMode::nearest_even:
      return nearest(inner_is_even ? inner : outer);
    case RoundingMode::nearest_away:
      return nearest(outer);
    case RoundingMode::nearest_to_zero:
      return nearest(inner);
    case RoundingMode::toward_zero:
      return inner;
    case RoundingMode::away_from_zero:
      return outer;
    case RoundingMode::up:
      return gap.high_code;
    case RoundingMode::down:
      return gap.low_code;
    case RoundingMode::odd:
      return inner_is_even ? outer : inner;
    case RoundingMode::stochastic_a:
    case RoundingMode::stochastic_b:
    case RoundingMode::stochastic_c:
    case RoundingMode::stochastic_odd:
    case RoundingMode::stochastic_equal:
      break;
  }
  return inner;
}

}  // namespace halfulp::conformance
