#include "emulation/quantize.h"

#include <doctest/doctest.h>

#include <cmath>

#include "formats/catalog.h"
#include "formats/error.h"

namespace halfulp {
namespace {

constexpr SpecialValues saturating = special_values(OverflowPolicy::saturate);

Tensor nearest(const std::vector<double>& values, const std::vector<std::size_t>& shape,
               const BlockFormat& format, std::optional<float> tensor_scale = std::nullopt) {
  return quantize(values, shape, format, nearest_even, saturating, {}, tensor_scale);
}

std::vector<double> numbers(std::size_t count) {
  std::vector<double> out;
  const RandomStream stream{1, 2, 3, 0, RandomPurpose::data_order, 0};
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(
        std::ldexp(static_cast<double>(random_bits_32(stream, i)) - 0x1p31, -31 - static_cast<int>(i % 9)));
  return out;
}

TEST_CASE("quantize: a scalar format converts each number by itself") {
  const std::vector<double> values = numbers(100);
  for (const NamedScalarFormat& known : all_scalar_formats) {
    CAPTURE(known.name);
    const Tensor t = nearest(values, {100}, unscaled(known.format));
    for (std::size_t i = 0; i < 100; ++i)
      CHECK(t.code(i) == convert(values[i], known.format, nearest_even, saturating, 0));
  }
}

TEST_CASE("quantize: what is on the grid of a power-of-two scale comes back") {
  for (const NamedBlockFormat& known : all_block_formats) {
    if (known.format.scale != e8m0) continue;
    CAPTURE(known.name);
    const Tensor once = nearest(numbers(150), {3, 50}, known.format);
    const std::vector<double> values = dequantize(once);
    CHECK(dequantize(nearest(values, {3, 50}, known.format)) == values);
  }
}

TEST_CASE("quantize: nvfp4 by hand") {
  // amax 2688 = 6 * 448: t = 1; the first block's scale 448, the second's amax 3: 3/6 = 0.5.
  std::vector<double> values(32, 0.0);
  values[0] = 2688, values[1] = 224, values[16] = 3, values[17] = -0.26, values[18] = 0.125;
  const Tensor t = nearest(values, {32}, nvfp4);
  CHECK(t.tensor_scale(0).decode == 1);
  CHECK(decode(ue4m3, t.scale_code(0)) == 448);
  CHECK(decode(ue4m3, t.scale_code(1)) == 0.5);
  CHECK(t.value(0) == 2688);
  CHECK(t.value(1) == 224);
  CHECK(t.value(16) == 3);
  CHECK(t.value(17) == -0.25);  // -0.52 in units of the scale
  CHECK(t.value(18) == 0);      // 0.25: a tie to zero
  // A given tensor scale is used as it is.
  const Tensor given = nearest(values, {32}, nvfp4, 2.0f);
  CHECK(given.tensor_scale(0).decode == 2);
  CHECK(decode(ue4m3, given.scale_code(0)) == 224);
  CHECK(given.value(0) == 2688);
}

TEST_CASE("quantize: zeros stay zeros with their signs in every block format") {
  for (const NamedBlockFormat& known : all_block_formats) {
    CAPTURE(known.name);
    const Tensor t = nearest({0.0, -0.0, 0.0, -0.0}, {4}, known.format);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(t.value(i) == 0);
      if (known.format.element.has_negative_zero) CHECK(std::signbit(t.value(i)) == (i % 2 == 1));
    }
  }
}

TEST_CASE("quantize: NaN and infinity poison their block, and the tensor where a scale spans it") {
  for (const NamedBlockFormat& known : all_block_formats)
    for (const double poison : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      CAPTURE(known.name);
      std::vector<double> values(600, 1.0);
      values[300] = poison;
      const Tensor t = nearest(values, {600}, known.format);
      const bool spans = known.format.has_tensor_scale() || known.format.shape.axis == BlockAxis::tensor;
      for (std::size_t i = 0; i < 600; ++i)
        CHECK(std::isnan(t.value(i)) == (spans || t.block_of(i) == t.block_of(300)));
    }
}

TEST_CASE("quantize: random bits are those of the element, or one number for all") {
  const RandomStream stream{7, 8, 9, 1, RandomPurpose::rounding, 0};
  const std::vector<double> values(300, 1 + 0x1p-9);
  const Tensor from_stream = quantize(values, {300}, unscaled(bf16), stochastic, saturating, {stream, 0}, {});
  for (std::size_t i = 0; i < 300; ++i)
    CHECK(from_stream.code(i) ==
          convert(values[i], bf16, stochastic, saturating, random_bits(stream, i, 16)));
  // 2^-9 is a quarter of the gap: away from zero exactly for r >= 3/4 of 2^16.
  CHECK(quantize(values, {300}, unscaled(bf16), stochastic, saturating, {std::nullopt, 0xBFFF}, {}).code(5) ==
        0x3F80);
  CHECK(quantize(values, {300}, unscaled(bf16), stochastic, saturating, {std::nullopt, 0xC000}, {}).code(5) ==
        0x3F81);
}

TEST_CASE("quantize: errors name what does not fit") {
  CHECK_THROWS_WITH(nearest({1, 2, 3}, {2}, unscaled(bf16)),
                    "quantize: shape and values differ: given '3 values', allowed: 2 by the shape");
  CHECK_THROWS_AS(nearest({}, {}, unscaled(bf16)), Error);
  CHECK_THROWS_AS(nearest({1}, {1}, unscaled(bf16), 2.0f), Error);
}

}  // namespace
}  // namespace halfulp
