// What went wrong with E8M0 scales elsewhere, each with its right answer.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "formats/catalog.h"
#include "formats/encode.h"

using namespace halfulp;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();
constexpr SpecialValues saturate = special_values(OverflowPolicy::saturate);
constexpr SpecialValues ieee = special_values(OverflowPolicy::ieee);
constexpr SpecialValues ocp = special_values(OverflowPolicy::ocp);

std::uint32_t nearest(double x, const ScalarFormat& f, const SpecialValues& special = saturate) {
  return convert(x, f, nearest_even, special, 0);
}

std::uint32_t fp32_bits(double exact) {
  const auto narrow = static_cast<float>(exact);
  CHECK((double{narrow} == exact || exact != exact));
  return std::bit_cast<std::uint32_t>(narrow);
}

std::vector<Rounding> every_rounding() {
  std::vector<Rounding> all;
  for (const NamedRoundingMode& named : all_rounding_modes)
    all.push_back({named.mode, named.mode == RoundingMode::stochastic_equal ? 1
                               : is_stochastic(named.mode)                  ? 16
                                                                            : 0});
  return all;
}

}  // namespace

TEST_CASE("E8M0 cases: NaN is told by its code, not by its value") {
  // value(c) = 2^(c - 127) up to 254: 128 is the code 86, and ff alone is NaN.
  CHECK(decode(e8m0, 0x86) == 128);
  CHECK(std::isnan(decode(e8m0, 0xff)));
  CHECK(decode(e8m0, 0xfe) == 0x1p127);
  CHECK(decode(e8m0, 0x7f) == 1);
  CHECK(decode(e8m0, 0x00) == 0x1p-127);
  CHECK(nearest(128, e8m0) == 0x86);
  CHECK(nearest(quiet_nan, e8m0) == 0xff);
}

TEST_CASE("E8M0 cases: as fp32, both ends and their reciprocals") {
  // 2^-127 is a subnormal fp32 number: the code shifted into the exponent field would be 0, and ff an
  // infinity.
  // triton-lang/triton#11624
  CHECK(fp32_bits(decode(e8m0, 0x00)) == 0x00400000);
  CHECK(fp32_bits(decode(e8m0, 0x01)) == 0x00800000);
  CHECK(fp32_bits(decode(e8m0, 0xfe)) == 0x7f000000);
  CHECK(std::isnan(std::bit_cast<float>(fp32_bits(decode(e8m0, 0xff)))));
  CHECK(fp32_bits(1 / decode(e8m0, 0xfe)) == 0x00400000);
  CHECK(fp32_bits(decode(e4m3, 0x38) * decode(e8m0, 0x00)) == 0x00400000);
  CHECK(convert(decode(e8m0, 0x00), fp32, nearest_even, saturate, 0) == 0x00400000);
  CHECK(is_nan_code(fp32, convert(decode(e8m0, 0xff), fp32, nearest_even, saturate, 0)));
}

TEST_CASE("E8M0 cases: what is below becomes the smallest number or, if asked, NaN") {
  // No zero and no subnormals: the result must be in the format. graphcore-research/gfloat#62
  SpecialValues strict = saturate;
  strict.zero_without_code = ZeroWithoutCode::nan;
  for (const Rounding& rounding : every_rounding()) {
    INFO(to_string(rounding));
    for (const double x : {0x1p-128, 0x1p-149, 0.0, -0.0}) {
      const std::uint32_t code = convert(x, e8m0, rounding, saturate, 0);
      CHECK(code == 0x00);
    }
    CHECK(convert(0.0, e8m0, rounding, strict, 0) == 0xff);
    CHECK(convert(0x1p128, e8m0, rounding, saturate, 0) == 0xfe);
    CHECK(convert(0x1p128, e8m0, rounding, ocp, 0) == 0xff);
    CHECK(convert(infinity, e8m0, rounding, saturate, 0) == 0xfe);
    CHECK(convert(infinity, e8m0, rounding, ieee, 0) == 0xff);
  }
  CHECK(nearest(0x1p-149, e8m0, strict) == 0xff);
  CHECK(nearest(0x1p128, e8m0, ieee) == 0xff);
}

TEST_CASE("E8M0 cases: NaN stays a NaN in wider formats") {
  // It has no fraction bits, and an all-ones exponent without a fraction is Inf there.
  // llvm/llvm-project#214919
  const double wide = decode(e8m0, 0xff);
  for (const ScalarFormat& f : {fp32, fp16, bf16, tf32, e5m2}) {
    for (const NanPayload payload : {NanPayload::canonical, NanPayload::keep_top}) {
      SpecialValues special = ieee;
      special.nan_payload = payload;
      const std::uint32_t code = nearest(wide, f, special);
      CHECK(is_nan_code(f, code));
      CHECK(!is_infinity_code(f, code));
    }
  }
  CHECK(decode(e8m0, 0x7e) == 0.5);
  CHECK(decode(e8m0, 0x7f) == 1.0);
  CHECK(nearest(0.5, e8m0) == 0x7e);
  CHECK(nearest(1.0, e8m0) == 0x7f);
}

TEST_CASE("E8M0 cases: a sign never reaches the exponent of an unsigned format") {
  // The sign bit over 7e, the code of 0.5, would make fe, 2^127: negatives are NaN, or lose their sign, or
  // are zero.
  for (const double x : {-1.0, -0.5}) CHECK(nearest(x, e8m0) == 0xff);
  SpecialValues magnitude = saturate, magnitude_ocp = ocp, clamped = saturate;
  magnitude.negative_in_unsigned = magnitude_ocp.negative_in_unsigned = NegativeInUnsigned::magnitude;
  clamped.negative_in_unsigned = NegativeInUnsigned::zero;
  CHECK(nearest(-1.0, e8m0, magnitude) == 0x7f);
  CHECK(nearest(-0.5, e8m0, magnitude) == 0x7e);
  CHECK(nearest(-infinity, e8m0, magnitude) == 0xfe);
  CHECK(nearest(-infinity, e8m0, magnitude_ocp) == 0xff);
  CHECK(nearest(-1.0, e8m0, clamped) == 0x00);
  for (const SpecialValues& special : {saturate, magnitude, clamped})
    CHECK(nearest(-0.0, e8m0, special) == 0x00);
}
