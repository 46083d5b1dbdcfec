#pragma once
#include <bit>
#include <cstdint>

#include "formats/platform.h"

namespace halfulp {

/// How a format represents infinity.
enum class Infinity : std::uint8_t {
  none,
  ieee,      ///< exponent field all ones, fraction zero (IEEE 754)
  top_code,  ///< the largest magnitude code that is not a NaN (P3109 extended)
};

/// How a format represents NaN.
enum class NanEncoding : std::uint8_t {
  none,
  ieee,           ///< exponent field all ones, fraction not zero (IEEE 754)
  all_ones,       ///< exponent and fraction field all ones (OCP E4M3, E8M0)
  negative_zero,  ///< the code that would be -0 (the FNUZ formats, P3109)
};

/// Exactly 2^n.
/// in: -1022 <= n <= 1023.
HALFULP_HD constexpr double power_of_two(int n) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

/// Exactly count * 2^n, where that is a double: in two steps below the normal powers, of which only the last could
/// be inexact.
/// in: count below 2^32; -1074 <= n <= 1023.
HALFULP_HD constexpr double times_power_of_two(std::uint32_t count, int n) noexcept {
  return n < -1022 ? count * power_of_two(n + 200) * power_of_two(-200) : count * power_of_two(n);
}

/// A scalar number format: everything else about it is derived from these fields, and nothing switches on a
/// name.
///
/// A code is [sign] exponent-field fraction-field. With E the exponent field and F the fraction field,
///   E > 0 : value = 2^(E - bias) (1 + F 2^-fraction_bits)
///   E = 0 : value = 2^(1 - bias) F 2^-fraction_bits      (zero and subnormals), or an ordinary binade if
///   !has_zero.
/// The name is kept out on purpose: a structural type of plain scalars can be a template argument of device
/// code.
struct ScalarFormat {
  bool is_signed = true;
  int exponent_bits = 0;
  int fraction_bits = 0;
  int bias = 0;
  Infinity infinity = Infinity::none;
  NanEncoding nan = NanEncoding::none;
  bool has_negative_zero = true;  ///< meaningful for signed formats
  bool has_zero = true;           ///< false: the lowest exponent field is an ordinary binade (E8M0)
  bool has_subnormals = true;     ///< false: exponent field 0 means zero, whatever the fraction
  bool is_fixed_point = false;    ///< two's complement integer times 2^(1 - bias - fraction_bits) (MXINT8: 2^-6)
  /// A table instead of fields: code i is table[i], ascending, finite, distinct, at least one of them positive,
  /// each 0 or of a magnitude in [2^-900, 2^900]. Interned by value_table.h, so that equal tables are one pointer.
  const double* table = nullptr;
  std::uint32_t table_size = 0;

  friend constexpr bool operator==(const ScalarFormat&, const ScalarFormat&) = default;

  HALFULP_HD constexpr bool is_table() const noexcept { return table != nullptr; }

  /// Width of a code in bits, sign included.
  HALFULP_HD constexpr int bits() const noexcept {
    if (is_table()) return table_size < 2 ? 1 : static_cast<int>(std::bit_width(table_size - 1));
    return (is_signed ? 1 : 0) + exponent_bits + fraction_bits;
  }
  HALFULP_HD constexpr std::uint64_t code_count() const noexcept {
    return is_table() ? table_size : std::uint64_t{1} << bits();
  }

  HALFULP_HD constexpr bool has_infinity() const noexcept { return infinity != Infinity::none; }
  HALFULP_HD constexpr bool has_nan() const noexcept { return nan != NanEncoding::none; }

  /// Bits of exponent and fraction field together: the magnitude part of a code.
  HALFULP_HD constexpr int magnitude_bits() const noexcept { return exponent_bits + fraction_bits; }

  /// Exponent of the smallest normal number.
  HALFULP_HD constexpr int min_exponent() const noexcept { return has_zero ? 1 - bias : -bias; }

  /// Magnitude code of the largest finite number.
  HALFULP_HD constexpr std::uint32_t top_magnitude() const noexcept {
    const auto all_ones = static_cast<std::uint32_t>((std::uint64_t{1} << magnitude_bits()) - 1);
    if (infinity == Infinity::ieee || nan == NanEncoding::ieee)
      return all_ones - (std::uint32_t{1} << fraction_bits);
    return all_ones - (nan == NanEncoding::all_ones ? 1u : 0u) - (infinity == Infinity::top_code ? 1u : 0u);
  }

  /// Whether every number of the format is a double. The widest P3109 formats have codes beyond: their numbers are
  /// Dyadic (dyadic.h), and whoever wants them as double or float refuses them by name.
  HALFULP_HD constexpr bool has_double_view() const noexcept {
    return is_table() || (max_exponent() <= 1023 && min_exponent() - fraction_bits >= -1074);
  }

  /// Value of a magnitude code, exact.
  /// in: magnitude <= top_magnitude(), or one more for the lower end of fixed point; has_double_view(), no table.
  HALFULP_HD constexpr double magnitude_value(std::uint32_t magnitude) const noexcept {
    const std::uint32_t below_field = std::uint32_t{1} << fraction_bits;
    if (has_zero && magnitude < below_field)
      return has_subnormals ? times_power_of_two(magnitude, min_exponent() - fraction_bits) : 0.0;
    if (min_exponent() < -1022) {
      const std::uint32_t field = magnitude >> fraction_bits;
      return times_power_of_two(below_field | (magnitude & (below_field - 1)),
                                static_cast<int>(field) - bias - fraction_bits);
    }
    // Exponent and fraction field keep their places relative to each other; the bias is exchanged for a
    // double's.
    return std::bit_cast<double>((static_cast<std::uint64_t>(magnitude) << (52 - fraction_bits)) +
                                 (static_cast<std::uint64_t>(1023 - bias) << 52));
  }

  HALFULP_HD constexpr double max_finite() const noexcept {
    return is_table() ? table[table_size - 1] : magnitude_value(top_magnitude());
  }
  /// Most negative number: 0 for unsigned formats, one step beyond -max_finite() for fixed point, the first of a
  /// table.
  HALFULP_HD constexpr double lowest() const noexcept {
    if (is_table()) return table[0];
    return !is_signed ? 0.0 : -(is_fixed_point ? magnitude_value(top_magnitude() + 1) : max_finite());
  }
  /// Exponent of the binade that holds the largest finite number.
  HALFULP_HD constexpr int max_exponent() const noexcept {
    if (is_table()) return static_cast<int>(std::bit_cast<std::uint64_t>(max_finite()) >> 52) - 1023;
    const std::uint32_t top = top_magnitude(), field = top >> fraction_bits;
    if (field > 0 || !has_zero) return static_cast<int>(field) - bias;
    return min_exponent() - fraction_bits + static_cast<int>(std::bit_width(top)) - 1;  // subnormals alone
  }
  HALFULP_HD constexpr double min_normal() const noexcept { return times_power_of_two(1, min_exponent()); }
  /// Smallest positive number.
  HALFULP_HD constexpr double min_positive() const noexcept {
    if (is_table()) {
      std::uint32_t i = 0;
      while (!(table[i] > 0)) ++i;
      return table[i];
    }
    return has_subnormals ? times_power_of_two(1, min_exponent() - fraction_bits) : min_normal();
  }
};

}  // namespace halfulp
