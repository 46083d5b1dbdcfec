// P3109 v4.0: every format of 3 to 16 bits, from the report's formulas.
#include "formats/p3109.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "formats/conformance/oracle.h"
#include "formats/conformance/settings.h"
#include "formats/encode.h"
#include "tests/formats/oracle_comparison.h"

using namespace halfulp;

namespace {

struct Parameters {
  int k, p;
  bool is_signed, is_extended;
};

std::vector<Parameters> all_parameters(int from, int to) {
  std::vector<Parameters> all;
  for (int k = from; k <= to; ++k)
    for (const bool is_signed : {true, false})
      for (int p = 1; p <= (is_signed ? k - 1 : k); ++p)
        for (const bool is_extended : {false, true}) all.push_back({k, p, is_signed, is_extended});
  return all;
}

/// The report's decoding: T = x mod 2^(P-1), e = x div 2^(P-1), bias 2^(K-P-1) signed and 2^(K-P) unsigned; the codes of
/// NaN and infinities by its table.
Dyadic by_the_report(const Parameters& f, std::uint32_t code) {
  const std::uint32_t half = 1u << (f.k - 1), last = (1u << f.k) - 1;
  const std::uint32_t nan = f.is_signed ? half : last;
  if (code == nan) return {NumberClass::not_a_number, false, 0, 0};
  if (f.is_extended && code == (f.is_signed ? half - 1 : last - 1))
    return {NumberClass::infinite, false, 0, 0};
  if (f.is_extended && f.is_signed && code == last) return {NumberClass::infinite, true, 0, 0};
  const bool negative = f.is_signed && code > half;
  const std::uint32_t x = negative ? code - half : code;
  const std::uint32_t t = x % (1u << (f.p - 1)), e = x / (1u << (f.p - 1));
  const int bias = f.is_signed ? 1 << (f.k - f.p - 1) : 1 << (f.k - f.p);
  if (e == 0) return {NumberClass::finite, negative, t, 1 - f.p + 1 - bias};
  return {NumberClass::finite, negative, (1u << (f.p - 1)) + t, static_cast<int>(e) - bias + 1 - f.p};
}

ScalarFormat format_of(const Parameters& f) { return p3109(f.k, f.p, f.is_signed, f.is_extended); }

/// Ascending order of Dyadic numbers of one sign.
bool is_below(const Dyadic& a, const Dyadic& b) {
  if (a.significand == 0 || b.significand == 0) return a.significand == 0 && b.significand != 0;
  if (leading_exponent(a) != leading_exponent(b)) return leading_exponent(a) < leading_exponent(b);
  const int low = std::min(a.exponent, b.exponent);
  return a.significand << (a.exponent - low) < b.significand << (b.exponent - low);
}

}  // namespace

TEST_CASE(
    "p3109: every code of every format from 3 to 16 bits decodes as the report says, and encodes back") {
  std::size_t formats = 0, codes = 0;
  const SpecialValues none = special_values(OverflowPolicy::p3109_none);
  for (const Parameters& parameters : all_parameters(3, 16)) {
    const ScalarFormat f = format_of(parameters);
    ++formats;
    REQUIRE(f.bits() == parameters.k);
    std::size_t wrong = 0;
    for (std::uint32_t code = 0; code < f.code_count(); ++code, ++codes) {
      const Dyadic expected = by_the_report(parameters, code), got = decode_dyadic(f, code);
      const bool same_zero = expected.significand == 0 && got.significand == 0;
      const bool same = expected.kind == got.kind && expected.negative == got.negative &&
                        (expected.kind != NumberClass::finite || same_zero ||
                         (!is_below(expected, got) && !is_below(got, expected)));
      if (!same || convert_dyadic(got, f, nearest_even, none, 0) != code) ++wrong;
      if (f.has_double_view() && bits_of(decode(f, code)) != bits_of(double_of(expected))) ++wrong;
    }
    INFO("binary", parameters.k, "p", parameters.p, parameters.is_signed, parameters.is_extended);
    CHECK(wrong == 0);
  }
  // K - 1 signed and K unsigned precisions, finite and extended.
  CHECK(formats == 2 * (2 * (3 + 16) * 14 / 2 - 14));
  MESSAGE(formats, " formats, ", codes, " codes, 0 differences");
}

TEST_CASE("p3109: 1.0 is the middle code of the non-negative ones") {
  for (const Parameters& parameters : all_parameters(3, 16)) {
    const std::uint32_t middle = 1u << (parameters.k - (parameters.is_signed ? 2 : 1));
    const Dyadic one = decode_dyadic(format_of(parameters), middle);
    CHECK(double_of(one) == 1);
  }
}

