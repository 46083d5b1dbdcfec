// Blocks under a power of two that went wrong in other software, with their right answers under each convention.
#include <doctest/doctest.h>

#include <algorithm>

#include "emulation/quantize.h"
#include "formats/catalog.h"
#include "formats/scale_layout.h"

using namespace halfulp;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr SpecialValues saturate = special_values(OverflowPolicy::saturate);

Tensor stored(const BlockFormat& f, const std::vector<double>& values,
              std::optional<float> tensor_scale = std::nullopt) {
  return quantize(values, {values.size()}, f, nearest_even, saturate, {}, tensor_scale);
}

/// First `numbers`, then zeros up to a block of 32.
std::vector<double> block_of(std::vector<double> numbers) {
  numbers.resize(32);
  return numbers;
}

BlockFormat with(BlockFormat f, const ScaleConventions& conventions) {
  return with_conventions(f, conventions);
}

const BlockFormat floor8 = mx(e4m3, ScaleRule::ocp_floor), rceil8 = mx(e4m3, ScaleRule::rceil),
                  even8 = mx(e4m3, ScaleRule::even);
const BlockFormat fp8_tensor = scaled_by_fp32(e4m3, {BlockAxis::tensor, 0});

}  // namespace

TEST_CASE(
    "block cases: 957 reads back as 896, because the floor rule saturates the top of a block "
    "(microsoft/microxcaling#4)") {
  struct {
    BlockFormat format;
    std::uint32_t scale, code;
    double value;
  } const rows[] = {{floor8, 0x80, 0x7e, 896}, {rceil8, 0x81, 0x77, 960}, {even8, 0x80, 0x7e, 896}};
  for (const auto& row : rows) {
    const Tensor t = stored(row.format, block_of({957, 960, -959.5, 902}));
    CHECK(t.scale_code(0) == row.scale);
    CHECK(t.code(0) == row.code);
    CHECK(t.value(0) == row.value);
    CHECK(t.value(31) == 0);
  }
}

TEST_CASE("block cases: blocks of zeros are exactly zero under every convention of their scale") {
  for (const ZeroBlock convention :
       {ZeroBlock::smallest, ZeroBlock::one, ZeroBlock::amax_one, ZeroBlock::two_to_minus_23})
    for (const BlockFormat& plain : {floor8, rceil8, mx(e2m1, ScaleRule::even), fp8_tensor, nvfp4}) {
      // 2^-23 is no ue4m3 number.
      if (convention == ZeroBlock::two_to_minus_23 && plain.has_tensor_scale()) continue;
      std::vector<double> zeros(32, 0.0);
      zeros[7] = -0.0;
      const Tensor t = stored(with(plain, {.zero_block = convention}), zeros);
      CHECK_FALSE(is_nan_code(plain.scale, t.scale_code(0)));
      const std::uint32_t minus = 1u << (plain.element.bits() - 1);
      for (std::size_t i = 0; i < 32; ++i) {
        CHECK(t.code(i) == (i == 7 ? minus : 0));
        CHECK(bits_of(t.value(i)) == bits_of(i == 7 ? -0.0 : 0.0));
      }
      if (plain.scale == e8m0 && convention == ZeroBlock::smallest) CHECK(t.scale_code(0) == 0x00);
      if (plain.scale == e8m0 && convention == ZeroBlock::one) CHECK(t.scale_code(0) == 0x7f);
      if (plain.has_tensor_scale() && convention == ZeroBlock::smallest) CHECK(t.scale_code(0) == 0x00);
    }
}

TEST_CASE("block cases: tiny blocks, whose scale or its reciprocal is an fp32 subnormal") {
  struct {
    double v;
    std::uint32_t floor_scale, floor_codes[2], rceil_scale, rceil_codes[2];
  } const rows[] = {{0x1.dp-119, 0x00, {0x7e, 0xee}, 0x01, {0x76, 0xe6}},
                    {0x1p-118, 0x01, {0x78, 0xe8}, 0x01, {0x78, 0xe8}},
                    {0x1.fp-120, 0x00, {0x78, 0xe8}, 0x00, {0x78, 0xe8}},
                    {0x1p-126, 0x00, {0x40, 0xb0}, 0x00, {0x40, 0xb0}}};
  for (const auto& row : rows) {
    INFO(row.v);
    const Tensor floor = stored(floor8, block_of({row.v, -row.v / 4})),
                 rceil = stored(rceil8, block_of({row.v, -row.v / 4}));
    CHECK(floor.scale_code(0) == row.floor_scale);
    CHECK(rceil.scale_code(0) == row.rceil_scale);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(floor.code(i) == row.floor_codes[i]);
      CHECK(rceil.code(i) == row.rceil_codes[i]);
    }
    CHECK(floor.code(2) == 0x00);
  }
  const Tensor smallest = stored(floor8, block_of({0x1p-149, 0x1p-149, 0x1p-149, -0x1p-149}));
  CHECK(smallest.scale_code(0) == 0x00);
  for (std::size_t i = 0; i < 4; ++i) CHECK(smallest.code(i) == (i == 3 ? 0x80 : 0x00));
  for (const BlockFormat& f : {floor8, rceil8}) {
    const Tensor largest_subnormal = stored(f, block_of({0x1.fffffcp-127}));
    CHECK(largest_subnormal.scale_code(0) == 0x00);
    CHECK(largest_subnormal.code(0) == 0x40);
  }
}

