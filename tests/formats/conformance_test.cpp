// The conformance kit: it passes every conversion of this library, and finds every fault it is shown, by the
// property that is about it.
#include "formats/conformance/doctest.h"
#include "formats/error.h"
#include "formats/p3109.h"
#include "formats/value_table.h"
#include "tests/formats/broken_blocks.h"
#include "tests/formats/broken_conversions.h"
#include "tests/formats/broken_ends.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

/// That the report has failures, those of one property among them, with counter-examples that say what was
/// wrong.
void check_rejected(const ConformanceReport& report, const std::string& property) {
  std::string failing;
  for (const PropertyReport& one : report.properties)
    if (!one.holds()) failing += " " + one.name;
  INFO(report.format, ", expected to fail: ", property, ", failing:", failing);
  CHECK_FALSE(report.holds());
  const PropertyReport* found = report.find(property);
  REQUIRE(found != nullptr);
  CHECK_FALSE(found->holds());
  CHECK(found->examples.size() == std::min<std::uint64_t>(found->failures, 5));
  for (const CounterExample& example : found->examples) {
    CHECK_FALSE(example.input.empty());
    CHECK(example.got != example.expected);
  }
}

void check_all_rejected(const std::vector<BrokenConversion>& faults) {
  for (const BrokenConversion& fault : faults)
    check_rejected(check_conformance(fault.format, fault.conversion, fault.options), fault.property);
}

}  // namespace

TEST_CASE("conformance: every named format of at most 8 bits is proved") {
  for (const NamedScalarFormat& named : all_scalar_formats)
    if (named.format.bits() <= 8) {
      const ConformanceReport report = check_conformance(named.name);
      report_to_doctest(report, __FILE__, __LINE__);
      CHECK(report.holds());
      CHECK(report.find("nearest")->coverage == Coverage::exhaustive);
      CHECK(report.find("oracle")->cases > 100000);
      CHECK((report.find("sign_symmetry")->coverage == Coverage::not_applicable) == !named.format.is_signed);
    }
}

TEST_CASE("conformance: formats of more than 16 bits are sampled, and never called proved") {
  for (const ScalarFormat& f : {tf32, fp32}) {
    const ConformanceReport report = check_conformance(f);
    for (const PropertyReport& property : report.properties) {
      INFO(report.format, " ", property.name);
      CHECK(property.coverage == Coverage::sampled);
      CHECK(property.holds());
      CHECK(property.cases > 0);
    }
  }
}

TEST_CASE("conformance: every named block format") {
  for (const NamedBlockFormat& named : all_block_formats) HALFULP_CHECK_FORMAT(named.name);
}

TEST_CASE("conformance: specs that nobody has named") {
  HALFULP_CHECK_FORMAT("e3m4{bias=5}");
  HALFULP_CHECK_FORMAT("e4m3{subnormals=no}");
  HALFULP_CHECK_FORMAT("p3109{k=8,p=4,extended}");
  HALFULP_CHECK_FORMAT("p3109{k=7,p=1,unsigned}");
  HALFULP_CHECK_FORMAT("fixed{bits=7,fraction=-3}");
  HALFULP_CHECK_FORMAT("lns{bits=7,gamma=8}");
  HALFULP_CHECK_FORMAT("block{e2m1,16,scale=ue4m3,rule=rceil,tensor_scale=fp32}");
  HALFULP_CHECK_FORMAT(table_format({-6, -1, -0.125, 0, 0x1p-40, 0.3, 1, 1.5, 4, 1e10}, "table{test}"));
}

TEST_CASE("conformance: numbers beyond double's range") {
  // From 2^-2047 to 2^2046: numbers and midpoints that no double is.
  const ScalarFormat f = p3109(13, 1, true, true);
  REQUIRE_FALSE(f.has_double_view());
  const ConformanceReport report = check_conformance(f);
  report_to_doctest(report, __FILE__, __LINE__);
  CHECK(report.holds());
  CHECK(report.find("round_trip")->coverage == Coverage::exhaustive);
  CHECK(report.find("nearest")->cases > 3 * 4000);
  // The same without the wide functions is what doubles alone can say.
  Conversion narrow = conversion_of(f, "doubles alone");
  narrow.convert_wide = nullptr;
  const ConformanceReport partial = check_conformance(f, narrow);
  CHECK(partial.holds());
  CHECK(partial.find("nearest")->coverage == Coverage::sampled);
  CHECK(partial.find("nearest")->cases < report.find("nearest")->cases);
}

