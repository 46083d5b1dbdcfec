#pragma once
#include <limits>

#include "formats/scalar_format.h"

namespace halfulp {

/// Sign and magnitude code of a code; fixed point is brought to sign and magnitude first. Not for tables, whose codes
/// are positions.
struct SignedMagnitude {
  bool negative;
  std::uint32_t magnitude;
};

HALFULP_HD constexpr SignedMagnitude split_code(const ScalarFormat& f, std::uint32_t code) noexcept {
  if (!f.is_signed) return {false, code};
  const std::uint32_t sign_bit = std::uint32_t{1} << f.magnitude_bits();
  const bool negative = (code & sign_bit) != 0;
  // -128 has magnitude 128: 2^8 - code, where the sign bit itself would not fit into seven bits.
  if (f.is_fixed_point) return {negative, negative ? 2 * sign_bit - code : code};
  return {negative, code & (sign_bit - 1)};
}

HALFULP_HD constexpr bool is_nan_code(const ScalarFormat& f, std::uint32_t code) noexcept {
  if (f.is_table()) return code >= f.table_size;
  const std::uint32_t magnitude = split_code(f, code).magnitude;
  switch (f.nan) {
    case NanEncoding::none:
      return false;
    case NanEncoding::ieee:
      return magnitude > f.top_magnitude() + (f.has_infinity() ? 1u : 0u);
    case NanEncoding::all_ones:
      return magnitude == f.top_magnitude() + (f.has_infinity() ? 2u : 1u);
    case NanEncoding::negative_zero:
      return code == std::uint32_t{1} << f.magnitude_bits();
  }
  return false;
}

HALFULP_HD constexpr bool is_infinity_code(const ScalarFormat& f, std::uint32_t code) noexcept {
  return f.has_infinity() && !f.is_table() && split_code(f, code).magnitude == f.top_magnitude() + 1;
}

/// Value of a code: exact; NaN codes give a quiet NaN with the code's sign.
/// in:     code in [0, code_count()); higher bits are ignored, and a position beyond a table is a NaN.
///         f.has_double_view().
/// errors: none (total function).
HALFULP_HD constexpr double decode(const ScalarFormat& f, std::uint32_t code) noexcept {
  if (f.is_table()) return code < f.table_size ? f.table[code] : std::numeric_limits<double>::quiet_NaN();
  code &= static_cast<std::uint32_t>(f.code_count() - 1);
  const auto [negative, magnitude] = split_code(f, code);
  if (is_nan_code(f, code)) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return negative && f.nan != NanEncoding::negative_zero ? -nan : nan;
  }
  const double value =
      is_infinity_code(f, code) ? std::numeric_limits<double>::infinity() : f.magnitude_value(magnitude);
  return negative ? -value : value;
}

}  // namespace halfulp