TEST_CASE("block cases: a NaN or an infinity in a block, wherever it stands") {
  for (const ScalarFormat& element : {e4m3, e2m1})
    for (std::size_t place = 0; place < 32; ++place)
      for (const double odd : {not_a_number, infinity, -infinity}) {
        std::vector<double> block(32, 1.0);
        block[(place + 9) % 32] = -1, block[17] = 2;
        block[place] = odd;
        const bool is_nan = odd != odd;
        const Tensor poisoned = stored(mx(element, ScaleRule::ocp_floor), block);
        CHECK(poisoned.scale_code(0) == 0xff);
        for (std::size_t i = 0; i < 32; ++i) CHECK(poisoned.value(i) != poisoned.value(i));
        if (element != e4m3) continue;  // FP4 has no code for a NaN alone

        const Tensor ignored =
            stored(with(floor8, {.nan = NanInBlock::ignore, .infinity = InfinityInBlock::ignore}), block);
        const double largest = place == 17 ? 1 : 2;
        CHECK(ignored.scale_code(0) == (largest == 2 ? 0x78 : 0x77));
        CHECK(ignored.code(place) == (is_nan ? 0x7f : odd > 0 ? 0x7e : 0xfe));
        CHECK(ignored.value(17 == place ? 0 : 17) == block[17 == place ? 0 : 17]);
        if (is_nan) continue;
        const Tensor saturated = stored(with(floor8, {.infinity = InfinityInBlock::saturate}), block);
        CHECK(saturated.scale_code(0) == 0xfe);
        for (std::size_t i = 0; i < 32; ++i)
          CHECK(saturated.code(i) == (i == place ? (odd > 0 ? 0x7e : 0xfe) : block[i] < 0 ? 0x80 : 0x00));
      }
  // NaN everywhere: the policy that ignores them has a block of zeros left.
  const Tensor nothing =
      stored(with(floor8, {.nan = NanInBlock::ignore}), std::vector<double>(32, not_a_number));
  CHECK(nothing.scale_code(0) == 0x00);
  CHECK(nothing.code(31) == 0x7f);
  CHECK(stored(floor8, std::vector<double>(32, not_a_number)).scale_code(0) == 0xff);
}

TEST_CASE(
    "block cases: at powers of two the exponent is the number's own, one fp32 step below it the one before") {
  struct {
    int k;
    std::uint32_t at, below;
  } const rows[] = {{-126, 0x00, 0x00}, {-100, 0x19, 0x18}, {-3, 0x7a, 0x79},
                    {0, 0x7d, 0x7c},    {1, 0x7e, 0x7d},    {7, 0x84, 0x83},
                    {29, 0x9a, 0x99},   {100, 0xe1, 0xe0},  {127, 0xfc, 0xfb}};
  const BlockFormat f = mx(e2m1, ScaleRule::ocp_floor);
  for (const auto& row : rows) {
    const auto power = static_cast<float>(std::ldexp(1.0, row.k));
    CHECK(stored(f, {power}).scale_code(0) == row.at);
    CHECK(stored(f, {std::nextafter(power, 0.0f)}).scale_code(0) == row.below);
  }
}

TEST_CASE("block cases: only scales that are rounded up keep the largest of a block (ml-explore/mlx#4353)") {
  struct Stored {
    std::uint32_t scale, code;
    double value;
  };
  struct {
    double amax;
    Stored up, log, value, down;
  } const rows[] = {{318, {0x7f, 0x7a, 320}, {0x7f, 0x7a, 320}, {0x7e, 0x7e, 224}, {0x7e, 0x7e, 224}},
                    {448, {0x7f, 0x7e, 448}, {0x7f, 0x7e, 448}, {0x7f, 0x7e, 448}, {0x7f, 0x7e, 448}},
                    {449, {0x80, 0x76, 448}, {0x7f, 0x7e, 448}, {0x7f, 0x7e, 448}, {0x7f, 0x7e, 448}},
                    {632, {0x80, 0x7a, 640}, {0x7f, 0x7e, 448}, {0x7f, 0x7e, 448}, {0x7f, 0x7e, 448}},
                    {633, {0x80, 0x7a, 640}, {0x7f, 0x7e, 448}, {0x7f, 0x7e, 448}, {0x7f, 0x7e, 448}}};
  for (const auto& row : rows) {
    INFO(row.amax);
    const auto check = [&](ScaleRule rule, const Stored& expected) {
      INFO(std::string(name_of(rule)));
      const Tensor t = stored(mx(e4m3, rule), {row.amax});
      CHECK(t.scale_code(0) == expected.scale);
      CHECK(t.code(0) == expected.code);
      CHECK(t.value(0) == expected.value);
    };
    check(ScaleRule::rceil, row.up);
    check(ScaleRule::log2_nearest, row.log);
    check(ScaleRule::amax, row.value);  // 448ths rounded to the nearest power of two in value
    check(ScaleRule::rfloor, row.down);
  }
}

