#pragma once
#include "formats/scale_choice.h"

namespace halfulp {

/// What elements of one block are divided by. A divisor of 0 leaves only their signs: an underflowed scale, or a block
/// whose elements are forced to zero.
struct BlockDivisor {
  ScaleArithmetic arithmetic;
  double value;  ///< s t; the fp32 factor of reciprocal and mixed arithmetic; the fp32 divisor of quotients
};

/// The multiplier that elements of a block are read with: scale * tensor scale, exact in double.
HALFULP_HD constexpr double scale_value(const BlockFormat& f, std::uint32_t scale_code,
                                        TensorMultiplier t) noexcept {
  if (!f.has_scale()) return 1.0;
  const double scale = decode(f.scale, scale_code);
  return f.has_tensor_scale() ? scale * t.decode : scale;
}

/// errors: none.
HALFULP_HD_RARE inline BlockDivisor block_divisor(const BlockFormat& f, std::uint32_t scale_code,
                                                  TensorMultiplier t) noexcept {
  if (f.conventions.underflow == ScaleUnderflow::zero_elements && scale_code == 0)
    return {ScaleArithmetic::exact, 0};
  const double exact = scale_value(f, scale_code, t);
  const auto scale = static_cast<float>(f.has_scale() ? decode(f.scale, scale_code) : 1.0);
  // A factor of infinity would make NaN of zeros.
  const auto factor = [](float x) { return std::fmin(x, std::numeric_limits<float>::max()); };
  switch (f.conventions.arithmetic) {
    case ScaleArithmetic::exact:
      return {ScaleArithmetic::exact, exact};
    case ScaleArithmetic::quotients:
      return {ScaleArithmetic::quotients, to_float(exact)};
    case ScaleArithmetic::reciprocal:
      return {ScaleArithmetic::reciprocal,
              scale != scale ? scale : factor(1.0f / (scale * (1.0f / t.encode)))};
    case ScaleArithmetic::mixed:
      return {ScaleArithmetic::mixed, scale != scale ? scale : factor(1.0f / t.decode / scale)};
  }
  return {ScaleArithmetic::exact, exact};
}

/// Exact division by a scale.
HALFULP_HD constexpr BlockDivisor exact_divisor(double multiplier) noexcept {
  return {ScaleArithmetic::exact, multiplier};
}

/// The divisor of a block whose elements are forced to zero.
inline constexpr BlockDivisor zero_elements{ScaleArithmetic::exact, 0};

/// What of x is rounded to an element: the exact quotient, to odd (beside a midpoint of a table, which may need more than
/// 51 bits, the quotient's last place decides); or what the block's fp32 arithmetic leaves of x,
/// which is narrowed to fp32 first. NaN makes NaN.
HALFULP_HD inline double quotient_in_block(double x, const BlockDivisor& divisor) noexcept {
  if (divisor.value == 0) return x != x ? x : std::copysign(0.0, x);
  switch (divisor.arithmetic) {
    case ScaleArithmetic::exact:
      return quotient_to_odd(x, divisor.value);
    case ScaleArithmetic::quotients:
      return to_float(x) / static_cast<float>(divisor.value);
    case ScaleArithmetic::reciprocal:
    case ScaleArithmetic::mixed:
      return to_float(x) * static_cast<float>(divisor.value);
  }
  return x;
}

/// Element value of x in a block: its quotient rounded once; x itself rounded without a scale.
/// in: the element format has a double view
HALFULP_HD inline double element_in_block(double x, bool has_scale, const BlockDivisor& divisor,
                                          const Converter& convert, std::uint32_t random) noexcept {
  return convert.value(has_scale ? quotient_in_block(x, divisor) : x, random);
}

/// Element code of x in a block, as element_in_block.
HALFULP_HD inline std::uint32_t convert_in_block(double x, const BlockFormat& f, const BlockDivisor& divisor,
                                                 Rounding rounding, const SpecialValues& special,
                                                 std::uint32_t random) noexcept {
  return Converter(f.element, rounding, special)
      .code(f.has_scale() ? quotient_in_block(x, divisor) : x, random);
}

/// Value of an element under a multiplier: fl32((q * s) * t). q * s is exact in double; the product with t has at most
/// 4 + 4 + 24 bits, exact as well, so one rounding to fp32 remains. Under a NaN the quiet NaN without a sign, since which
/// of two NaNs a product keeps differs between processors.
HALFULP_HD constexpr float value_in_block(double element, double multiplier) noexcept {
  return multiplier != multiplier ? std::numeric_limits<float>::quiet_NaN() : to_float(element * multiplier);
}

/// Value of an element code in a block, as value_in_block(); without a scale the element's value.
HALFULP_HD constexpr double decode_in_block(const BlockFormat& f, std::uint32_t code,
                                            std::uint32_t scale_code, TensorMultiplier t) noexcept {
  const double element = decode(f.element, code);
  if (!f.has_scale()) return element;
  return value_in_block(element, scale_value(f, scale_code, t));
}

/// Error of a block under a scale code, elements rounded to nearest even: the largest, or the sum in element order, of
/// |x - stored| or its square, in double.
template <class Real>
HALFULP_HD_RARE double block_error(const BlockFormat& f, std::span<const Real> block,
                                   std::uint32_t scale_code, TensorMultiplier t,
                                   FourOverSix metric) noexcept {
  const Converter nearest(f.element, nearest_even, special_values(OverflowPolicy::saturate));
  const BlockDivisor divisor = block_divisor(f, scale_code, t);
  const double multiplier = scale_value(f, scale_code, t);
  double total = 0;
  for (const Real number : block) {
    const auto x = static_cast<double>(number);
    const double error = std::fabs(x - to_float(element_in_block(x, true, divisor, nearest, 0) * multiplier));
    total = metric == FourOverSix::abs_max ? std::max(total, error)
                                           : total + (metric == FourOverSix::mse ? error * error : error);
  }
  return total;
}

/// Scale code of a block: choose_scale of its amax, or of four-over-six's two candidates the one with the smaller error,
/// the one for 6 in a tie.
/// in: amax as reduce.h gives it
template <class Real>
HALFULP_HD std::uint32_t choose_block_scale(const BlockFormat& f, std::span<const Real> block, double amax,
                                            TensorMultiplier t, std::uint32_t random) noexcept {
  const double largest = amax_by_conventions(amax, block, f.conventions);
  const std::uint32_t for_six = choose_scale(f, largest, t, random);
  const FourOverSix choice = f.conventions.four_over_six;
  if (choice == FourOverSix::none || choice == FourOverSix::always_four || is_flushed(f, largest) ||
      !(largest > 0 && largest < std::numeric_limits<double>::infinity()) || t.decode != t.decode)
    return for_six;
  const std::uint32_t for_four = scale_code_for(f, largest, 4.0, t, random);
  return block_error(f, block, for_four, t, choice) < block_error(f, block, for_six, t, choice) ? for_four
                                                                                                : for_six;
}

/// What a block is stored under: its scale code, and what its elements are divided by.
struct BlockChoice {
  std::uint32_t scale;
  BlockDivisor divisor;
};

/// in: as choose_block_scale
template <class Real>
HALFULP_HD BlockChoice choose_block(const BlockFormat& f, std::span<const Real> block, double amax,
                                    TensorMultiplier t, std::uint32_t random) noexcept {
  const std::uint32_t scale = choose_block_scale(f, block, amax, t, random);
  const bool flushed = is_flushed(f, amax_by_conventions(amax, block, f.conventions));
  return {scale, flushed ? zero_elements : block_divisor(f, scale, t)};
}

}  // namespace halfulp
