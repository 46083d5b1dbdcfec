#pragma once
#include <span>
#include <vector>

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
        fits_(!format.is_table() &&
              lanes_fit<double>(format, guard_bits(rounding.mode, rounding.random_bits))),
        reads_as_written_(
            special.negative_zero != NegativeZero::drop_source &&
            special.subnormals != Subnormals::flush_sources &&
            (format.is_signed || special.negative_in_unsigned != NegativeInUnsigned::magnitude)),
        sign_mask_(format.is_signed ? std::uint64_t{1} << 63 : 0) {
    if (format.is_table() || !format.has_double_view()) return;
    const bool flushes = special.subnormals == Subnormals::flush_results;
    const bool zeros_stay = keeps_minus_zero(format, special) && format.has_zero && !flushes;
    smallest_regular_ = zeros_stay ? 0 : flushes ? format.min_normal() : format.min_positive();
    largest_regular_ = format.max_finite();
    constexpr double infinity = std::numeric_limits<double>::infinity(),
                     finite = std::numeric_limits<double>::max();
    above_ = overflow(finite, infinity, format, special, rounding.mode);
    below_ = overflow(-finite, -infinity, format, special, rounding.mode);
  }

  /// Value of the format that x becomes; encode(format, value) is convert(x, ...) but for kept payloads of NaN.
  /// in: format.has_double_view()
  HALFULP_HD constexpr double value(double x, std::uint32_t random) const noexcept {
    if (!reads_as_written_) x = source_of(x, format_, special_);
    const double rounded = fits_ ? round_to_grid(x, grid_, rounding_, std::uint64_t{random})
                                 : round(x, format_, rounding_, random);
    return is_regular(rounded) ? rounded : settle(x, rounded);
  }
  /// out[i] = value(x[i], random[i]).
  /// in: sizes equal; random may be empty where the rounding needs none. x and out are no overlapping spans.
  void values(std::span<const double> x, std::span<const std::uint32_t> random,
              std::span<double> out) const noexcept {
    if (!fits_ || !reads_as_written_) {
      for (std::size_t i = 0; i < x.size(); ++i) out[i] = value(x[i], random.empty() ? 0 : random[i]);
      return;
    }
    with_mode(rounding_.mode, [&]<RoundingMode mode>() {
      if (random.empty())
        for (std::size_t i = 0; i < x.size(); ++i)
          out[i] = round_to_grid<mode>(x[i], grid_, 0, std::uint64_t{0});
      else
        for (std::size_t i = 0; i < x.size(); ++i)
          out[i] = round_to_grid<mode>(x[i], grid_, rounding_.random_bits, std::uint64_t{random[i]});
    });
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!is_regular(out[i])) out[i] = settle(x[i], out[i]);
  }
  /// convert(x, ...), in every format.
  HALFULP_HD constexpr std::uint32_t code(double x, std::uint32_t random) const noexcept {
    if (!format_.has_double_view() || x != x) return convert(x, format_, rounding_, special_, random);
    return encode(format_, value(x, random));
  }

  constexpr const ScalarFormat& format() const noexcept { return format_; }
  constexpr const Rounding& rounding() const noexcept { return rounding_; }

 private:
  /// Whether overflow() would leave it as it is whatever the policy: nearly all are, and the test is cheap.
  HALFULP_HD constexpr bool is_regular(double rounded) const noexcept {
    const double magnitude = real_of(bits_of(rounded) & ~sign_mask_);
    return magnitude >= smallest_regular_ && magnitude <= largest_regular_;
  }
  /// overflow() of the others. What finite numbers beyond the largest become depends on their sign alone.
  HALFULP_HD constexpr double settle(double x, double rounded) const noexcept {
    constexpr double finite = std::numeric_limits<double>::max();
    if (rounded > largest_regular_ && x <= finite) return above_;
    if (-rounded > largest_regular_ && x >= -finite && sign_mask_ != 0 && !format_.is_fixed_point)
      return below_;
    return overflow(x, rounded, format_, special_, rounding_.mode);
  }

  ScalarFormat format_;
  Rounding rounding_;
  SpecialValues special_;
  Grid<double> grid_;
  bool fits_, reads_as_written_;
  std::uint64_t sign_mask_;  // of a double, in signed formats
  // Of either sign in signed formats; nothing is regular in tables.
  double smallest_regular_ = std::numeric_limits<double>::infinity();
  double largest_regular_ = std::numeric_limits<double>::infinity();
  double above_ = 0, below_ = 0;
};

/// decode() for many codes: a lookup where the format has at most 256.
/// in: format.has_double_view()
class Decoder {
 public:
  explicit Decoder(const ScalarFormat& format) : format_(format) {
    if (format.bits() > 8 || !format.has_double_view()) return;
    for (std::uint32_t code = 0; code < format.code_count(); ++code) table_.push_back(decode(format, code));
  }
  /// in: code in [0, code_count())
  double operator()(std::uint32_t code) const noexcept {
    return code < table_.size() ? table_[code] : decode(format_, code);
  }

 private:
  ScalarFormat format_;
  std::vector<double> table_;
};

}  // namespace halfulp
