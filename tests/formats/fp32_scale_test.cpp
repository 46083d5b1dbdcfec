// Blocks with one fp32 scale, amax over the largest element, against exact rational arithmetic.
#include <doctest/doctest.h>

#include <random>

#include "formats/block.h"
#include "formats/catalog.h"
#include "formats/spec.h"
#include "tests/formats/exact_rational.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

double scale_of(const BlockFormat& f, double amax) {
  return oracle::decode(fp32, choose_scale(f, amax, 1.0f, 0));
}

/// nu of |x|: how far it stands from its lower neighbour in e4m3, as a share of the gap.
Rational fraction_of_gap(const Rational& magnitude) {
  std::uint32_t lower = 0;
  while (exact(oracle::decode(e4m3, lower + 1)) <= magnitude) ++lower;
  const Rational low = exact(oracle::decode(e4m3, lower)), high = exact(oracle::decode(e4m3, lower + 1));
  return (magnitude - low) / (high - low);
}

}  // namespace

TEST_CASE("fp32 scale: is amax over the largest element, rounded once to fp32") {
  std::mt19937_64 random(41);
  for (const std::string name : {"fp8_tensor", "fp8_block256", "fp8_block256_e5m2"}) {
    const BlockFormat f = parse_format(name);
    const double largest = name == "fp8_block256_e5m2" ? 57344 : 448;
    for (int i = 0; i < 2000; ++i) {
      const double t = std::ldexp(static_cast<double>((random() & 0x7fffff) | 0x800000),
                                  static_cast<int>(random() % 100) - 80);
      const double tie = (t + std::ldexp(1.0, std::ilogb(t) - 24)) * largest;
      for (const double amax :
           {tie, std::nextafter(tie, 0.0), std::nextafter(tie, 1e308), double{static_cast<float>(tie)}}) {
        INFO(name, " ", amax);
        CHECK(scale_of(f, amax) == nearest_float(exact(amax) / exact(largest)));
      }
    }
  }
}

TEST_CASE(
    "fp32 scale: a zero block has scale 1, an underflowing one 0, an overflowing one the largest float") {
  const BlockFormat f = parse_format("fp8_tensor");
  CHECK(scale_of(f, 0) == 1);
  CHECK(scale_of(f, 0x1p-149) == 0);
  CHECK(scale_of(f, 0x1p-141 * 0.875) == 0x0p0);  // 224 * 2^-149 is half of the smallest scale: to even
  CHECK(scale_of(f, 0x1p-141 * 0.875 + 0x1p-170) == 0x1p-149);
  CHECK(scale_of(f, 0x1p1000) == std::numeric_limits<float>::max());
  const SpecialValues saturate = special_values(OverflowPolicy::saturate);
  CHECK(convert_in_block(-0x1p-149, f, zero_elements, {RoundingMode::down, 0}, saturate, 0) == 0x80);
  CHECK(convert_in_block(0x1p-149, f, zero_elements, {RoundingMode::up, 0}, saturate, 0) == 0x00);
}

TEST_CASE(
    "fp32 scale: the largest of a block comes back as the largest element, whatever the scale rounded to") {
  std::mt19937 random(3);
  const SpecialValues saturate = special_values(OverflowPolicy::saturate);
  const BlockFormat f = parse_format("fp8_tensor");
  for (int i = 0; i < 5000; ++i) {
    const double amax =
        static_cast<float>(std::ldexp(random() * 0x1p-32 + 1, static_cast<int>(random() % 40) - 20));
    CHECK(convert_in_block(amax, f, exact_divisor(scale_of(f, amax)), nearest_even, saturate, 0) == 0x7e);
  }
}

TEST_CASE(
    "fp32 scale: an element is the exact quotient rounded once, in every mode, on its ties and beside them") {
  std::mt19937 random(13);
  const BlockFormat f = parse_format("fp8_tensor");
  const RationalRounding exactly(e4m3);
  const SpecialValues saturate = special_values(OverflowPolicy::saturate);
  for (int i = 0; i < 1500; ++i) {
    const double scale = std::ldexp(static_cast<double>((random() & 0x7fffff) | 0x800000),
                                    static_cast<int>(random() % 60) - 50);
    const auto code = static_cast<std::uint32_t>(random() % 0x7e);
    const double tie = (oracle::decode(e4m3, code) + oracle::decode(e4m3, code + 1)) / 2 * scale;
    for (const double x : {tie, -std::nextafter(tie, 0.0), std::nextafter(tie, 1e308)})
      for (const NamedRoundingMode& named : all_rounding_modes) {
        if (is_stochastic(named.mode)) continue;
        INFO(x, " / ", scale, " ", std::string(named.name));
        CHECK(convert_in_block(x, f, exact_divisor(scale), {named.mode, 0}, saturate, 0) ==
              exactly.code(exact(x) / exact(scale), named.mode));
      }
  }
}

TEST_CASE("fp32 scale: stochastic rounding sees the exact quotient, at the random integer that decides") {
  std::mt19937 random(29);
  const BlockFormat f = parse_format("fp8_tensor");
  const SpecialValues saturate = special_values(OverflowPolicy::saturate);
  for (int i = 0; i < 3000; ++i) {
    const double scale = std::ldexp(static_cast<double>((random() & 0x7fffff) | 0x800000), -30);
    const double x = static_cast<float>(scale * (random() % 100000 + 1) * 0x1p-9);  // quotients up to 196
    const Rational quotient = exact(x) / exact(scale), scaled = fraction_of_gap(quotient) * power(16);
    const auto away = static_cast<std::uint32_t>(Integer(numerator(scaled) / denominator(scaled)));
    const std::uint32_t low =
        convert_in_block(x, f, exact_divisor(scale), {RoundingMode::toward_zero, 0}, saturate, 0);
    const std::uint32_t first = 65536 - away;  // the first r with floor(nu 2^16) + r >= 2^16
    INFO(x, " / ", scale);
    CHECK(convert_in_block(x, f, exact_divisor(scale), {RoundingMode::stochastic_a, 16}, saturate,
                           first - 1) == low);
    if (away > 0)
      CHECK(convert_in_block(x, f, exact_divisor(scale), {RoundingMode::stochastic_a, 16}, saturate, first) ==
            low + 1);
  }
}