TEST_CASE(
    "block cases: the tail of a row is a block of its own, none with the next row's head "
    "(DeepWok/mase#321)") {
  std::vector<double> matrix(96, 0x1p10);
  std::fill_n(matrix.begin(), 32, 1.0);
  std::fill_n(matrix.begin() + 32, 16, 0x1p-10);
  const Tensor t = quantize(matrix, {2, 48}, floor8, nearest_even, saturate, {}, {});
  CHECK(t.shape() == std::vector<std::size_t>{2, 48});
  CHECK(t.scale_bytes() == std::vector<std::uint8_t>{0x77, 0x6d, 0x81, 0x81});
  for (std::size_t i = 32; i < 48; ++i) {
    CHECK(t.code(i) == 0x78);
    CHECK(t.value(i) == 0x1p-10);
  }
  CHECK(dequantize(t) == matrix);
}

TEST_CASE("block cases: both ends of MXINT8") {
  const std::vector<double> block{1,         0x1.fffffep+0, -0x1.fffffep+0, 1.984375,
                                  1.9921875, -0.0078125,    0.0234375};
  const BlockFormat f = mx(int8, ScaleRule::ocp_floor);
  for (const bool symmetric : {false, true}) {
    SpecialValues special = saturate;
    special.symmetric_fixed_point = symmetric;
    const Tensor t = quantize(block, {block.size()}, f, nearest_even, special, {}, {});
    CHECK(t.scale_code(0) == 0x7f);
    const std::vector<double> expected{1, 1.984375, symmetric ? -1.984375 : -2, 1.984375, 1.984375,
                                       0, 0.03125};
    CHECK(dequantize(t) == expected);
    CHECK(t.code(2) == (symmetric ? 0x81 : 0x80));
    CHECK(t.code(5) == 0x00);
  }
}

TEST_CASE("block cases: doubled elements under halved scales are the same numbers") {
  const BlockFormat f = mx(e2m1, ScaleRule::ocp_floor);
  BlockFormat doubled = f;
  doubled.element.bias = 0;  // 0, 1, 2, 3, 4, 6, 8, 12
  CHECK(doubled.element.max_finite() == 12);
  for (std::uint32_t scale = 1; scale < 255; ++scale)
    for (std::uint32_t code = 0; code < 16; ++code)
      CHECK(bits_of(decode_in_block(f, code, scale, 1.0f)) ==
            bits_of(decode_in_block(doubled, code, scale - 1, 1.0f)));
  CHECK(decode_in_block(f, 0x1, 0x7f, 1.0f) == 0.5);
  CHECK(decode_in_block(f, 0xf, 0x7f, 1.0f) == -6);
  CHECK(decode_in_block(f, 0x1, 0x00, 1.0f) == 0x1p-128);
  CHECK(decode_in_block(f, 0x7, 0x00, 1.0f) == 0x1.8p-125);
  CHECK(decode_in_block(f, 0x7, 0xfe, 1.0f) == infinity);
}

TEST_CASE("block cases: what stands in the padding of scales is not read (triton-lang/triton#10190)") {
  std::vector<double> values(3 * 1504);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::ldexp(1 + static_cast<double>(i * 37 % 101) / 128, static_cast<int>(i / 32 % 19) - 9);
  const Tensor t = quantize(values, {3, 1504}, mx(e2m1, ScaleRule::rceil), nearest_even, saturate, {}, {});
  CHECK(t.block_count() == 141);
  CHECK(t.scale_bytes().size() == 141);
  for (const std::uint8_t padding : {std::uint8_t{0xff}, std::uint8_t{0x00}, std::uint8_t{0x7f}}) {
    const auto swizzled = swizzle_scales(t.scale_bytes(), 3, 47, padding);
    CHECK(swizzled.size() == 128 * 48);
    CHECK(unswizzle_scales(swizzled, 3, 47) == t.scale_bytes());
  }
}
