#pragma once
#include <bit>
#include <cstdint>

#include "formats/platform.h"

namespace halfulp {

/// What the rounding text needs to know of the numbers it computes with: a number or a vector of numbers.
/// A vector type specialises Lane and supplies the functions below for itself; + - & | and comparisons are
/// its operators. Everything is lane-wise.
template <class Real>
struct Lane;

template <>
struct Lane<float> {
  using Bits = std::uint32_t;
  using Mask = bool;
  static constexpr int fraction_bits = 23, exponent_bias = 127, bits = 32;
};

template <>
struct Lane<double> {
  using Bits = std::uint64_t;
  using Mask = bool;
  static constexpr int fraction_bits = 52, exponent_bias = 1023, bits = 64;
};

HALFULP_HD constexpr std::uint32_t bits_of(float x) noexcept { return std::bit_cast<std::uint32_t>(x); }
HALFULP_HD constexpr std::uint64_t bits_of(double x) noexcept { return std::bit_cast<std::uint64_t>(x); }
HALFULP_HD constexpr float real_of(std::uint32_t bits) noexcept { return std::bit_cast<float>(bits); }
HALFULP_HD constexpr double real_of(std::uint64_t bits) noexcept { return std::bit_cast<double>(bits); }

template <class T>
HALFULP_HD constexpr T select(bool condition, T yes, T no) noexcept {
  return condition ? yes : no;
}
template <class T>
HALFULP_HD constexpr T lane_min(T a, T b) noexcept {
  return a < b ? a : b;
}  // a NaN: b
template <class T>
HALFULP_HD constexpr T lane_max(T a, T b) noexcept {
  return a > b ? a : b;
}

/// Whether a condition holds in every lane.
HALFULP_HD constexpr bool all_of(bool condition) noexcept { return condition; }

/// Sign bit alone.
template <class Real>
HALFULP_LANES constexpr auto sign_bit_of(Real x) noexcept {
  using Bits = typename Lane<Real>::Bits;
  return bits_of(x) & static_cast<Bits>(Bits{1} << (Lane<Real>::bits - 1));
}

}  // namespace halfulp
