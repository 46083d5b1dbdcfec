// Stochastic rounding: its probability, counted over all random integers instead of estimated.
#include <cmath>

#include "formats/conformance/exact_number.h"
#include "formats/conformance/properties.h"

namespace halfulp::conformance {
namespace {

/// Shares of a gap, in 2^-24ths: zero's side and the other, quarters and ties of few random bits, a third,
/// and hairs beside some of them.
constexpr std::uint32_t shares[] = {1u,
                                    1u << 11,
                                    (1u << 12) - 1,
                                    1u << 12,
                                    1u << 15,
                                    1u << 16,
                                    3u << 15,
                                    1u << 20,
                                    (1u << 20) + 1,
                                    1u << 21,
                                    (1u << 22) - 1,
                                    1u << 22,
                                    5'592'405u,
                                    (1u << 23) - 1,
                                    1u << 23,
                                    (1u << 23) + 1,
                                    (1u << 23) + (1u << 19),
                                    3u << 22,
                                    15u << 20,
                                    (1u << 24) - (1u << 13),
                                    (1u << 24) - 1};

/// The number that stands this share of the way from the inner end to the outer one.
std::optional<Point> point_in(const Subject& subject, const Gap& gap, std::uint32_t share) {
  if (subject.format().is_table()) {
    const double low = as_double(gap.low).value(), high = as_double(gap.high).value();
    const double x = low + (high - low) * (share * 0x1p-24);
    return x > low && x < high && x != 0 ? std::optional(subject.point(x)) : std::nullopt;
  }
  const bool negative = gap.low.negative;
  const Dyadic &inner = negative ? gap.high : gap.low, &outer = negative ? gap.low : gap.high;
  // The step is one unit of the outer end's last place, or the inner end's where a binade ends there.
  Dyadic step = sum(outer, negated(inner));
  if (is_zero(inner)) step = outer;
  step.negative = negative;
  const Dyadic part{NumberClass::finite, negative, step.significand * share, step.exponent - 24};
  const Dyadic x = sum(inner, part);
  return std::bit_width(x.significand) <= 53 ? subject.point(x) : std::nullopt;
}

void count(Tally& tally, const Subject& subject, const Point& x, Rounding rounding) {
  const oracle::Bracket b = subject.bracket(x);
  const std::uint64_t all = std::uint64_t{1} << rounding.random_bits,
                      expected = oracle::outward_count(b, rounding);
  std::uint64_t outward = 0, elsewhere = 0;
  for (std::uint64_t r = 0; r < all; ++r) {
    const std::uint32_t code = subject.code(x, rounding, subject.plain(), static_cast<std::uint32_t>(r));
    if (code == b.outer_code)
      ++outward;
    else if (code != b.inner_code && !(is_zero(b.inner) && is_zero(oracle::number(subject.format(), code))))
      ++elsewhere;
  }
  const bool holds = outward == expected && elsewhere == 0;
  const std::string of = " of " + std::to_string(all);
  tally.expect(
      holds, x, rounding, subject.plain(), 0,
      holds ? "" : std::to_string(outward) + of + " outward, " + std::to_string(elsewhere) + " elsewhere",
      holds ? "" : std::to_string(expected) + of + " outward");
}

}  // namespace

PropertyReport check_stochastic_probability(const Subject& subject, const std::vector<Gap>& gaps) {
  Tally tally(
      subject, "stochastic_probability", Coverage::sampled,
      "all random integers of up to 16 bits, at 21 places in up to 60 gaps, first and last ones included");
  // Ends of either side and what is spread between them; few of them where there are many random integers.
  const std::size_t stride = gaps.size() / 52 + 1;
  std::size_t visited = 0;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const bool beside_zero = is_zero(gaps[i].low) || is_zero(gaps[i].high);
    if (i % stride != 0 && !beside_zero && i + 1 != gaps.size() && i != 1) continue;
    ++visited;
    for (const std::uint32_t share : shares) {
      const std::optional<Point> x = point_in(subject, gaps[i], share);
      if (!x) continue;
      for (const Rounding& rounding : subject.countable()) {
        if (rounding.random_bits > 8 && !(beside_zero && visited < 40) && visited % 16 != 1) continue;
        if (rounding.random_bits > 12 && share % 3 != 0) continue;
        count(tally, subject, *x, rounding);
      }
    }
  }
  return tally.result();
}

}  // namespace halfulp::conformance
