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

/// The ends of a format, for those who look at many of its numbers.
struct FormatEnds {
  double lowest, largest, min_positive;

  explicit FormatEnds(const ScalarFormat& f) noexcept
      : lowest(f.lowest()), largest(f.max_finite()), min_positive(f.min_positive()) {}

  /// The end below or above zero as it is stored under a multiplier: fl32(end * multiplier); exact without a scale.
  double stored(bool negative, double multiplier) const noexcept {
    const double end = negative ? lowest : largest;
    return multiplier == 1 ? end : to_float(end * multiplier);
  }
  /// Whether a stored value other than zero is the last one outward, on its side of zero.
  bool is_last(double value, double multiplier) const noexcept {
    return value != 0 && value == stored(value < 0, multiplier);
  }
};

/// The grid that one stored element lies on: a format under a scale.
struct StoredGrid {
  ScalarFormat element;
  double multiplier;
  const FormatEnds* ends = nullptr;  ///< of the element, where they are known already

  /// Distance from a stored value to its neighbour above or below; nullopt at the end of the format.
  /// in: value stored under this multiplier: fl32(q * multiplier), so that q is the element nearest to the
  /// quotient.
  std::optional<double> gap(double value, bool up) const noexcept {
    const double q = element_of(value);
    const std::optional<double> next = neighbour(element, q, up);
    if (!next) return std::nullopt;
    return std::fabs(*next - q) * multiplier;
  }
  double element_of(double value) const noexcept {
    const bool is_power_of_two = (bits_of(multiplier) & 0x000f'ffff'ffff'ffffu) == 0;
    if (is_power_of_two) return value / multiplier;  // exact
    const Converter nearest(element, nearest_even, special_values(OverflowPolicy::saturate));
    return element_in_block(value, true, exact_divisor(multiplier), nearest, 0);
  }

  /// As it is stored: fl32(min_positive * multiplier). Exact without a scale.
  double smallest_positive() const noexcept {
    const double smallest = ends ? ends->min_positive : element.min_positive();
    return multiplier == 1 ? smallest : to_float(smallest * multiplier);
  }
  /// Whether a stored value other than zero is the last one outward, on its side of zero.
  bool is_at_end(double value) const noexcept {
    return ends ? ends->is_last(value, multiplier) : FormatEnds(element).is_last(value, multiplier);
  }
};

}  // namespace halfulp
