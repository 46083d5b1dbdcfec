// Descriptors that the catalog does not hold but the fields allow: P3109, no subnormals, other biases, no
// zero, fixed point, tables.
#include "formats/value_table.h"
#include "tests/formats/oracle_comparison.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

/// P3109 binary{K}p{P}: bias 2^(K-P-1) signed, 2^(K-P) unsigned; one NaN, at -0 or at the last code.
ScalarFormat p3109(int k, int p, bool is_signed, bool extended) {
  ScalarFormat f;
  f.is_signed = is_signed;
  f.exponent_bits = k - p + (is_signed ? 0 : 1);
  f.fraction_bits = p - 1;
  f.bias = 1 << (is_signed ? k - p - 1 : k - p);
  f.infinity = extended ? Infinity::top_code : Infinity::none;
  f.nan = is_signed ? NanEncoding::negative_zero : NanEncoding::all_ones;
  f.has_negative_zero = false;
  return f;
}

/// Formats whose numbers stay within double with room for the overflow points.
std::vector<ScalarFormat> user_formats() {
  std::vector<ScalarFormat> all;
  for (int k = 3; k <= 8; ++k)
    for (int p = 1; p <= k; ++p)
      for (const bool is_signed : {true, false})
        for (const bool extended : {true, false})
          if ((p < k || !is_signed) && k - p <= 7) all.push_back(p3109(k, p, is_signed, extended));
  all.push_back({.exponent_bits = 4, .fraction_bits = 3, .bias = 7, .has_subnormals = false});
  all.push_back({.exponent_bits = 3, .fraction_bits = 0, .bias = 3, .has_subnormals = false});
  all.push_back(
      {.is_signed = false, .exponent_bits = 5, .fraction_bits = 2, .bias = 9, .has_negative_zero = false});
  all.push_back({.exponent_bits = 3, .fraction_bits = 4, .bias = -2, .nan = NanEncoding::all_ones});
  all.push_back({.exponent_bits = 4, .fraction_bits = 2, .bias = 40, .has_negative_zero = false});
  all.push_back({.is_signed = false,
                 .exponent_bits = 4,
                 .fraction_bits = 0,
                 .bias = 7,
                 .has_negative_zero = false,
                 .has_zero = false,
                 .has_subnormals = false});
  all.push_back({.exponent_bits = 1,
                 .fraction_bits = 3,
                 .bias = 1,
                 .has_negative_zero = false,
                 .is_fixed_point = true});
  for (const int bias : {-9, 0, 12})
    all.push_back({.exponent_bits = 1,
                   .fraction_bits = 5,
                   .bias = bias,
                   .has_negative_zero = false,
                   .is_fixed_point = true});
  all.push_back(table_format({-6, -1, -0.125, 0, 0x1p-40, 0.3, 1, 1.5, 4, 1e10}, "table{both signs}"));
  all.push_back(table_format({0, 0.1, 0.2, 0.7, 1e300 / 1e100}, "table{from zero}"));
  all.push_back(table_format({-1, 1}, "table{signs}"));
  all.push_back(table_format({-3, -1, 0.5}, "table{no zero}"));
  all.push_back(table_format({0x1p-900, 0.25, 0x1p900}, "table{ends}"));
  all.push_back(lns_format(6, 8));
  return all;
}

std::string describe(const ScalarFormat& f) {
  if (f.is_table()) return table_spec(f);
  return std::string(f.is_signed ? "s" : "u") + " e" + std::to_string(f.exponent_bits) + "m" +
         std::to_string(f.fraction_bits) + " bias " + std::to_string(f.bias) + " inf " +
         std::to_string(static_cast<int>(f.infinity)) + " nan " + std::to_string(static_cast<int>(f.nan));
}

}  // namespace

TEST_CASE("convert: formats outside the catalog equal the oracle at every code, midpoint and neighbour") {
  std::uint64_t total = 0;
  std::vector<Rounding> roundings = deterministic_roundings();
  for (const auto mode : {RoundingMode::stochastic_a, RoundingMode::stochastic_b, RoundingMode::stochastic_c,
                          RoundingMode::stochastic_odd})
    roundings.push_back({mode, 4});
  roundings.push_back({RoundingMode::stochastic_equal, 1});
  const std::vector<SpecialValues> policies = all_policies();
  for (const ScalarFormat& f : user_formats())
    compare_format(
        describe(f), f, roundings, total, [&](double, double) -> const auto& { return policies; });
  MESSAGE(total, " comparisons");
}

TEST_CASE("decode and encode: formats outside the catalog equal the oracle on every code") {
  for (const ScalarFormat& f : user_formats())
    for (std::uint32_t code = 0; code < f.code_count(); ++code) {
      const double got = decode(f, code), expected = oracle::decode(f, code);
      INFO(describe(f), " code ", code);
      CHECK(((got != got && expected != expected) || bits_of(got) == bits_of(expected)));
      const bool alias_of_zero = !f.has_subnormals && f.has_zero && expected == 0;
      if (expected == expected && !alias_of_zero) CHECK(encode(f, got) == code);
    }
}
