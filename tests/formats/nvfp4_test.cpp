// NVFP4 against exact rational arithmetic. Ordinary random numbers cannot tell formulations apart, so the
// inputs sit on the ties of both quotients, (amax / 6) / t and x / (s t), and one step beside them.
#include <doctest/doctest.h>

#include <random>

#include "formats/block.h"
#include "formats/spec.h"
#include "tests/formats/exact_rational.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

const BlockFormat nvfp4 = parse_format("nvfp4");

const std::vector<double> scale_values = [] {
  std::vector<double> values;
  for (std::uint32_t code = 0; code < 0x7f; ++code) values.push_back(oracle::decode(nvfp4.scale, code));
  return values;
}();

/// fp32 tensor scales: extremes, awkward fractions and random ones.
std::vector<float> tensor_scales() {
  std::vector<float> scales{1.0f,      2.0f,    0.75f / 2688, 1.0f / 3, 0x1.fffffep-10f, 0x1.000002p-20f,
                            0x1p-120f, 0x1p100f};
  std::mt19937 random(17);
  for (int i = 0; i < 24; ++i)
    scales.push_back(std::ldexp(static_cast<float>((random() & 0x7fffff) | 0x800000),
                                static_cast<int>(random() % 60) - 60));
  return scales;
}

std::vector<double> beside(double x) {
  const auto narrow = static_cast<float>(x);
  return {x,
          std::nextafter(x, 0.0),
          std::nextafter(x, 1e308),
          double{narrow},
          double{std::nextafter(narrow, 0.0f)},
          double{std::nextafter(narrow, 3e38f)}};
}

}  // namespace

TEST_CASE(
    "nvfp4: the block scale is the exact quotient (amax / 6) / t rounded once, on its ties and beside them") {
  std::uint64_t checked = 0;
  const RationalRounding exactly(nvfp4.scale);
  for (const float t : tensor_scales())
    for (std::size_t i = 0; i + 1 < scale_values.size(); ++i)
      // 5 + 3 + 24 bits: the tie itself is a double.
      for (const double amax : beside((scale_values[i] + scale_values[i + 1]) / 2 * 6 * t)) {
        const std::uint32_t expected = exactly.code(exact(amax) / 6 / exact(t), RoundingMode::nearest_even);
        ++checked;
        if (choose_scale(nvfp4, amax, t, 0) == expected) continue;
        INFO("amax ", amax, " t ", t);
        CHECK(choose_scale(nvfp4, amax, t, 0) == expected);
      }
  CHECK(checked > 10000);
}

TEST_CASE(
    "nvfp4: an element is the exact quotient x / (s t) rounded once in every mode, on its ties and beside "
    "them") {
  constexpr double places[] = {0.25, 0.5, 0.75, 1.25, 1.5, 1.75, 2.5, 3.5, 5, 6, 7};
  std::uint64_t checked = 0;
  const RationalRounding exactly(nvfp4.element);
  const SpecialValues saturate = special_values(OverflowPolicy::saturate);
  for (const float t : tensor_scales())
    for (std::uint32_t scale = 1; scale < 0x7f; scale += 11)
      for (const double place : places)
        for (const double magnitude : beside(place * scale_values[scale] * t))
          for (const double x : {magnitude, -magnitude}) {
            const Rational quotient = exact(x) / (exact(scale_values[scale]) * exact(t));
            const double multiplier = scale_value(nvfp4, scale, t);
            for (const NamedRoundingMode& named : all_rounding_modes) {
              if (is_stochastic(named.mode)) continue;
              const std::uint32_t got =
                  convert_in_block(x, nvfp4, exact_divisor(multiplier), {named.mode, 0}, saturate, 0);
              const std::uint32_t expected = exactly.code(quotient, named.mode);
              ++checked;
              if (got == expected) continue;
              INFO("x ", x, " scale ", scale, " t ", t, " ", std::string(named.name));
              CHECK(got == expected);
            }
          }
  CHECK(checked > 100000);
}

TEST_CASE("nvfp4: decoding is (q s) t rounded once to fp32") {
  for (const float t : tensor_scales())
    for (std::uint32_t scale = 0; scale < 0x7f; ++scale)
      for (std::uint32_t code = 0; code < 16; ++code) {
        const Rational product =
            exact(oracle::decode(nvfp4.element, code)) * exact(scale_values[scale]) * exact(t);
        const double got = decode_in_block(nvfp4, code, scale, t), expected = nearest_float(product);
        if (got == expected && std::signbit(got) == (code >= 8)) continue;
        INFO("code ", code, " scale ", scale, " t ", t);
        CHECK(got == expected);
        CHECK(std::signbit(got) == (code >= 8));
      }
}

