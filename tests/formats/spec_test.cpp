// What specs mean.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "formats/catalog.h"
#include "formats/encode.h"
#include "formats/error.h"
#include "formats/spec.h"
#include "formats/value_table.h"

using namespace halfulp;

namespace {

struct ScalarMeaning {
  const char* spec;
  ScalarFormat format;
};
struct BlockMeaning {
  const char* spec;
  BlockFormat format;
};

ScalarFormat with(ScalarFormat f, auto change) {
  change(f);
  return f;
}
BlockFormat block_with(BlockFormat f, auto change) {
  change(f);
  return f;
}

}  // namespace

TEST_CASE("spec: what the keys of fields say") {
  const ScalarFormat e5m1{.exponent_bits = 5, .fraction_bits = 1, .bias = 15};
  const ScalarFormat ue2m2{
      .is_signed = false, .exponent_bits = 2, .fraction_bits = 2, .bias = 1, .has_negative_zero = false};
  const std::vector<ScalarMeaning> meanings{
      {"e5m1", e5m1},
      {"E5M1{}", e5m1},
      {"ue2m2", ue2m2},
      {"e1m0", {.exponent_bits = 1, .fraction_bits = 0, .bias = 0}},
      {"e16m15", {.exponent_bits = 16, .fraction_bits = 15, .bias = 32767}},
      {"e8m23{bias=127,inf=ieee,nan=ieee}", fp32},
      {"e5m1{bias=-3}", with(e5m1, [](auto& f) { f.bias = -3; })},
      {"e5m1{inf=top_code}", with(e5m1, [](auto& f) { f.infinity = Infinity::top_code; })},
      {"e5m1{inf=ieee,nan=ieee}", with_ieee_specials(e5m1)},
      {"e5m1{nan=all_ones}", with(e5m1, [](auto& f) { f.nan = NanEncoding::all_ones; })},
      {"e5m1{nan=negative_zero}", fnuz(e5m1)},
      {"e5m1{negative_zero=no,nan=negative_zero}", fnuz(e5m1)},
      {"e5m1{subnormals=no}", with(e5m1, [](auto& f) { f.has_subnormals = false; })},
      {"e5m1{negative_zero=no}", with(e5m1, [](auto& f) { f.has_negative_zero = false; })},
      {"e5m1{signed=no}", with(e5m1, [](auto& f) { f.is_signed = f.has_negative_zero = false; })},
      {"ue6m0{zero=no}",
       {.is_signed = false,
        .exponent_bits = 6,
        .fraction_bits = 0,
        .bias = 31,
        .has_negative_zero = false,
        .has_zero = false,
        .has_subnormals = false}},
      // The catalog's format is the start, also by an alias.
      {"e5m2{bias=16}", with(e5m2, [](auto& f) { f.bias = 16; })},
      {"Float8_E5M2 { bias = 16 }", with(e5m2, [](auto& f) { f.bias = 16; })},
      {"e4m3fnuz{bias=7}", with(e4m3fnuz, [](auto& f) { f.bias = 7; })},
      {"e4m3{nan=negative_zero,bias=8}", e4m3fnuz},
      {"bf16{inf=none,nan=all_ones}",
       with(bf16, [](auto& f) { f.infinity = Infinity::none, f.nan = NanEncoding::all_ones; })},
      {"e3m4{bias=3,inf=none,nan=all_ones,subnormals=yes}",
       with(e3m4, [](auto& f) { f.infinity = Infinity::none, f.nan = NanEncoding::all_ones; })},
      {"ue8m0{bias=100}", with(e8m0, [](auto& f) { f.bias = 100; })},
      {"e8m0{signed=yes,zero=yes,negative_zero=yes,subnormals=yes,nan=none}",
       {.exponent_bits = 8, .fraction_bits = 0, .bias = 127}},
      {"fixed{bits=8,fraction=6}", int8},
      {"fixed{bits=8}", int8},
      {"fixed{fraction=0,bits=4}",
       {.exponent_bits = 1,
        .fraction_bits = 2,
        .bias = -1,
        .has_negative_zero = false,
        .is_fixed_point = true}},
      {"lns{bits=6,gamma=4}", lns_format(6, 4)},
      {"lns{6,gamma=4}", lns_format(6, 4)},
      {"lns{ 6 , 4 }", lns_format(6, 4)},
      {"lns{gamma=4,bits=6}", lns_format(6, 4)},
  };
  for (const ScalarMeaning& meaning : meanings) {
    INFO(meaning.spec);
    CHECK(parse_scalar_format(meaning.spec) == meaning.format);
    CHECK(parse_format(meaning.spec) == unscaled(meaning.format));
    CHECK(parse_scalar_format(to_spec(meaning.format)) == meaning.format);
  }
}

