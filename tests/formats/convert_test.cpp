// Every conversion of the catalog against the oracle, by exhaustion over the places where an answer can
// change.
#include "formats/catalog.h"
#include "tests/formats/oracle_comparison.h"

using namespace halfulp;
using namespace halfulp::test;

TEST_CASE("convert: every code, midpoint and neighbour equals the oracle in every mode, 8 bits and less") {
  std::uint64_t total = 0;
  const std::vector<SpecialValues> policies = all_policies();
  for (const NamedScalarFormat& named : all_scalar_formats)
    if (named.format.bits() <= 8)
      compare_format(
          named.name, named.format, all_roundings(),
          total, [&](double, double) -> const auto& { return policies; });
  MESSAGE(total, " comparisons");
}

TEST_CASE(
    "convert: every code, midpoint and neighbour up to 16 bits, and samples above, equal the oracle in every "
    "mode") {
  std::uint64_t total = 0;
  const std::vector<SpecialValues> policies = all_policies();
  std::vector<SpecialValues> one(1, policies[0]);
  std::size_t turn = 0;
  for (const NamedScalarFormat& named : all_scalar_formats)
    if (named.format.bits() > 8)
      compare_format(
          named.name, named.format, all_roundings(), total, [&](double x, double largest) -> const auto& {
            if (!(std::fabs(x) < 0.99 * largest)) return policies;
            one[0] = policies[turn++ % policies.size()];
            return one;
          });
  MESSAGE(total, " comparisons");
}

TEST_CASE("convert: every switch of special values equals the oracle where it speaks") {
  std::uint64_t total = 0;
  const std::vector<SpecialValues> switches = all_special_values(), none;
  std::vector<Rounding> roundings = deterministic_roundings();
  roundings.push_back({RoundingMode::stochastic_b, 8});
  for (const NamedScalarFormat& named : all_scalar_formats) {
    const ScalarFormat& f = named.format;
    compare_format(
        named.name, f, roundings, total, [&](double x, double largest) -> const auto& {
          const bool small = std::fabs(x) <= f.min_positive(), large = !(std::fabs(x) < 0.99 * largest);
          return small || large || (!f.is_signed && x < 0) ? switches : none;
        });
  }
  MESSAGE(total, " comparisons");
}

TEST_SUITE("exhaustive") {
  TEST_CASE(
      "convert: every code, midpoint and neighbour under every policy, 9 to 16 bits and samples above") {
    std::uint64_t total = 0;
    const std::vector<SpecialValues> policies = all_policies();
    for (const NamedScalarFormat& named : all_scalar_formats)
      if (named.format.bits() > 8)
        compare_format(
            named.name, named.format, all_roundings(),
            total, [&](double, double) -> const auto& { return policies; });
    MESSAGE(total, " comparisons");
  }
}
