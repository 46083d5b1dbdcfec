// Blocks under fp32 scales, of their own or of the tensor, that went wrong in other software, with their right answers.
#include <doctest/doctest.h>

#include "emulation/quantize.h"
#include "formats/catalog.h"
#include "formats/spec/descriptor_checks.h"

using namespace halfulp;

namespace {

Tensor stored(const BlockFormat& f, const std::vector<double>& values,
              std::optional<float> tensor_scale = std::nullopt) {
  return quantize(values, {values.size()}, f, nearest_even, special_values(OverflowPolicy::saturate), {},
                  tensor_scale);
}

BlockFormat with(BlockFormat f, const ScaleConventions& conventions) {
  return with_conventions(f, conventions);
}

const BlockFormat rceil8 = mx(e4m3, ScaleRule::rceil),
                  fp8_tensor = scaled_by_fp32(e4m3, {BlockAxis::tensor, 0});

}  // namespace

TEST_CASE(
    "block cases: a stand-in scale of 1 over a small tensor scale is 3584, no E4M3 number "
    "(NVIDIA/Model-Optimizer#1397)") {
  std::vector<double> values(32, 0.0);
  values[0] = 0.75;
  for (const ScaleConventions& conventions :
       {ScaleConventions{},
        {.zero_block = ZeroBlock::one},
        {.zero_block = ZeroBlock::amax_one},
        {.zero_block = ZeroBlock::one, .arithmetic = ScaleArithmetic::quotients}}) {
    const Tensor t = stored(with(nvfp4, conventions), values);
    CHECK(t.tensor_scale(0).decode == 0.75f / 2688);
    CHECK_FALSE(is_nan_code(ue4m3, t.scale_code(1)));
    for (std::size_t i = 16; i < 32; ++i) {
      CHECK(t.code(i) == 0x0);
      CHECK(t.value(i) == 0);
    }
  }
  CHECK(stored(nvfp4, values).scale_code(1) == 0x00);
  // 1 / t = 3584 saturates, instead of becoming the NaN of a cast that does not.
  CHECK(choose_scale(with(nvfp4, {.zero_block = ZeroBlock::amax_one}), 0, 0.75f / 2688, 0) == 0x7e);
  CHECK(choose_scale(nvfp4, 6, 0.75f / 2688, 0) == 0x7e);
}

TEST_CASE("block cases: without a tensor scale NVFP4 clips above 2688") {
  std::vector<double> block(16, 1344);
  block[0] = 5376;
  struct {
    float t;
    std::uint32_t codes[2];
    double values[2];
  } const rows[] = {{1, {0x7, 0x5}, {2688, 1344}}, {2, {0x7, 0x3}, {5376, 1344}}};
  for (const auto& row : rows) {
    const Tensor t = stored(nvfp4, block, row.t);
    CHECK(t.scale_code(0) == 0x7e);
    for (std::size_t i = 0; i < 16; ++i) {
      CHECK(t.code(i) == row.codes[i == 0 ? 0 : 1]);
      CHECK(t.value(i) == row.values[i == 0 ? 0 : 1]);
    }
  }
  CHECK(stored(nvfp4, block).tensor_scale(0).decode == 2);
  const BlockFormat single = with_tensor_scale(nvfp4, TensorScale::none);
  CHECK(stored(single, block).value(0) == 2688);
}

TEST_CASE("block cases: a tensor of the tiniest numbers makes neither NaN nor infinities") {
  // 2^-140 / 448 rounds to the smallest float, under which 448 is the largest; 2^-141 / 448 rounds to 0.
  const Tensor t = stored(fp8_tensor, {0x1p-140, -0x1p-140});
  CHECK(t.multiplier(0) == 0x1p-149);
  CHECK(dequantize(t) == std::vector<double>{0x1.cp-141, -0x1.cp-141});
  const Tensor lost = stored(fp8_tensor, {0x1p-142, -0x1p-142});
  CHECK(lost.multiplier(0) == 0);
  CHECK(lost.code(0) == 0x00);
  CHECK(lost.code(1) == 0x80);
  // The smallest power of two leaves 2^-13 of it, less than half of 2^-9.
  const Tensor power = stored(rceil8, {0x1p-140});
  CHECK(power.scale_code(0) == 0x00);
  CHECK(power.code(0) == 0x00);
}

TEST_CASE("block cases: a scale is not rounded to the type of the activations") {
  const Tensor t = stored(fp8_tensor, {3, 1.34375});
  CHECK(t.code(0) == 0x7e);
  CHECK(t.code(1) ==
        0x75);  // 1.34375 * 448 / 3 = 200.67; 149 for 448 / 3, as bf16 has it, gives 200.2 and then 200: 0x74
}

TEST_CASE("block cases: a tensor scale is what elements are multiplied by, not what they are divided by") {
  CHECK(decode_in_block(nvfp4, 0x7, 0x7e, 1 / 3584.0f) == doctest::Approx(0.75).epsilon(0x1p-23));
  CHECK(decode_in_block(nvfp4, 0x7, 0x7e, 3584.0f) == 9633792);
  std::vector<double> values(16, 0.0);
  values[0] = 0.75;
  const Tensor t = stored(nvfp4, values);
  CHECK(t.tensor_scale(0).decode == 0.75f / 2688);
  CHECK(stored(nvfp4, dequantize(t)).code_bytes() == t.code_bytes());
}

TEST_CASE(
    "tensor scale cases: ordinary numbers are not lost, however wide the scales below the tensor's are") {
  int formats = 0;
  for (const ScalarFormat& element : {e2m1, e4m3, int8, bf16})
    for (const ScalarFormat& scale : {ue4m3, ue5m3, fp16, bf16, fp32, e8m0}) {
      const BlockFormat f{element,
                          {BlockAxis::tile, 16},
                          scale,
                          scale == e8m0 ? ScaleRule::rceil : ScaleRule::amax,
                          TensorScale::tensor};
      if (refusal_of(f)) continue;
      ++formats;
      for (const double largest : {1e20, 1.0, 2e-6, 1e-8, 1e-20}) {
        INFO("element up to ", element.max_finite(), " scale up to ", scale.max_finite(), " amax ", largest);
        const Tensor t = stored(f, {largest, -largest / 2});
        CHECK(t.value(0) / largest == doctest::Approx(1).epsilon(0.1));
        CHECK(t.value(1) / largest == doctest::Approx(-0.5).epsilon(0.1));
      }
    }
  CHECK(formats == 9);
}

TEST_CASE(
    "tensor scale cases: fp32 scales under a tensor scale are refused, for a product of 55 bits rounds "
    "twice") {
  // Its double lies on the middle of two floats, it itself above: 0x65 s t is 0x1.0025d6p+48 in one rounding.
  const BlockFormat f{int8, {BlockAxis::tile, 16}, fp32, ScaleRule::amax, TensorScale::tensor};
  CHECK(decode_in_block(f, 0x65, encode(fp32, 0x1.45be6ep+23), 0x1.fe3cf6p+23f) == 0x1.0025d4p+48);
  CHECK(refusal_of(f));
}
