#pragma once
#include <array>
#include <string>
#include <string_view>

#include "formats/block_format.h"
#include "formats/overflow.h"

namespace halfulp {

/// The switches under which conversions do what a named implementation does, in one row. Plain defects are left out
/// (torchao turns NaN into arbitrary FP4 and FP6 numbers; Transformer Engine's Python reference loses -0; microxcaling
/// takes its exponents from a float log2, which is one too large just below high powers of two).
struct Preset {
  std::string_view name;
  std::string_view reproduces;  ///< what, in which version
  Rounding rounding;            ///< of elements and scalar formats
  Rounding scale_rounding;      ///< of numbers converted to a format without a zero (E8M0)
  SpecialValues special;
  SpecialValues scale_special;  ///< of those numbers
  ScaleRule power_of_two_rule;  ///< of blocks under scales without fraction bits
  ScaleConventions power_of_two;
  ScaleConventions two_level;  ///< of blocks under a tensor scale (NVFP4), whose rule is amax
};

inline constexpr std::array all_presets{
    Preset{.name = "ocp",
           .reproduces = "OCP OFP8 v1.0 (saturating) and MX v1.0, section 6.3",
           .rounding = nearest_even,
           .scale_rounding = nearest_even,
           .special = {.overflow = OverflowPolicy::saturate},
           .scale_special = {.overflow = OverflowPolicy::saturate},
           .power_of_two_rule = ScaleRule::ocp_floor,
           .power_of_two = {},
           .two_level = {}},
    // Exponent 128 is the NaN of E8M0; the NVFP4 path keeps scales above the subnormals of E4M3.
    Preset{.name = "torchao",
           .reproduces = "torchao at 36027d8 (2026-08-21): to_mx FLOOR, nvfp4_quantize",
           .rounding = nearest_even,
           .scale_rounding = {RoundingMode::up, 0},
           .special = {.overflow = OverflowPolicy::saturate},
           .scale_special = {.overflow = OverflowPolicy::ocp},
           .power_of_two_rule = ScaleRule::ocp_floor,
           .power_of_two = {.overflow = ScaleOverflow::nan},
           .two_level = {.arithmetic = ScaleArithmetic::mixed, .floor = 0x1p-6}},
    Preset{.name = "transformer_engine",
           .reproduces = "Transformer Engine at d0067d0 (2026-08-22): MXFP8 and core_nvfp4",
           .rounding = nearest_even,
           .scale_rounding = {RoundingMode::up, 0},
           .special = {.overflow = OverflowPolicy::saturate},
           .scale_special = {.overflow = OverflowPolicy::saturate},
           .power_of_two_rule = ScaleRule::rceil,
           .power_of_two = {.infinity = InfinityInBlock::saturate},
           .two_level = {.arithmetic = ScaleArithmetic::reciprocal}},
    // Its default rounding "nearest" sends ties away from zero, and its int8 never uses -128.
    Preset{.name = "microxcaling",
           .reproduces = "microxcaling v1.1 (7bc4195): defaults, shared exponent method max",
           .rounding = {RoundingMode::nearest_away, 0},
           .scale_rounding = nearest_even,
           .special = {.overflow = OverflowPolicy::saturate, .symmetric_fixed_point = true},
           .scale_special = {.overflow = OverflowPolicy::ocp},
           .power_of_two_rule = ScaleRule::ocp_floor,
           .power_of_two = {.overflow = ScaleOverflow::nan, .zero_block = ZeroBlock::amax_min_normal},
           .two_level = {}},
    // fmax ignores NaN; E8M0 ignores the sign, and its constructors round up.
    Preset{
        .name = "cuda",
        .reproduces = "CUDA 13.0 cuda_fp8.h, cuda_fp6.h, cuda_fp4.h: conversions from float, __NV_SATFINITE",
        .rounding = nearest_even,
        .scale_rounding = {RoundingMode::up, 0},
        .special = {.overflow = OverflowPolicy::saturate,
                    .nan_without_code = NanWithoutCode::max_finite_positive,
                    .nan_sign = NanSign::drop,
                    .nan_payload = NanPayload::all_ones},
        .scale_special = {.overflow = OverflowPolicy::saturate,
                          .negative_in_unsigned = NegativeInUnsigned::magnitude},
        .power_of_two_rule = ScaleRule::rceil,
        .power_of_two = {.nan = NanInBlock::ignore, .infinity = InfinityInBlock::saturate},
        .two_level = {}},
    // BlockProject: the scale is the projected largest finite magnitude, NaN and Inf stay elements.
    Preset{.name = "p3109",
           .reproduces = "P3109 interim report v4.0 (2026-06-28): Project with SatNone, MaxAbsFinite scales",
           .rounding = nearest_even,
           .scale_rounding = nearest_even,
           .special = {.overflow = OverflowPolicy::p3109_none},
           .scale_special = {.overflow = OverflowPolicy::p3109_none},
           .power_of_two_rule = ScaleRule::p3109_maxabs,
           .power_of_two = {.nan = NanInBlock::ignore, .infinity = InfinityInBlock::ignore},
           .two_level = {.nan = NanInBlock::ignore, .infinity = InfinityInBlock::ignore}},
};

/// errors: throws Error naming the presets.
const Preset& parse_preset(std::string_view name);

/// The block format with the preset's rule and conventions; formats with one scale of more than a power of two keep
/// theirs.
constexpr BlockFormat under_preset(BlockFormat f, const Preset& preset) noexcept {
  if (!f.has_scale()) return f;
  if (f.has_tensor_scale()) {
    f.rule = ScaleRule::amax;
    f.conventions = preset.two_level;
  } else if (f.scale.fraction_bits == 0 && !f.scale.is_table()) {
    f.rule = preset.power_of_two_rule;
    f.conventions = preset.power_of_two;
  }
  return f;
}

/// How the preset rounds to a scalar format or to the elements of a block, and its special values there.
constexpr Rounding rounding_under_preset(const BlockFormat& f, const Preset& preset) noexcept {
  return f.element.has_zero ? preset.rounding : preset.scale_rounding;
}
constexpr SpecialValues special_under_preset(const BlockFormat& f, const Preset& preset) noexcept {
  return f.element.has_zero ? preset.special : preset.scale_special;
}

}  // namespace halfulp
