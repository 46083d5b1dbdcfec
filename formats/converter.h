#pragma once
#include "formats/encode.h"

namespace halfulp {

/// convert() for many numbers: the same functions, with what depends on the format alone computed once.
class Converter {
 public:
  HALFULP_HD constexpr Converter(const ScalarFormat& format, Rounding rounding,
                                 const SpecialValues& special) noexcept
      : format_(format),
        rounding_(rounding),
        special_(special),
        grid_(make_grid<double>(format)),
        fits_(lanes_fit<double>(format, guard_bits(rounding.mode, rounding.random_bits))) {}

  /// Value of the format that x becomes; encode(format, value) is convert(x, ...).
  HALFULP_HD constexpr double value(double x, std::uint32_t random) const noexcept {
    const double rounded = fits_ ? round_to_grid(x, grid_, rounding_, std::uint64_t{random})
                                 : round_in_two_parts(x, format_, rounding_, random);
    return overflow(x, rounded, format_, special_, rounding_.mode);
  }
  HALFULP_HD constexpr std::uint32_t code(double x, std::uint32_t random) const noexcept {
    return encode(format_, value(x, random));
  }

  constexpr const ScalarFormat& format() const noexcept { return format_; }
  constexpr const Rounding& rounding() const noexcept { return rounding_; }

 private:
  ScalarFormat format_;
  Rounding rounding_;
  SpecialValues special_;
  Grid<double> grid_;
  bool fits_;
};

}  // namespace halfulp
