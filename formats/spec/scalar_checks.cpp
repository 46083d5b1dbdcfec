#include "formats/spec/descriptor_checks.h"
#include "formats/spec/words.h"

namespace halfulp {
namespace {

std::string words(const ScalarFormat& f) {
  return "inf=" + std::string(word_of(infinity_words, f.infinity)) +
         " with nan=" + std::string(word_of(nan_words, f.nan));
}

std::optional<Refusal> refusal_of_widths(const ScalarFormat& f) {
  const std::string widths = "1 to 16 exponent bits, 0 to 23 fraction bits, 2 to 32 bits in all";
  // Numbers that are all subnormal have no binade for a lane's step to come from.
  if (f.exponent_bits < 1) return Refusal{"no exponent bits", {}, widths};
  if (f.exponent_bits > most_exponent_bits) return Refusal{"too many exponent bits", {}, widths};
  // Decoding goes to fp32.
  if (f.fraction_bits < 0 || f.fraction_bits > most_fraction_bits)
    return Refusal{"too many fraction bits", {}, widths};
  if (f.bits() < 2 || f.bits() > 32)
    return Refusal{"a code of " + std::to_string(f.bits()) + " bits", {}, widths};
  const int lowest = lowest_bias(f.exponent_bits), highest = highest_bias(f.fraction_bits);
  if (f.bias < lowest || f.bias > highest)
    return Refusal{
        "bias is out of range", {"bias"}, std::to_string(lowest) + " to " + std::to_string(highest)};
  return std::nullopt;
}

std::optional<Refusal> refusal_of_specials(const ScalarFormat& f) {
  const bool ieee_infinity = f.infinity == Infinity::ieee, ieee_nan = f.nan == NanEncoding::ieee;
  if (ieee_nan && f.fraction_bits == 0)
    return Refusal{
        "NaN without a code: nan=ieee needs fraction bits", {"nan"}, "nan=none, all_ones or negative_zero"};
  if (ieee_nan && !ieee_infinity)
    return Refusal{words(f) + " leaves the place of infinity without a meaning",
                   {"inf", "nan"},
                   "inf=ieee with nan=ieee"};
  // inf=ieee: 2^M - 1 codes lie beyond infinity, and nan=ieee takes them all.
  const int beyond =
      ieee_infinity && !ieee_nan ? (1 << f.fraction_bits) - 1 - (f.nan == NanEncoding::all_ones ? 1 : 0) : 0;
  if (beyond > 0)
    return Refusal{words(f) + " leaves codes beyond infinity without a meaning",
                   {"inf", "nan"},
                   "inf=ieee with nan=ieee, or inf=top_code"};
  if (beyond < 0)
    return Refusal{words(f) + " gives one code to infinity and NaN", {"inf", "nan"}, "inf=top_code"};

  if (f.nan == NanEncoding::negative_zero) {
    if (!f.is_signed)
      return Refusal{"NaN without a code: an unsigned format has no place of -0 for nan=negative_zero",
                     {"signed", "nan"},
                     "nan=none, ieee or all_ones"};
    if (f.has_negative_zero)
      return Refusal{"one code for -0 and NaN", {"nan", "negative_zero"}, "negative_zero=no"};
    // Sign and fraction of a flushed subnormal decode to -0, which has no code of its own to go back to.
    if (!f.has_subnormals && f.fraction_bits > 0)
      return Refusal{"flushed codes would be -0, whose code is NaN", {"nan", "subnormals"}, "subnormals=yes"};
  }
  return std::nullopt;
}

std::optional<Refusal> refusal_of_zeros(const ScalarFormat& f) {
  if (!f.is_signed && f.has_negative_zero)
    return Refusal{"an unsigned format has no -0", {"signed", "negative_zero"}, "negative_zero=no"};
  if (f.has_zero) return std::nullopt;
  // Code 0 is then a number, and everything nearer to zero becomes it: of either sign, and between it and
  // zero the steps of a fraction would be numbers that the format has not.
  if (f.is_signed)
    return Refusal{
        "zero=no in a signed format", {"signed", "zero"}, "an unsigned format without fraction bits"};
  if (f.fraction_bits > 0)
    return Refusal{"zero=no with fraction bits", {"zero"}, "an unsigned format without fraction bits"};
  if (f.has_subnormals) return Refusal{"subnormals without a zero", {"zero", "subnormals"}, "subnormals=no"};
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> refusal_of(const ScalarFormat& f) {
  if (f.is_table()) return std::nullopt;
  const bool numbers_alone = f.is_signed && f.exponent_bits == 1 && !f.has_infinity() && !f.has_nan() &&
                             !f.has_negative_zero && f.has_zero && f.has_subnormals;
  if (f.is_fixed_point && !numbers_alone)
    return Refusal{"fixed point with special codes", {}, "signed integers times a power of two"};
  for (const auto part : {refusal_of_widths, refusal_of_specials, refusal_of_zeros})
    if (auto refusal = part(f)) return refusal;
  const std::int64_t codes = std::int64_t{1} << f.magnitude_bits(),
                     binade = std::int64_t{1} << f.fraction_bits;
  const std::int64_t special = f.infinity == Infinity::ieee ? binade
                                                            : (f.nan == NanEncoding::all_ones ? 1 : 0) +
                                                                  (f.infinity == Infinity::top_code ? 1 : 0);
  // At least one normal number: code 2^M, or code 0 without a zero.
  if (codes - special <= (f.has_zero ? binade : 0))
    return Refusal{"no codes left for normal numbers: " + words(f),
                   {"inf", "nan"},
                   "more exponent bits, or less for infinity and NaN"};
  return std::nullopt;
}

}  // namespace halfulp