TEST_CASE("nvfp4: the tensor scale is amax / 2688 rounded once to fp32, on its ties and beside them") {
  std::mt19937 random(23);
  for (int i = 0; i < 3000; ++i) {
    const double t = std::ldexp(static_cast<double>((random() & 0x7fffff) | 0x800000),
                                static_cast<int>(random() % 100) - 80);
    const double half = std::ldexp(1.0, std::ilogb(t) - 24);
    for (const double amax : beside((t + half) * 2688)) {
      INFO(amax);
      CHECK(double{choose_tensor_scale(nvfp4, amax).decode} == nearest_float(exact(amax) / 2688));
    }
  }
  CHECK(choose_tensor_scale(nvfp4, 0.0).decode == 1.0f);
  CHECK(choose_tensor_scale(nvfp4, 2688.0).decode == 1.0f);
  CHECK(choose_tensor_scale(nvfp4, 0x1p200).decode ==
        std::numeric_limits<float>::max());  // a scale saturates
  CHECK(std::isnan(choose_tensor_scale(nvfp4, std::numeric_limits<double>::infinity()).decode));
  CHECK(std::isnan(choose_tensor_scale(nvfp4, std::numeric_limits<double>::quiet_NaN()).decode));
}

TEST_CASE("nvfp4: with a tensor scale of 2 a block up to 5376 is exact, without one it is clipped") {
  const SpecialValues saturate = special_values(OverflowPolicy::saturate);
  struct {
    float t;
    std::uint32_t first, other;
    double first_value, other_value;
  } const rows[] = {{1.0f, 0x7, 0x5, 2688, 1344}, {2.0f, 0x7, 0x3, 5376, 1344}};
  for (const auto& row : rows) {
    const std::uint32_t scale = choose_scale(nvfp4, 5376, row.t, 0);
    CHECK(scale == 0x7e);
    const double multiplier = scale_value(nvfp4, scale, row.t);
    CHECK(convert_in_block(5376, nvfp4, exact_divisor(multiplier), nearest_even, saturate, 0) == row.first);
    CHECK(convert_in_block(1344, nvfp4, exact_divisor(multiplier), nearest_even, saturate, 0) == row.other);
    CHECK(decode_in_block(nvfp4, row.first, scale, row.t) == row.first_value);
    CHECK(decode_in_block(nvfp4, row.other, scale, row.t) == row.other_value);
  }
}

TEST_CASE("nvfp4: a zero block has scale 0 and signed zeros, beside any other block") {
  const SpecialValues saturate = special_values(OverflowPolicy::saturate);
  for (const float t : {0.75f / 2688, 1.0f, 0x1p-126f, 0x1p-149f, 0.0f}) {
    INFO("tensor scale ", t);
    const std::uint32_t scale = choose_scale(nvfp4, 0.0, t, 0);
    CHECK(scale == 0x00);
    const double multiplier = scale_value(nvfp4, scale, t);
    CHECK(convert_in_block(0.0, nvfp4, exact_divisor(multiplier), nearest_even, saturate, 0) == 0x0);
    CHECK(convert_in_block(-0.0, nvfp4, exact_divisor(multiplier), nearest_even, saturate, 0) == 0x8);
    CHECK(bits_of(decode_in_block(nvfp4, 0x0, scale, t)) == bits_of(0.0));
    CHECK(bits_of(decode_in_block(nvfp4, 0x8, scale, t)) == bits_of(-0.0));
  }
}

TEST_CASE("nvfp4: a block far below the tensor's largest has scale 0, and only signs are left") {
  const SpecialValues saturate = special_values(OverflowPolicy::saturate);
  const float t = choose_tensor_scale(nvfp4, 1.0).decode;
  const double small = 6.0 * t * 0x1p-10;  // half of the smallest scale: the tie goes to zero
  CHECK(choose_scale(nvfp4, small, t, 0) == 0x00);
  CHECK(choose_scale(nvfp4, std::nextafter(small, 1.0), t, 0) == 0x01);
  CHECK(convert_in_block(-small, nvfp4, zero_elements, {RoundingMode::away_from_zero, 0}, saturate, 0) ==
        0x8);
}