TEST_CASE("conformance: faults of rounding are found") { check_all_rejected(faults_of_rounding()); }

TEST_CASE("conformance: faults at both ends and in special values are found") {
  check_all_rejected(faults_at_the_ends());
}

TEST_CASE("conformance: faults of stochastic rounding are found") {
  check_all_rejected(faults_of_stochastic_rounding());
}

TEST_CASE("conformance: random integers read from the other end are a matter of taste") {
  for (BrokenConversion& fault : faults_of_stochastic_rounding())
    if (fault.property == "oracle") {
      fault.options.same_random_integers = false;
      CHECK(check_conformance(fault.format, fault.conversion, fault.options).holds());
    }
}

TEST_CASE("conformance: faults of block scales are found") {
  for (const BrokenBlock& fault : faults_of_scales())
    check_rejected(check_conformance(fault.format, fault.conversion), fault.property);
}

TEST_CASE("conformance: faults of elements in blocks are found") {
  for (const BrokenBlock& fault : faults_of_elements())
    check_rejected(check_conformance(fault.format, fault.conversion), fault.property);
}

TEST_CASE("conformance: a counter-example says where the answer changes") {
  // 53 in e4m3 lies between 52 and 56, whose midpoint is 54.
  Conversion conversion = conversion_of(e4m3, "53 goes up");
  conversion.convert = [](double x, Rounding rounding, const SpecialValues& special, std::uint32_t random) {
    return x == std::nextafter(54.0, 0.0) ? 0x66u : convert(x, e4m3, rounding, special, random);
  };
  const ConformanceReport report = check_conformance(e4m3, conversion, plain_kernel);
  const PropertyReport& nearest = *report.find("nearest");
  REQUIRE(nearest.failures == 1);
  const CounterExample& example = nearest.examples.at(0);
  CHECK(example.input == "x = 0x1.affffffffffffp+5 (53.99999999999999)");
  CHECK(example.interval == "0x1.ap+5 (52), 0x1.bp+5 (54), 0x1.cp+5 (56)");
  CHECK(example.setting == "nearest_even, saturate");
  CHECK(example.got == "0x66 = 0x1.cp+5 (56)");
  CHECK(example.expected == "0x65 = 0x1.ap+5 (52)");
}

TEST_CASE("conformance: a conversion of one's own, in one rounding and one policy") {
  // E2M1 by comparison with its seven midpoints, as small kernels do it.
  const Conversion kernel{.name = "my e2m1",
                          .decode = [](std::uint32_t code) { return decode(e2m1, code); },
                          .convert =
                              [](double x, Rounding, const SpecialValues&, std::uint32_t) {
                                constexpr double midpoints[] = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5};
                                const double magnitude = x == x ? std::fabs(x) : 6;
                                std::uint32_t code = 0;
                                for (const double midpoint : midpoints)
                                  if (magnitude > midpoint || (magnitude == midpoint && code % 2 == 1))
                                    ++code;
                                return code | (std::signbit(x) ? 8u : 0u);
                              }};
  HALFULP_CHECK_FORMAT(e2m1, kernel, plain_kernel);
  CHECK(check_conformance(e2m1, kernel, plain_kernel).find("directed")->coverage == Coverage::not_applicable);
}

TEST_CASE("conformance: the doctest line fails where a property does" * doctest::should_fail()) {
  Conversion conversion = conversion_of(e2m1, "all zeros");
  conversion.convert = [](double, Rounding, const SpecialValues&, std::uint32_t) { return 0u; };
  HALFULP_CHECK_FORMAT(e2m1, conversion);
}

TEST_CASE("conformance: a descriptor that is no format is refused") {
  ScalarFormat f = e4m3;
  f.nan = NanEncoding::negative_zero;  // and -0 besides
  CHECK_THROWS_AS(check_conformance(f), Error);
  CHECK_THROWS_AS(check_conformance("e4m33"), Error);
}

TEST_SUITE("exhaustive") {
  TEST_CASE("conformance: every named format of 16 bits is proved") {
    for (const ScalarFormat& f : {bf16, fp16}) HALFULP_CHECK_FORMAT(f);
  }

  TEST_CASE("conformance: the widest formats of P3109") {
    for (const int p : {1, 2, 5, 15})
      for (const bool is_signed : {true, false}) HALFULP_CHECK_FORMAT(p3109(16, p, is_signed, true));
  }
}
