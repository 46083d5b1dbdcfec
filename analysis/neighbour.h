#pragma once
#include <optional>

#include "formats/block.h"
#include "formats/catalog.h"

namespace halfulp {

/// The next number of f above (up) or below a number of f; nullopt at the end of the format. +0 and -0 are
/// one number. in: value a finite number of f.
/// errors: none.
inline std::optional<double> neighbour(const ScalarFormat& f, double value, bool up) noexcept {
  if (f.is_table()) {
    const std::uint32_t code = table_code(f, value);
    if (up ? code + 1 >= f.table_size : code == 0) return std::nullopt;
    return f.table[up ? code + 1 : code - 1];
  }
  const bool negative = value < 0;
  const double magnitude = negative ? -value : value;
  const std::uint32_t code = magnitude == 0 ? 0 : magnitude_code(f, magnitude);
  const bool outward = negative != up;
  if (magnitude == 0 && !up) {
    if (!f.is_signed) return std::nullopt;
    return -f.min_positive();
  }
  if (magnitude == 0) return f.min_positive();
  if (!outward) {
    if (magnitude == f.min_positive()) return f.has_zero ? std::optional(0.0) : std::nullopt;
    const double inner = f.magnitude_value(code - 1);
    return negative ? -inner : inner;
  }
  const double largest = negative ? -f.lowest() : f.max_finite();
  if (magnitude >= largest) return std::nullopt;
  const double outer = f.magnitude_value(code + 1);
  return negative ? -outer : outer;
}

/// What is asked again and again of a format's numbers, worked out once for those who look at many of them.
struct FormatNumbers {
  double lowest, largest, min_positive;
  /// Whether its numbers are binades of evenly spaced ones down to subnormals with the spacing of the lowest, and few
  /// enough in a binade that fl32 of one under any scale tells which it was (element_of()).
  bool has_even_binades;
  int fraction_bits, min_exponent;

  explicit FormatNumbers(const ScalarFormat& f) noexcept
      : lowest(f.lowest()),
        largest(f.max_finite()),
        min_positive(f.min_positive()),
        has_even_binades(!f.is_table() && !f.is_fixed_point && f.has_zero && f.has_subnormals &&
                         f.fraction_bits <= 16 && f.min_exponent() - f.fraction_bits >= -1022 &&
                         f.max_exponent() <= 1022),
        fraction_bits(f.fraction_bits),
        min_exponent(f.min_exponent()) {}

  /// Distance from a number of the format to the next one above or below; 0 where there is none. The same as by
  /// neighbour(), from exponents instead of codes: outward it is the spacing of the number's own binade, inward that of
  /// the binade of the double just below it.
  /// in: has_even_binades
  double gap(double number, bool up) const noexcept {
    const double magnitude = std::fabs(number);
    const bool inward = magnitude != 0 && (number < 0) == up;
    const bool is_last = (up & (number >= largest)) | (!up & (number <= lowest));  // never inward
    const int exponent = static_cast<int>((bits_of(magnitude) - inward) >> 52) - 1023;
    const double spacing = power_of_two((exponent < min_exponent ? min_exponent : exponent) - fraction_bits);
    return is_last ? 0 : spacing;
  }

  /// The end below or above zero as it is stored under a multiplier: fl32(end * multiplier); exact without a scale.
  double stored(bool negative, double multiplier) const noexcept {
    const double end = negative ? lowest : largest;
    return multiplier == 1 ? end : to_float(end * multiplier);
  }
  /// Whether a stored value other than zero is the last one outward, on its side of zero.
  bool is_last(double value, double multiplier) const noexcept {
    const bool is_largest = value == stored(false, multiplier), is_lowest = value == stored(true, multiplier);
    return ((value > 0) & is_largest) | ((value < 0) & is_lowest);
  }
};

/// The grid that one stored element lies on: a format under a scale.
struct StoredGrid {
  ScalarFormat element;
  double multiplier;
  const FormatNumbers* known = nullptr;  ///< of the element, where they are known already

  /// Distance from a stored value to its neighbour above or below; nullopt at the end of the format.
  /// in: value stored under this multiplier: fl32(q * multiplier), so that q is the element nearest to the
  /// quotient.
  std::optional<double> gap(double value, bool up) const noexcept {
    const double q = element_of(value);
    if (known && known->has_even_binades) {
      const double gap = known->gap(q, up);
      return gap == 0 ? std::nullopt : std::optional(gap * multiplier);
    }
    const std::optional<double> next = neighbour(element, q, up);
    if (!next) return std::nullopt;
    return std::fabs(*next - q) * multiplier;
  }
  double element_of(double value) const noexcept {
    const bool is_power_of_two = (bits_of(multiplier) & 0x000f'ffff'ffff'ffffu) == 0;
    if (is_power_of_two || value == 0) return value / multiplier;  // exact
    // A normal fl32(q m) is off by 2^-24 of it, the quotient by 2^-53 more, and q has at most 17 significant bits: it is
    // the quotient rounded to as many as the format has.
    if (known && known->has_even_binades && std::fabs(value) >= 0x1p-126)
      return with_significant_bits(value / multiplier, known->fraction_bits + 1);
    const Converter nearest(element, nearest_even, special_values(OverflowPolicy::saturate));
    return element_in_block(value, true, exact_divisor(multiplier), nearest, 0);
  }

  /// As it is stored: fl32(min_positive * multiplier). Exact without a scale.
  double smallest_positive() const noexcept {
    const double smallest = known ? known->min_positive : element.min_positive();
    return multiplier == 1 ? smallest : to_float(smallest * multiplier);
  }
  /// Whether a stored value other than zero is the last one outward, on its side of zero.
  bool is_at_end(double value) const noexcept { return is_at_end_under(multiplier, value); }
  /// The same under another multiplier.
  bool is_at_end_under(double other, double value) const noexcept {
    return known ? known->is_last(value, other) : FormatNumbers(element).is_last(value, other);
  }

 private:
  /// x to the nearest number of that many significant bits, the larger magnitude at a tie.
  /// in: x finite and normal, and no overflow; 1 <= bits < 53
  static double with_significant_bits(double x, int bits) noexcept {
    const int dropped = 53 - bits;
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    return std::bit_cast<double>((bits_of(x) + half) >> dropped << dropped);
  }
};

}  // namespace halfulp
