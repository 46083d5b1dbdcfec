#pragma once
#include "formats/scalar_format.h"

namespace halfulp {

/// binary{K}p{P}{s|u}{e|f} of P3109 v4.0: K bits, P of them precision, 1.0 the middle code, one NaN (the place of -0 if
/// signed, the last code if not), no -0; extended: the code below the NaN's side of the top is +Inf.
/// in: 3 <= K <= 16, 1 <= P, P < K if signed, P <= K if not.
HALFULP_HD constexpr ScalarFormat p3109(int k, int p, bool is_signed, bool is_extended) noexcept {
  const int exponent_bits = is_signed ? k - p : k - p + 1;
  return {.is_signed = is_signed,
          .exponent_bits = exponent_bits,
          .fraction_bits = p - 1,
          .bias = 1 << (exponent_bits - 1),
          .infinity = is_extended ? Infinity::top_code : Infinity::none,
          .nan = is_signed ? NanEncoding::negative_zero : NanEncoding::all_ones,
          .has_negative_zero = false};
}

}  // namespace halfulp
