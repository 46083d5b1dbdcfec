#pragma once
#include <array>
#include <string_view>

#include "formats/block_format.h"
#include "formats/decode.h"

namespace halfulp {

inline constexpr auto with_ieee_specials = [](ScalarFormat f) {
  f.infinity = Infinity::ieee;
  f.nan = NanEncoding::ieee;
  return f;
};
inline constexpr auto fnuz = [](ScalarFormat f) {
  f.nan = NanEncoding::negative_zero;
  f.has_negative_zero = false;
  return f;
};

// OCP 8-bit floating point (OFP8) v1.0, and the IEEE-like and FNUZ variants that hardware and frameworks use.
inline constexpr ScalarFormat e4m3{
    .exponent_bits = 4, .fraction_bits = 3, .bias = 7, .nan = NanEncoding::all_ones};
inline constexpr ScalarFormat e5m2 = with_ieee_specials({.exponent_bits = 5, .fraction_bits = 2, .bias = 15});
inline constexpr ScalarFormat e4m3_ieee =
    with_ieee_specials({.exponent_bits = 4, .fraction_bits = 3, .bias = 7});
inline constexpr ScalarFormat e3m4 = with_ieee_specials({.exponent_bits = 3, .fraction_bits = 4, .bias = 3});
inline constexpr ScalarFormat e4m3fnuz = fnuz({.exponent_bits = 4, .fraction_bits = 3, .bias = 8});
inline constexpr ScalarFormat e5m2fnuz = fnuz({.exponent_bits = 5, .fraction_bits = 2, .bias = 16});
inline constexpr ScalarFormat e4m3b11fnuz = fnuz({.exponent_bits = 4, .fraction_bits = 3, .bias = 11});

// OCP Microscaling (MX) v1.0 elements and scale; E3M0 is FBGEMM's and oneDNN's.
inline constexpr ScalarFormat e3m2{.exponent_bits = 3, .fraction_bits = 2, .bias = 3};
inline constexpr ScalarFormat e2m3{.exponent_bits = 2, .fraction_bits = 3, .bias = 1};
inline constexpr ScalarFormat e2m1{.exponent_bits = 2, .fraction_bits = 1, .bias = 1};
inline constexpr ScalarFormat e3m0{.exponent_bits = 3, .fraction_bits = 0, .bias = 3};
inline constexpr ScalarFormat e8m0{.is_signed = false,
                                   .exponent_bits = 8,
                                   .fraction_bits = 0,
                                   .bias = 127,
                                   .nan = NanEncoding::all_ones,
                                   .has_negative_zero = false,
                                   .has_zero = false,
                                   .has_subnormals = false};
// MXINT8: read as sign and magnitude, two's complement with 6 fraction bits is the grid of e1m6 with bias 1.
inline constexpr ScalarFormat int8{
    .exponent_bits = 1, .fraction_bits = 6, .bias = 1, .has_negative_zero = false, .is_fixed_point = true};

// Unsigned scales: NVFP4's, and AMD Quark's with one more exponent bit.
inline constexpr ScalarFormat ue4m3{.is_signed = false,
                                    .exponent_bits = 4,
                                    .fraction_bits = 3,
                                    .bias = 7,
                                    .nan = NanEncoding::all_ones,
                                    .has_negative_zero = false};
inline constexpr ScalarFormat ue5m3{.is_signed = false,
                                    .exponent_bits = 5,
                                    .fraction_bits = 3,
                                    .bias = 15,
                                    .nan = NanEncoding::all_ones,
                                    .has_negative_zero = false};

inline constexpr ScalarFormat bf16 =
    with_ieee_specials({.exponent_bits = 8, .fraction_bits = 7, .bias = 127});
inline constexpr ScalarFormat fp16 =
    with_ieee_specials({.exponent_bits = 5, .fraction_bits = 10, .bias = 15});
inline constexpr ScalarFormat tf32 =
    with_ieee_specials({.exponent_bits = 8, .fraction_bits = 10, .bias = 127});
inline constexpr ScalarFormat fp32 =
    with_ieee_specials({.exponent_bits = 8, .fraction_bits = 23, .bias = 127});

struct NamedScalarFormat {
  std::string_view name;
  ScalarFormat format;
};

/// Every named scalar format. Tests, benches, the program and the documentation iterate it.
inline constexpr std::array all_scalar_formats{
    NamedScalarFormat{"e4m3", e4m3},
    NamedScalarFormat{"e5m2", e5m2},
    NamedScalarFormat{"e4m3_ieee", e4m3_ieee},
    NamedScalarFormat{"e3m4", e3m4},
    NamedScalarFormat{"e4m3fnuz", e4m3fnuz},
    NamedScalarFormat{"e5m2fnuz", e5m2fnuz},
    NamedScalarFormat{"e4m3b11fnuz", e4m3b11fnuz},
    NamedScalarFormat{"e3m2", e3m2},
    NamedScalarFormat{"e2m3", e2m3},
    NamedScalarFormat{"e2m1", e2m1},
    NamedScalarFormat{"e3m0", e3m0},
    NamedScalarFormat{"e8m0", e8m0},
    NamedScalarFormat{"ue4m3", ue4m3},
    NamedScalarFormat{"ue5m3", ue5m3},
    NamedScalarFormat{"int8", int8},
    NamedScalarFormat{"bf16", bf16},
    NamedScalarFormat{"fp16", fp16},
    NamedScalarFormat{"tf32", tf32},
    NamedScalarFormat{"fp32", fp32},
};

struct NamedBlockFormat {
  std::string_view name;
  BlockFormat format;
};

constexpr BlockFormat mx(const ScalarFormat& element, ScaleRule rule) {
  return {element, BlockShape{BlockAxis::tile, 32}, e8m0, rule, TensorScale::none};
}

/// The nvfp4 recipe: a second scale for the tensor, ue4m3 scales of amax / 6 for blocks of 16.
inline constexpr BlockFormat nvfp4{e2m1, BlockShape{BlockAxis::tile, 16}, ue4m3, ScaleRule::amax,
                                   TensorScale::tensor};

constexpr BlockFormat with_conventions(BlockFormat f, const ScaleConventions& conventions) {
  f.conventions = conventions;
  return f;
}
constexpr BlockFormat with_shape(BlockFormat f, const BlockShape& shape) {
  f.shape = shape;
  return f;
}
constexpr BlockFormat with_tensor_scale(BlockFormat f, TensorScale scale) {
  f.tensor_scale = scale;
  return f;
}

/// An fp32 scale for a stretch of elements; a stretch of zeros has the scale 1.
constexpr BlockFormat scaled_by_fp32(const ScalarFormat& element, const BlockShape& shape) {
  return {element, shape, fp32, ScaleRule::amax, TensorScale::none, {.zero_block = ZeroBlock::one}};
}

/// Every named block format. The mx formats carry the OCP MX v1.0 scale rule; `_rceil` names the rounded-up
/// one.
inline constexpr std::array all_block_formats{
    NamedBlockFormat{"mxfp8_e4m3", mx(e4m3, ScaleRule::ocp_floor)},
    NamedBlockFormat{"mxfp8_e5m2", mx(e5m2, ScaleRule::ocp_floor)},
    NamedBlockFormat{"mxfp6_e3m2", mx(e3m2, ScaleRule::ocp_floor)},
    NamedBlockFormat{"mxfp6_e2m3", mx(e2m3, ScaleRule::ocp_floor)},
    NamedBlockFormat{"mxfp4", mx(e2m1, ScaleRule::ocp_floor)},
    NamedBlockFormat{"mxint8", mx(int8, ScaleRule::ocp_floor)},
    NamedBlockFormat{"mxfp8_e4m3_rceil", mx(e4m3, ScaleRule::rceil)},
    NamedBlockFormat{"mxfp8_e5m2_rceil", mx(e5m2, ScaleRule::rceil)},
    NamedBlockFormat{"mxfp6_e3m2_rceil", mx(e3m2, ScaleRule::rceil)},
    NamedBlockFormat{"mxfp6_e2m3_rceil", mx(e2m3, ScaleRule::rceil)},
    NamedBlockFormat{"mxfp4_rceil", mx(e2m1, ScaleRule::rceil)},
    NamedBlockFormat{"nvfp4", nvfp4},
    NamedBlockFormat{"nvfp4_16x16", with_shape(nvfp4, {BlockAxis::tile, 16, 16})},
    NamedBlockFormat{"nvfp4_row", with_tensor_scale(nvfp4, TensorScale::row)},
    NamedBlockFormat{"nvfp4_floor", with_conventions(nvfp4, {.floor = 0x1p-6})},
    NamedBlockFormat{"nvfp4_reciprocal",
                     with_conventions(nvfp4, {.arithmetic = ScaleArithmetic::reciprocal})},
    NamedBlockFormat{"nvfp4_four_over_six",
                     with_conventions(nvfp4, {.four_over_six = FourOverSix::mse, .largest = 256})},
    NamedBlockFormat{"fp8_tensor", scaled_by_fp32(e4m3, {BlockAxis::tensor, 0})},
    NamedBlockFormat{"fp8_block256", scaled_by_fp32(e4m3, {BlockAxis::flattened, 256})},
    NamedBlockFormat{"fp8_block256_e5m2", scaled_by_fp32(e5m2, {BlockAxis::flattened, 256})},
};

struct FormatAlias {
  std::string_view alias, name;
};

/// Names that other libraries use for the same bits (ml_dtypes, PyTorch, CUDA, OCP).
inline constexpr std::array all_format_aliases{
    FormatAlias{"e4m3fn", "e4m3"},
    FormatAlias{"float8_e4m3fn", "e4m3"},
    FormatAlias{"fp8_e4m3", "e4m3"},
    FormatAlias{"float8_e5m2", "e5m2"},
    FormatAlias{"fp8_e5m2", "e5m2"},
    FormatAlias{"float8_e4m3", "e4m3_ieee"},
    FormatAlias{"float8_e3m4", "e3m4"},
    FormatAlias{"float8_e4m3fnuz", "e4m3fnuz"},
    FormatAlias{"float8_e5m2fnuz", "e5m2fnuz"},
    FormatAlias{"float8_e4m3b11fnuz", "e4m3b11fnuz"},
    FormatAlias{"float6_e3m2fn", "e3m2"},
    FormatAlias{"float6_e2m3fn", "e2m3"},
    FormatAlias{"float4_e2m1fn", "e2m1"},
    FormatAlias{"float8_e8m0fnu", "e8m0"},
    FormatAlias{"ue8m0", "e8m0"},
    FormatAlias{"bfloat16", "bf16"},
    FormatAlias{"float16", "fp16"},
    FormatAlias{"half", "fp16"},
    FormatAlias{"float32", "fp32"},
    FormatAlias{"mxfp8", "mxfp8_e4m3"},
    FormatAlias{"mxfp4_e2m1", "mxfp4"},
};

// The specifications' tables, checked where the compiler can.
static_assert(e4m3.max_finite() == 448 && e4m3.top_magnitude() == 0x7e && e4m3.min_positive() == 0x1p-9);
static_assert(e5m2.max_finite() == 57344 && e5m2.top_magnitude() == 0x7b && e5m2.min_positive() == 0x1p-16);
static_assert(e4m3_ieee.max_finite() == 240 && e3m4.max_finite() == 15.5 && e3m4.min_positive() == 0x1p-6);
static_assert(e4m3fnuz.max_finite() == 240 && e5m2fnuz.max_finite() == 57344 &&
              e4m3b11fnuz.max_finite() == 30);
static_assert(e3m2.max_finite() == 28 && e2m3.max_finite() == 7.5 && e2m1.max_finite() == 6 &&
              e3m0.max_finite() == 16);
static_assert(e8m0.max_finite() == 0x1p127 && e8m0.min_positive() == 0x1p-127 && decode(e8m0, 0x7f) == 1);
static_assert(ue4m3.max_finite() == 448 && ue5m3.max_finite() == 114688);
static_assert(int8.max_finite() == 127.0 / 64 && int8.lowest() == -2 && decode(int8, 0xff) == -1.0 / 64);
static_assert(fp16.max_finite() == 65504 && bf16.bits() == 16 && tf32.bits() == 19 && fp32.bits() == 32);

}  // namespace halfulp
