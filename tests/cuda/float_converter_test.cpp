#include "emulation/cuda/float_converter.h"

#include "formats/catalog.h"
#include "formats/decode.h"
#include "tests/cuda/kernel_orders.h"

namespace halfulp::cuda {
namespace {

/// Powers of two; numbers of few bits, of 28 bits (a scale in E4M3 times one in fp32) and of 48; beside and beyond what
/// floats divide by.
constexpr double multipliers[]{1,
                               0x1p-9,
                               0x1p14,
                               0x1p60,
                               0x1p61,
                               0x1p-60,
                               0x1p-61,
                               0x1p-130,
                               0x1p120,
                               0x1.cp-3,
                               0x1.921fb6p1,
                               0x1.abcdef7p-12,
                               0x1.5555555p30,
                               0x1.0ee5e0ba2e8cp+1,
                               0x1.fffffep-59,
                               0x1.8p-62};

/// FloatConverter under a scale against the exact texts in double.
std::size_t differences(const ScalarFormat& f, Rounding rounding, OverflowPolicy policy,
                        const BlockScale& scale, const std::vector<float>& x) {
  const SpecialValues special = special_values(policy);
  const FloatConverter floats(f, rounding, special);
  const Converter exact(f, rounding, special);
  std::size_t count = 0;
  std::mt19937 bits(17);
  for (const float number : x) {
    const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << rounding.random_bits) - 1);
    const std::uint32_t random = static_cast<std::uint32_t>(bits()) & mask,
                        code = floats.code(number, scale, random);
    const double quotient = quotient_in_block(static_cast<double>(number), scale.divisor);
    count += code != exact.code(quotient, random) ? 1 : 0;
    const float stored = floats.number(floats.element(code), scale);
    count += bits_of(stored) != bits_of(value_in_block(decode(f, code), scale.multiplier)) ? 1 : 0;
  }
  return count;
}

TEST_SUITE("unit") {
  TEST_CASE("under every kind of scale floats give the codes and numbers of the exact texts") {
    const ScalarFormat near_the_end{
        .exponent_bits = 8, .fraction_bits = 3, .bias = 127, .nan = NanEncoding::ieee};
    const ScalarFormat low{.exponent_bits = 7, .fraction_bits = 6, .bias = 126};
    for (const ScalarFormat& f :
         {e4m3, e5m2, e2m1, e2m3, int8, fp16, bf16, tf32, fp32, ue4m3, near_the_end, low}) {
      CAPTURE(f.exponent_bits);
      CAPTURE(f.fraction_bits);
      for (const double multiplier : multipliers) {
        CAPTURE(multiplier);
        std::vector<float> x = mixed_numbers(300, 23);
        // Those that the scale brings among the format's numbers, its midpoints and its smallest ones.
        for (std::size_t i = 0; i < 300; ++i) {
          x.push_back(to_float(static_cast<double>(x[i]) * multiplier));
          const double steps = static_cast<double>(i) / 4 * (i % 2 == 0 ? 1 : -1);
          const float near = to_float(steps * f.min_positive() * multiplier);
          for (const float number : {near, std::nextafter(near, 0.0f), std::nextafter(near, INFINITY)})
            x.push_back(number);
        }
        const BlockScale scale = block_scale(multiplier, exact_divisor(multiplier));
        for (const NamedRoundingMode& named : all_rounding_modes)
          for (const int bits : {4, 16}) {
            CAPTURE(named.name);
            const int drawn = named.mode == RoundingMode::stochastic_equal ? 1
                              : is_stochastic(named.mode)                  ? bits
                                                                           : 0;
            CHECK(differences(f, {named.mode, drawn}, OverflowPolicy::saturate, scale, x) == 0);
            CHECK(differences(f, {named.mode, drawn}, OverflowPolicy::ieee, scale, x) == 0);
          }
      }
    }
  }

  TEST_CASE("what floats cannot divide by exactly is left to double") {
    CHECK(block_scale(0x1p60, exact_divisor(0x1p60)).in_floats);
    CHECK(!block_scale(0x1p61, exact_divisor(0x1p61)).in_floats);
    CHECK(!block_scale(0x1p4, zero_elements).in_floats);
    CHECK(!block_scale(0x1p4, {ScaleArithmetic::reciprocal, 0x1p-4}).in_floats);
    // 11 times it is no sum of 11 high and 11 low in floats.
    CHECK(!lane_scale(0x1.0ee5e0ba2e8cp+1));
    CHECK(lane_scale(0x1.abcdef7p-12));
    CHECK(!block_scale(std::numeric_limits<double>::quiet_NaN(),
                       exact_divisor(std::numeric_limits<double>::quiet_NaN()))
               .in_floats);
  }
}

}  // namespace
}  // namespace halfulp::cuda
