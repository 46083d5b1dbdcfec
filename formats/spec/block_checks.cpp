#include <algorithm>
#include <array>
#include <cmath>

#include "formats/catalog.h"
#include "formats/encode.h"
#include "formats/spec/descriptor_checks.h"

namespace halfulp {
namespace {

/// Rules that round amax over something to the scale format, instead of choosing a power of two.
bool rounds_to_scale(ScaleRule rule) { return rule == ScaleRule::amax || rule == ScaleRule::p3109_maxabs; }

/// Whether all numbers but 0 have magnitudes in [2^-500, 2^500]: products and quotients of an element, a
/// scale and an fp32 tensor scale then stay far from where the rounding of quotients to odd gives up (2^-700,
/// 2^1000).
bool stays_in_the_middle(const ScalarFormat& f) {
  const auto is_within = [](double x) {
    return x == 0 || (std::fabs(x) >= 0x1p-500 && std::fabs(x) <= 0x1p500);
  };
  if (f.is_table()) return std::all_of(f.table, f.table + f.table_size, is_within);
  return f.has_double_view() && is_within(f.min_positive()) && is_within(f.max_finite()) &&
         is_within(f.lowest());
}

bool holds(const ScalarFormat& f, double x) {
  return decode(f, convert(x, f, nearest_even, special_values(OverflowPolicy::saturate), 0)) == x;
}

std::optional<Refusal> refusal_of_formats(const BlockFormat& f) {
  if (f.shape.axis == BlockAxis::flattened && f.shape.columns == 0)
    return Refusal{"a block of length 0", {"shape"}, "flat1 or more"};
  const std::string middle = "a format of numbers between 2^-500 and 2^500";
  if (!stays_in_the_middle(f.element))
    return Refusal{"elements too small or large for a scale", {"element"}, middle};
  if (!stays_in_the_middle(f.scale)) return Refusal{"scales too small or large", {"scale"}, middle};
  const std::string scales = "an unsigned format of exponent and fraction bits, bf16, fp16, tf32 or fp32";
  if (f.scale.is_table()) return Refusal{"a table of scales", {"scale"}, scales};
  // The sign bit of the wide ones stays 0: they are what tensors have anyway.
  const std::array wide{bf16, fp16, tf32, fp32};
  if (f.scale.is_signed && std::find(wide.begin(), wide.end(), f.scale) == wide.end())
    return Refusal{"scales with a sign", {"scale"}, scales};

  if (f.scale.has_nan()) return std::nullopt;
  if (f.conventions.nan == NanInBlock::poison)
    return Refusal{"NaN without a code and no policy: the scale format has no NaN to poison a block with",
                   {"scale", "nan"},
                   "a scale format with NaN, or nan=ignore"};
  if (f.conventions.infinity == InfinityInBlock::poison)
    return Refusal{
        "an infinity without a code and no policy: the scale format has no NaN to poison a block with",
        {"scale", "inf"},
        "a scale format with NaN, or inf=saturate or inf=ignore"};
  if (f.conventions.overflow == ScaleOverflow::nan)
    return Refusal{"scale_overflow=nan, and the scale format has no NaN",
                   {"scale", "scale_overflow"},
                   "a scale format with NaN, or scale_overflow=saturate"};
  return std::nullopt;
}

std::optional<Refusal> refusal_of_arithmetic(const BlockFormat& f) {
  const ScaleConventions& c = f.conventions;
  if (c.four_over_six != FourOverSix::none && (f.element != e2m1 || f.rule != ScaleRule::amax))
    return Refusal{"four_over_six chooses between the 4 and the 6 of e2m1, by the rule amax",
                   {"element", "rule", "four_over_six"},
                   "four_over_six=none, or e2m1 with rule=amax"};
  const bool compares = c.four_over_six != FourOverSix::none && c.four_over_six != FourOverSix::always_four;
  if (compares && f.shape.axis == BlockAxis::tensor)
    return Refusal{"four_over_six compares the errors of blocks, and the tensor is one",
                   {"shape", "four_over_six"},
                   "four_over_six=none or always_four, or blocks"};
  if (c.arithmetic != ScaleArithmetic::exact && f.rule != ScaleRule::amax)
    return Refusal{"arithmetic says how the rule amax divides",
                   {"rule", "arithmetic"},
                   "arithmetic=exact, or rule=amax"};
  const bool needs_tensor =
      c.arithmetic == ScaleArithmetic::reciprocal || c.arithmetic == ScaleArithmetic::mixed;
  if (needs_tensor && !f.has_tensor_scale())
    return Refusal{"this arithmetic divides by a tensor scale",
                   {"tensor_scale", "arithmetic"},
                   "tensor_scale=fp32 or row, or arithmetic=exact or quotients"};
  if (f.has_tensor_scale()) {
    const double range = f.element.max_finite() * (c.largest > 0 ? c.largest : f.scale.max_finite());
    if (range > 0x1p60)
      return Refusal{
          "the tensor scale would be amax over more than 2^60, and vanish",
          {"scale", "tensor_scale"},
          "tensor_scale=none, or largest_scale so small that its product with the largest element is "
          "at most 2^60"};
    if (!f.element.is_table() && f.element.fraction_bits + f.scale.fraction_bits + 26 > 53)
      return Refusal{"element times scale times tensor scale needs more bits than a double has",
                     {"element", "scale", "tensor_scale"},
                     "tensor_scale=none, or fewer fraction bits"};
  }
  const bool in_rows = f.shape.axis == BlockAxis::tile && f.shape.rows == 1;
  if (f.tensor_scale == TensorScale::row && !in_rows)
    return Refusal{"a scale for each row, and blocks that span rows",
                   {"shape", "tensor_scale"},
                   "tensor_scale=fp32, or blocks of one row"};
  return std::nullopt;
}

std::optional<Refusal> refusal_of_limits(const BlockFormat& f) {
  const ScaleConventions& c = f.conventions;
  const double largest = f.scale.max_finite();
  if (c.rounds_up && !rounds_to_scale(f.rule))
    return Refusal{"scale_rounding is for scales that are rounded",
                   {"rule", "scale_rounding"},
                   "scale_rounding=nearest_even, or rule=amax or p3109_maxabs"};
  if (!(c.floor >= 0 && c.floor <= largest))
    return Refusal{"scale_floor is no scale", {"scale", "scale_floor"}, "0 to the largest scale"};
  if (!(c.largest >= 0 && c.largest <= largest))
    return Refusal{"largest_scale is no scale", {"scale", "largest_scale"}, "0 to the largest scale"};
  if (c.largest != 0 && !f.has_tensor_scale())
    return Refusal{"largest_scale is what a tensor scale aims at",
                   {"tensor_scale", "largest_scale"},
                   "largest_scale=0, or tensor_scale=fp32 or row"};
  const int highest = ScaleConventions{}.highest_exponent;
  if (c.highest_exponent != highest && rounds_to_scale(f.rule))
    return Refusal{"highest_exponent is for scales that are powers of two",
                   {"rule", "highest_exponent"},
                   "another rule than amax and p3109_maxabs"};
  if (c.highest_exponent > highest || c.highest_exponent < f.scale.min_exponent())
    return Refusal{"highest_exponent is out of range",
                   {"scale", "highest_exponent"},
                   std::to_string(f.scale.min_exponent()) + " to " + std::to_string(highest)};
  const bool needs_one = c.zero_block == ZeroBlock::one;
  if (needs_one || c.zero_block == ZeroBlock::two_to_minus_23)
    if (!holds(f.scale, needs_one ? 1.0 : 0x1p-23))
      return Refusal{"the scale format does not hold the scale of a block of zeros",
                     {"scale", "zero_block"},
                     "zero_block=smallest or amax_one"};
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> refusal_of(const BlockFormat& f) {
  for (const auto part : {refusal_of_formats, refusal_of_arithmetic, refusal_of_limits})
    if (auto refusal = part(f)) return refusal;
  return std::nullopt;
}

}  // namespace halfulp
