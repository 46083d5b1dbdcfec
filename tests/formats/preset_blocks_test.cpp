// Blocks under presets against what the implementations they name are documented or recorded to do.
#include <doctest/doctest.h>

#include "formats/block.h"
#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/preset.h"

using namespace halfulp;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

BlockFormat under(std::string_view preset, const BlockFormat& f) {
  return under_preset(f, parse_preset(preset));
}

std::uint32_t scale_of(const BlockFormat& f, const std::vector<double>& block) {
  double largest = 0;
  for (const double x : block)
    largest = x != x || largest != largest ? not_a_number : std::max(largest, std::fabs(x));
  return choose_block_scale(f, std::span<const double>(block), largest, 1.0f, 0);
}

const BlockFormat any_mx_fp8 = mx(e4m3, ScaleRule::ceil), any_mx_fp4 = mx(e2m1, ScaleRule::ceil);

}  // namespace

TEST_CASE("presets: the scale rule of each, at the amax where it is told from the others") {
  struct {
    std::string_view preset;
    double amax;
    int exponent;  // of e4m3
  } const rows[] = {{"ocp", 1.9375, -8},
                    {"torchao", 1.9375, -8},
                    {"microxcaling", 1.9375, -8},
                    {"transformer_engine", 1.75, -8},
                    {"cuda", 1.75, -8},
                    {"transformer_engine", 1.875, -7},
                    {"cuda", 1.875, -7},
                    {"transformer_engine", 1.0, -8},
                    {"p3109", 1.0, 0},
                    {"p3109", 1.4375, 0},
                    {"p3109", 1.5, 1}};  // halfway between 7f and 80: the even code
  for (const auto& row : rows) {
    INFO(std::string(row.preset), " ", row.amax);
    CHECK(static_cast<int>(scale_of(under(row.preset, any_mx_fp8), {row.amax, -0.5})) - 127 == row.exponent);
  }
}

TEST_CASE("presets: blocks of zeros") {
  for (const std::string_view name : {"ocp", "torchao", "transformer_engine", "cuda"})
    CHECK(scale_of(under(name, any_mx_fp4), {0, -0.0}) == 0x00);
  // amax is taken for 2^-126: the exponent is -126 - em, clamped to -127.
  CHECK(scale_of(under("microxcaling", any_mx_fp4), {0, 0}) == 0x00);
  CHECK(scale_of(under("microxcaling", any_mx_fp8), {0, 0}) == 0x00);
  CHECK(scale_of(under("microxcaling", mx(int8, ScaleRule::ceil)), {0, 0}) == 0x01);
}

TEST_CASE("presets: NaN and infinity in a block") {
  struct {
    std::string_view preset;
    std::uint32_t with_nan, with_infinity;
  } const rows[] = {{"torchao", 0xff, 0xff},
                    {"microxcaling", 0xff, 0xff},
                    {"cuda", 0x78, 0xfe},    // fmax passes over NaN; cvt.rp.satfinite of Inf
                    {"p3109", 0x80, 0x80}};  // MaxAbsFinite
  for (const auto& row : rows) {
    INFO(std::string(row.preset));
    const BlockFormat f = under(row.preset, any_mx_fp8);
    CHECK(scale_of(f, {2, not_a_number, -1}) == row.with_nan);
    CHECK(scale_of(f, {not_a_number, 2}) == row.with_nan);
    CHECK(scale_of(f, {2, -infinity}) == row.with_infinity);
  }
  CHECK(scale_of(under("transformer_engine", any_mx_fp8), {2, infinity}) == 0xfe);
  // Under p3109 they stay elements: NaN, and the infinity or what SatNone makes of it.
  const BlockFormat f = under("p3109", mx(e5m2, ScaleRule::ceil));
  const Preset& p = parse_preset("p3109");
  const BlockDivisor divisor = block_divisor(f, 0x80, 1.0f);
  CHECK(is_nan_code(e5m2, convert_in_block(not_a_number, f, divisor, p.rounding, p.special, 0)));
  CHECK(convert_in_block(-infinity, f, divisor, p.rounding, p.special, 0) == 0xfc);
  CHECK(convert_in_block(-2, f, divisor, p.rounding, p.special, 0) == 0xbc);
  CHECK(decode_in_block(f, 0xbc, 0x80, 1.0f) == -2);
}

TEST_CASE("presets: scales beyond E8M0 are NaN in torchao and microxcaling, saturated in the others") {
  // e4m3 by the floor rule needs 2^136 and more.
  for (const std::string_view name : {"torchao", "microxcaling"}) {
    CHECK(scale_of(under(name, any_mx_fp8), {0x1.fp135}) == 0xfe);
    CHECK(scale_of(under(name, any_mx_fp8), {0x1p136}) == 0xff);
  }
  for (const std::string_view name : {"ocp", "transformer_engine", "cuda"})
    CHECK(scale_of(under(name, any_mx_fp8), {0x1p140}) == 0xfe);
}

TEST_CASE("presets: fp32 subnormal amax has scale code 00") {
  for (const std::string_view name : {"ocp", "torchao", "microxcaling", "transformer_engine"})
    for (const double amax : {0x1p-149, 0x1p-140, 0x1.fffffcp-127})
      for (const ScalarFormat& element : {e4m3, e5m2, e3m2, e2m3, e2m1})
        CHECK(scale_of(under(name, mx(element, ScaleRule::ceil)), {amax}) == 0x00);
}

TEST_CASE("presets: NVFP4 of torchao keeps its scales above 2^-6, Transformer Engine lets them vanish") {
  const BlockFormat torchao = under("torchao", nvfp4), engine = under("transformer_engine", nvfp4);
  CHECK(torchao.conventions.arithmetic == ScaleArithmetic::mixed);
  CHECK(engine.conventions.arithmetic == ScaleArithmetic::reciprocal);
  CHECK(scale_of(torchao, {0, 0}) == 0x08);
  CHECK(scale_of(torchao, {6 * 0x1p-9}) == 0x08);
  CHECK(scale_of(engine, {0, 0}) == 0x00);
  CHECK(scale_of(engine, {6 * 0x1p-9}) == 0x01);
  CHECK(scale_of(engine, {6 * 0x1p-11}) == 0x00);
  CHECK(scale_of(under("ocp", nvfp4), {6 * 0x1p-9}) == 0x01);
}

TEST_CASE("presets: they change MX and two-level formats, and nothing of the others") {
  for (const Preset& preset : all_presets)
    for (const NamedBlockFormat& named : all_block_formats) {
      const BlockFormat f = under_preset(named.format, preset);
      INFO(std::string(preset.name), " ", std::string(named.name));
      CHECK(f.element == named.format.element);
      CHECK(f.scale == named.format.scale);
      CHECK(f.shape == named.format.shape);
      CHECK(f.tensor_scale == named.format.tensor_scale);
      if (named.format.scale == fp32) CHECK(f == named.format);
      if (named.format.scale == e8m0) CHECK(f.rule == preset.power_of_two_rule);
      if (named.format.has_tensor_scale()) CHECK(f.rule == ScaleRule::amax);
    }
  for (const Preset& preset : all_presets) CHECK(under_preset(unscaled(e4m3), preset) == unscaled(e4m3));
  CHECK_THROWS_AS(parse_preset("torch"), Error);
}