TEST_CASE("spec: fixed point of B bits holds the integers times 2^-fraction, and rounds to them") {
  for (int bits = 2; bits <= 11; ++bits)
    for (const int fraction : {-3, 0, 1, bits - 2, bits, 40}) {
      const ScalarFormat f = parse_scalar_format("fixed{bits=" + std::to_string(bits) +
                                                 ",fraction=" + std::to_string(fraction) + "}");
      INFO(bits, " bits, fraction ", fraction);
      CHECK(parse_scalar_format(to_spec(f)) == f);
      CHECK(f.bits() == bits);
      const int half = 1 << (bits - 1);
      const SpecialValues saturate = special_values(OverflowPolicy::saturate);
      for (int i = -half; i < half; ++i) {
        const auto code = static_cast<std::uint32_t>(i) & ((1u << bits) - 1);
        CHECK(decode(f, code) == std::ldexp(i, -fraction));
        for (const double part : {-0.5, -0.25, 0.0, 0.375, 0.5}) {
          const double nearest = std::fmin(std::fmax(std::nearbyint(i + part), -half), half - 1);
          CHECK(decode(f, convert(std::ldexp(i + part, -fraction), f, halfulp::nearest_even, saturate, 0)) ==
                std::ldexp(nearest, -fraction));
        }
      }
    }
}

TEST_CASE("spec: a table is the file's numbers") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "halfulp spec, {numbers}.txt";
  std::ofstream(path) << "-1, 0\n0.5 # comment\n4\n";
  const std::string spec = "table{" + path.string() + "}";
  const ScalarFormat f = parse_scalar_format("TABLE { " + path.string() + " }");
  CHECK(f == table_format({-1, 0, 0.5, 4}, spec));
  CHECK(to_spec(f) == spec);
  CHECK(parse_scalar_format(spec) == f);
  const BlockFormat block = parse_format("block{" + spec + ",16,scale=bf16}");
  CHECK(block.element == f);
  CHECK(to_spec(block) == "block{" + spec + ",16,scale=bf16}");
  std::filesystem::remove(path);
}

