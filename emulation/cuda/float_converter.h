#pragma once
#include "emulation/cuda/block_scale.h"
#include "formats/element_conversion.h"

namespace halfulp::cuda {

/// Converter and decode() for floats: the texts of lanes in floats where they serve a format, which devices with few
/// double units need; else the exact texts in double. Both are images of one definition, hence equal.
class FloatConverter {
 public:
  FloatConverter(const ScalarFormat& format, Rounding rounding, const SpecialValues& special) noexcept
      : exact_(format, rounding, special),
        on_lanes_(element_lanes_fit<float>(format, rounding, special)),
        scales_on_lanes_(on_lanes_ &&
                         scaled_lanes_fit(format, guard_bits(rounding.mode, rounding.random_bits))) {
    if (on_lanes_) lanes_ = make_element_lanes<float>(format, rounding, special);
  }

  HALFULP_HD RoundingMode mode() const noexcept { return exact_.rounding().mode; }

  /// Value of the format that x becomes, as a float.
  /// in: mode: that of the rounding; every number of the format is a float
  template <RoundingMode mode>
  HALFULP_HD float value(float x, std::uint32_t random) const noexcept {
    if (!on_lanes_) return exact_value(x, random);
    const float rounded = round_element<mode>(lanes_, x, random);
    return is_regular(lanes_, rounded) ? rounded : settled_value(x, rounded);
  }

  /// Code of the element that x becomes under a scale.
  /// in: as value()
  template <RoundingMode mode>
  HALFULP_HD std::uint32_t code(float x, const BlockScale& scale, std::uint32_t random) const noexcept {
    if (!serves(scale)) return exact_code(x, scale, random);
    const float rounded = round_element<mode>(lanes_, divided<mode>(x, scale.lanes), random);
    return is_regular(lanes_, rounded) ? code_of(lanes_, rounded) : settled_code(x, rounded);
  }
  HALFULP_HD std::uint32_t code(float x, const BlockScale& scale, std::uint32_t random) const noexcept {
    return with_mode(mode(), [&]<RoundingMode mode>() { return code<mode>(x, scale, random); });
  }

  /// The element of a code.
  HALFULP_HD float element(std::uint32_t code) const noexcept {
    return on_lanes_ ? number_of(lanes_, code) : to_float(decode(exact_.format(), code));
  }
  /// The number that an element stands for under a scale.
  HALFULP_HD float number(float element, const BlockScale& scale) const noexcept {
    if (!scale.is_scaled()) return element;
    // What a product makes of a NaN differs between processors.
    if (serves(scale)) return element == element ? multiplied(element, scale.lanes) : element;
    return value_in_block(static_cast<double>(element), scale.multiplier);
  }

 private:
  HALFULP_HD bool serves(const BlockScale& scale) const noexcept {
    return scale.is_scaled() ? scales_on_lanes_ && scale.in_floats : on_lanes_;
  }
  HALFULP_HD_RARE float settled_value(float x, float rounded) const noexcept {
    return settle(lanes_, lanes_.values, x, rounded, rounded);
  }
  HALFULP_HD_RARE std::uint32_t settled_code(float x, float rounded) const noexcept {
    return settle(lanes_, lanes_.codes, x, rounded, code_of(lanes_, rounded));
  }
  HALFULP_HD_RARE float exact_value(float x, std::uint32_t random) const noexcept {
    return to_float(exact_.value(static_cast<double>(x), random));
  }
  HALFULP_HD_RARE std::uint32_t exact_code(float x, const BlockScale& scale,
                                           std::uint32_t random) const noexcept {
    const auto number = static_cast<double>(x);
    return exact_.code(scale.is_scaled() ? quotient_in_block(number, scale.divisor) : number, random);
  }

  Converter exact_;
  bool on_lanes_, scales_on_lanes_;
  ElementLanes<float> lanes_{};
};

/// Whether every number of a format is a float.
constexpr bool has_float_view(const ScalarFormat& f) noexcept {
  return !f.is_table() && f.has_double_view() && f.fraction_bits <= 23 && f.max_exponent() <= 127 &&
         f.min_exponent() - f.fraction_bits >= -149;
}

}  // namespace halfulp::cuda