TEST_CASE(
    "p3109: formats of 3 to 8 bits against the oracle: every code, midpoint and neighbour, mode and policy") {
  using namespace halfulp::test;
  std::vector<SpecialValues> policies;
  for (const OverflowPolicy policy : {OverflowPolicy::p3109_finite, OverflowPolicy::p3109_propagate,
                                      OverflowPolicy::p3109_none, OverflowPolicy::saturate})
    policies.push_back(special_values(policy));
  std::uint64_t total = 0;
  for (const Parameters& parameters : all_parameters(3, 8)) {
    const ScalarFormat f = format_of(parameters);
    REQUIRE(f.has_double_view());
    compare_format("p3109", f, all_roundings(), total,
                   [&](double, double) -> const std::vector<SpecialValues>& { return policies; });
  }
  CHECK(total > 1'000'000);
  MESSAGE(total, " conversions, 0 differences");
}

TEST_CASE("p3109: the integer path equals lanes on every breakpoint of the formats that have both") {
  using namespace halfulp::test;
  std::uint64_t compared = 0, different = 0;
  for (const Parameters& parameters : all_parameters(3, 11)) {
    const ScalarFormat f = format_of(parameters);
    if (!f.has_double_view()) continue;
    const std::vector<double> points = sample_points(f);
    for (const NamedRoundingMode& named : all_rounding_modes) {
      const Rounding rounding{named.mode, is_stochastic(named.mode) ? 1 : 0};
      if (!lanes_fit<double>(f, guard_bits(named.mode, rounding.random_bits))) continue;
      for (std::size_t i = 0; i<points.size(); i += parameters.k> 8 ? 7 : 1)
        for (const OverflowPolicy policy : {OverflowPolicy::p3109_propagate, OverflowPolicy::p3109_none})
          for (const std::uint32_t random : {0u, 1u}) {
            const SpecialValues special = special_values(policy);
            ++compared;
            different += convert(points[i], f, rounding, special, random) !=
                                 convert_dyadic(dyadic_of(points[i]), f, rounding, special, random)
                             ? 1
                             : 0;
          }
    }
  }
  CHECK(different == 0);
  CHECK(compared > 1'000'000);
  MESSAGE(compared, " conversions by both paths, ", different, " differences");
}

TEST_CASE("p3109: what SatFinite, SatPropagate and SatNone make of numbers beyond the ends") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto code = [](double x, const ScalarFormat& f, OverflowPolicy policy, RoundingMode mode) {
    return convert(x, f, {mode, 0}, special_values(policy), 0);
  };
  const ScalarFormat se = p3109(8, 4, true, true), sf = p3109(8, 4, true, false),
                     ue = p3109(8, 4, false, true);
  using enum OverflowPolicy;
  using enum RoundingMode;
  // Extended signed: max finite 7e, Inf 7f, NaN 80, -Inf ff.
  CHECK(code(1e6, se, p3109_finite, nearest_even) == 0x7e);
  CHECK(code(infinity, se, p3109_finite, nearest_even) == 0x7e);
  CHECK(code(-infinity, se, p3109_propagate, nearest_even) == 0xff);
  CHECK(code(-1e6, se, p3109_propagate, nearest_even) == 0xfe);
  CHECK(code(1e6, se, p3109_none, nearest_even) == 0x7f);
  CHECK(code(1e6, se, p3109_none, toward_zero) == 0x7e);
  CHECK(code(1e6, se, p3109_none, up) == 0x7f);
  CHECK(code(1e6, se, p3109_none, down) == 0x7e);
  CHECK(code(-1e6, se, p3109_none, down) == 0xff);
  CHECK(code(1e6, se, p3109_none, odd) == 0x7f);
  CHECK(code(1e6, ue, p3109_none, odd) == 0xfd);
  CHECK(code(infinity, ue, p3109_none, odd) == 0xfe);
  // Finite signed: max finite 7f, no infinities.
  CHECK(code(1e6, sf, p3109_none, nearest_even) == 0x7f);
  CHECK(code(-infinity, sf, p3109_none, nearest_even) == 0xff);
  // Unsigned: finite and propagate clamp negatives to 0, none makes NaN of them.
  CHECK(code(-3, ue, p3109_finite, nearest_even) == 0x00);
  CHECK(code(-infinity, ue, p3109_propagate, nearest_even) == 0x00);
  CHECK(code(-3, ue, p3109_none, nearest_even) == 0xff);
  CHECK(code(-0.0, ue, p3109_none, nearest_even) == 0x00);
  CHECK(code(-1e-30, ue, p3109_none, nearest_even) == 0x00);  // rounds to zero first
  for (const OverflowPolicy policy : {p3109_finite, p3109_propagate, p3109_none})
    CHECK(code(std::nan(""), se, policy, nearest_even) == 0x80);
}