TEST_CASE("spec: what the keys of blocks say") {
  const BlockFormat plain{e2m1, {BlockAxis::tile, 32}, e8m0, ScaleRule::ocp_floor, TensorScale::none};
  const auto conventions = [](const BlockFormat& f, const ScaleConventions& c) {
    return with_conventions(f, c);
  };
  const BlockFormat by_amax = block_with(plain, [](auto& f) { f.scale = ue4m3, f.rule = ScaleRule::amax; });
  const std::vector<BlockMeaning> meanings{
      {"block{e2m1,32}", plain},
      {" Block { E2M1 , 1x32 } ", plain},
      {"block{float4_e2m1fn,shape=32,scale=ue8m0,rule=ocp_floor,tensor_scale=none}", plain},
      {"mxfp4", plain},
      {"block{e2m1,32x1}", with_shape(plain, {BlockAxis::tile, 1, 32})},
      {"block{e2m1,16x24}", with_shape(plain, {BlockAxis::tile, 24, 16})},
      {"block{e2m1,row}", with_shape(plain, {BlockAxis::tile, 0, 1})},
      {"block{e2m1,column}", with_shape(plain, {BlockAxis::tile, 1, 0})},
      {"block{e2m1,flat256}", with_shape(plain, {BlockAxis::flattened, 256})},
      {"block{e2m1,tensor}", with_shape(plain, {BlockAxis::tensor, 0})},
      {"block{e2m1,1}", with_shape(plain, {BlockAxis::tile, 1})},
      {"mxfp4{shape=16}", with_shape(plain, {BlockAxis::tile, 16})},
      {"mxfp4{16x16,rule=even}", block_with(plain,
                                            [](auto& f) {
                                              f.shape = {BlockAxis::tile, 16, 16}, f.rule = ScaleRule::even;
                                            })},
      {"block{e5m1{bias=3},32,rule=rceil}",
       block_with(plain,
                  [](auto& f) {
                    f.element = {.exponent_bits = 5, .fraction_bits = 1, .bias = 3},
                    f.rule = ScaleRule::rceil;
                  })},
      {"block{e2m1,32,scale=ue4m3}", by_amax},
      {"block{e2m1,16,scale=ue4m3,rule=rceil,tensor_scale=fp32}",
       block_with(nvfp4, [](auto& f) { f.rule = ScaleRule::rceil; })},
      {"block{e2m1,16,scale=ue4m3,tensor_scale=row}", with_tensor_scale(nvfp4, TensorScale::row)},
      // A block of zeros: 1 where amax makes scales in a wide format, else the smallest.
      {"block{e4m3,256,scale=fp32}", scaled_by_fp32(e4m3, {BlockAxis::tile, 256})},
      {"block{e4m3,flat256,scale=fp32}", scaled_by_fp32(e4m3, {BlockAxis::flattened, 256})},
      {"block{e4m3,tensor,scale=bf16}",
       block_with(scaled_by_fp32(e4m3, {BlockAxis::tensor, 0}), [](auto& f) { f.scale = bf16; })},
      {"block{e4m3,256,rule=rceil,scale=fp32}",
       {e4m3, {BlockAxis::tile, 256}, fp32, ScaleRule::rceil, TensorScale::none}},
      {"block{e4m3,256,scale=fp32,zero_block=smallest}",
       {e4m3, {BlockAxis::tile, 256}, fp32, ScaleRule::amax, TensorScale::none}},
      {"fp8_tensor{rule=rceil}",
       block_with(scaled_by_fp32(e4m3, {BlockAxis::tensor, 0}), [](auto& f) { f.rule = ScaleRule::rceil; })},
      {"mxfp4{scale_overflow=nan}", conventions(plain, {.overflow = ScaleOverflow::nan})},
      {"mxfp4{scale_underflow=zero_elements}",
       conventions(plain, {.underflow = ScaleUnderflow::zero_elements})},
      {"mxfp4{zero_block=one}", conventions(plain, {.zero_block = ZeroBlock::one})},
      {"mxfp4{zero_block=amax_one}", conventions(plain, {.zero_block = ZeroBlock::amax_one})},
      {"mxfp4{zero_block=2^-23}", conventions(plain, {.zero_block = ZeroBlock::two_to_minus_23})},
      {"mxfp4{nan=ignore,inf=ignore}",
       conventions(plain, {.nan = NanInBlock::ignore, .infinity = InfinityInBlock::ignore})},
      {"mxfp4{inf=saturate}", conventions(plain, {.infinity = InfinityInBlock::saturate})},
      {"mxfp4{subnormal_block=flush}", conventions(plain, {.subnormal_block = SubnormalBlock::flush})},
      {"mxfp4{highest_exponent=125}", conventions(plain, {.highest_exponent = 125})},
      {"nvfp4{arithmetic=reciprocal}", conventions(nvfp4, {.arithmetic = ScaleArithmetic::reciprocal})},
      {"nvfp4{arithmetic=mixed}", conventions(nvfp4, {.arithmetic = ScaleArithmetic::mixed})},
      {"block{e2m1,32,scale=ue4m3,arithmetic=quotients}",
       conventions(by_amax, {.arithmetic = ScaleArithmetic::quotients})},
      {"nvfp4{four_over_six=always_four}", conventions(nvfp4, {.four_over_six = FourOverSix::always_four})},
      {"nvfp4{four_over_six=abs_max}", conventions(nvfp4, {.four_over_six = FourOverSix::abs_max})},
      {"nvfp4{four_over_six=mae}", conventions(nvfp4, {.four_over_six = FourOverSix::mae})},
      {"nvfp4{four_over_six=mse,largest_scale=256}",
       conventions(nvfp4, {.four_over_six = FourOverSix::mse, .largest = 256})},
      {"nvfp4{scale_rounding=up}", conventions(nvfp4, {.rounds_up = true})},
      {"nvfp4{scale_floor=2^-6}", conventions(nvfp4, {.floor = 0x1p-6})},
      {"nvfp4{scale_floor=0.015625}", conventions(nvfp4, {.floor = 0x1p-6})},
      {"nvfp4{scale_floor=1e-3,rule=p3109_maxabs}",
       block_with(conventions(nvfp4, {.floor = 1e-3}), [](auto& f) { f.rule = ScaleRule::p3109_maxabs; })},
      {"block{e2m1,16,scale=ue2m3,nan=ignore,inf=saturate}",
       conventions(block_with(by_amax,
                              [](auto& f) {
                                f.shape.columns = 16;
                                f.scale = {.is_signed = false,
                                           .exponent_bits = 2,
                                           .fraction_bits = 3,
                                           .bias = 1,
                                           .has_negative_zero = false};
                              }),
                   {.nan = NanInBlock::ignore, .infinity = InfinityInBlock::saturate})},
  };
  for (const BlockMeaning& meaning : meanings) {
    INFO(meaning.spec);
    CHECK(parse_format(meaning.spec) == meaning.format);
    CHECK(parse_format(to_spec(meaning.format)) == meaning.format);
  }
  for (const NamedScaleRule& named : all_scale_rules)
    CHECK(parse_format("block{e4m3,32,rule=" + std::string(named.name) + "}").rule == named.rule);
}

TEST_CASE("require_double_view: formats beyond double are refused by name, the others pass") {
  for (const char* spec : {"e4m3", "fp32", "nvfp4", "binary8p1ue", "lns{8,8}", "e11m4{inf=ieee,nan=ieee}"})
    CHECK_NOTHROW(require_double_view(parse_format(spec), "gap"));
  for (const char* spec : {"binary16p1ue", "e5m2{bias=1100}", "e5m2{bias=-1000}", "e12m3"}) {
    std::string message;
    try {
      require_double_view(parse_format(spec), "gap");
    } catch (const Error& error) {
      message = error.what();
    }
    CHECK(message.find("gap: numbers beyond double's range: given '" + std::string(spec) + "'") == 0);
  }
}
