// Properties at the ends: overflow by each policy, and what formats do not have by each switch. What must
// come out is the oracle's answer, since here the definitions are the policies' tables themselves.
#include <cmath>
#include <limits>

#include "formats/conformance/exact_number.h"
#include "formats/conformance/properties.h"

namespace halfulp::conformance {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Adds a number, its neighbours among doubles and floats, and the opposites of all.
void append_with_neighbours(std::vector<Point>& points, const Subject& subject, const Dyadic& x) {
  std::vector<Dyadic> numbers{x};
  if (x.kind == NumberClass::finite && !is_zero(x)) {
    numbers.push_back(next_outward(x));
    numbers.push_back(next_inward(x));
    const auto value = as_double(x);
    if (value && std::fabs(*value) < std::numeric_limits<float>::max()) {
      const auto narrow = static_cast<float>(*value);
      for (const float beside : {narrow, std::nextafter(narrow, 0.0f), std::nextafter(narrow, 2 * narrow)})
        numbers.push_back(exact_number(beside));
    }
  }
  for (const Dyadic& number : numbers)
    for (const Dyadic& with_sign : {magnitude_of(number), negated(magnitude_of(number))})
      if (const auto point = subject.point(with_sign)) points.push_back(*point);
}

Dyadic times(const Dyadic& x, std::uint32_t factor) {
  // Numbers of formats have at most 24 significant bits; those of tables may have 53.
  const auto value = as_double(x);
  if (std::bit_width(x.significand) > 32 && value) return exact_number(*value * factor);
  return {x.kind, x.negative, x.significand * factor, x.exponent};
}

void compare_with_oracle(Tally& tally, const Subject& subject, const std::vector<Point>& points,
                         const std::vector<Rounding>& roundings, const std::vector<SpecialValues>& specials) {
  for (const Point& point : points) {
    const oracle::Bracket b = subject.bracket(point);
    for (const Rounding& rounding : roundings)
      for (const std::uint32_t random : randoms_at(b, rounding))
        for (const SpecialValues& special : specials)
          tally.same(point, rounding, special, random, subject.code(point, rounding, special, random),
                     subject.oracle().code(b, rounding, special, random));
  }
}

std::vector<Rounding> all_modes(const Subject& subject, std::size_t most_stochastic) {
  std::vector<Rounding> roundings = subject.deterministic();
  if (!subject.options().same_random_integers) return roundings;
  for (std::size_t i = 0; i < std::min(most_stochastic, subject.stochastic().size()); ++i)
    roundings.push_back(subject.stochastic()[i]);
  return roundings;
}

}  // namespace

std::vector<std::uint32_t> randoms_at(const oracle::Bracket& b, Rounding rounding) {
  if (!is_stochastic(rounding.mode)) return {0};
  const std::uint64_t count = std::uint64_t{1} << rounding.random_bits,
                      boundary = count - oracle::outward_count(b, rounding);
  std::vector<std::uint32_t> randoms;
  for (const std::uint64_t r : {std::uint64_t{0}, count - 1, count / 2, boundary, boundary - 1})
    if (r < count) randoms.push_back(static_cast<std::uint32_t>(r));
  return randoms;
}

std::vector<Point> points_beyond(const Subject& subject) {
  std::vector<Point> points;
  const oracle::Oracle& oracle = subject.oracle();
  for (const Dyadic& end : {oracle.largest(), oracle.lowest()}) {
    if (is_zero(end)) continue;
    append_with_neighbours(points, subject, end);
    // The grid goes on as if there were no largest number: one step further, and the midpoint before that.
    const Dyadic beyond = oracle.bracket(next_outward(end)).outer;
    if (!subject.format().is_table()) {
      append_with_neighbours(points, subject, beyond);
      append_with_neighbours(points, subject, times_power(sum(end, beyond), -1));
      append_with_neighbours(points, subject, oracle.bracket(next_outward(beyond)).outer);
    }
    for (const std::uint32_t factor : {2u, 3u, 1025u})
      append_with_neighbours(points, subject, times(magnitude_of(end), factor));
  }
  for (const double x :
       {double{std::numeric_limits<float>::max()}, std::numeric_limits<double>::max(), infinity})
    append_with_neighbours(points, subject, exact_number(x));
  return points;
}

std::vector<Point> special_points(const Subject& subject) {
  using Limits = std::numeric_limits<double>;
  std::vector<Point> points;
  for (const double magnitude : {0.0, Limits::denorm_min(), Limits::min(), 0x1p-150, 0x1p-149, 0x1p-127,
                                 0x1p-126, 0x1.8p-126, 1.0, 3.0, 448.0, Limits::max(), infinity})
    append_with_neighbours(points, subject, exact_number(magnitude));
  constexpr std::uint64_t payloads[] = {0x8000000000000, 0x8000000000001, 1,
                                        0x4000020000000, 0xfffffffffffff, 0xa5a5a5a5a5a5a};
  for (const std::uint64_t payload : payloads)
    for (const std::uint64_t sign : {std::uint64_t{0}, std::uint64_t{1} << 63})
      points.push_back(subject.point(std::bit_cast<double>(sign | 0x7ff0'0000'0000'0000u | payload)));
  // The smallest numbers and what rounds to them or to zero; the smallest normal one.
  const ScalarFormat& f = subject.format();
  const oracle::Oracle& oracle = subject.oracle();
  std::uint32_t first = 0;
  for (const std::uint32_t limit = oracle.largest_code(); first < limit; ++first) {
    const Dyadic number = oracle::number(f, first);
    if (!is_zero(number) && !number.negative) break;
  }
  const Dyadic smallest = oracle::number(f, first);
  for (const int n : {1, 0, -1, -2, -30}) append_with_neighbours(points, subject, times_power(smallest, n));
  append_with_neighbours(points, subject, times(times_power(smallest, -1), 3));
  if (!f.is_table()) {
    const Dyadic normal{NumberClass::finite, false, 1, f.has_zero ? 1 - f.bias : -f.bias};
    append_with_neighbours(points, subject, normal);
    const Dyadic below = oracle.bracket(next_inward(normal)).inner;
    append_with_neighbours(points, subject, times_power(sum(normal, below), -1));
    append_with_neighbours(points, subject, below);
  }
  for (const Dyadic& end : {oracle.largest(), oracle.lowest()})
    if (!is_zero(end)) append_with_neighbours(points, subject, end);
  return points;
}

PropertyReport check_overflow(const Subject& subject) {
  Tally tally(
      subject, "overflow", coverage_of(subject),
      "the largest number, the midpoint beyond it, the grid outside, infinity; every mode and policy");
  compare_with_oracle(tally, subject, points_beyond(subject), all_modes(subject, 100), subject.policies());
  return tally.result();
}

PropertyReport check_special_values(const Subject& subject) {
  Tally tally(subject, "special_values", Coverage::sampled,
              "NaN, infinities, zeros, the smallest numbers, negatives; every switch");
  compare_with_oracle(tally, subject, special_points(subject), all_modes(subject, 1), subject.specials());
  return tally.result();
}

}  // namespace halfulp::conformance
