#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "formats/lane.h"

// Reductions with one stated order, hence the same bits from every vector width and from every device:
//   lane[j] = 0 + x[j] + x[j + 32] + x[j + 64] + ...   for j = 0..31, ascending
//   lane[j] += lane[j + 16] for j < 16, then + 8, + 4, + 2, + 1; the result is lane[0]
// Products are rounded before they are added; nothing is fused. An empty span gives +0.
// Error, n elements, eps = 2^-24 or 2^-53: |sum - exact| <= (ceil(n/32) + 5) eps / (1 - ...) * sum |x_i| to
// first order, since no term passes through more additions; one more eps where each term is a product.
namespace halfulp {

namespace detail {

inline constexpr std::size_t reduction_lanes = 32;

/// sum over i < n of term(i), in the order above.
template <class Real, class Term>
Real ordered_sum(std::size_t n, Term term) noexcept {
  std::array<Real, reduction_lanes> lane{};
  std::size_t i = 0;
  for (; i + reduction_lanes <= n; i += reduction_lanes)
    for (std::size_t j = 0; j < reduction_lanes; ++j) lane[j] += term(i + j);
  for (std::size_t j = 0; i + j < n; ++j) lane[j] += term(i + j);
  for (std::size_t half = reduction_lanes / 2; half > 0; half /= 2)
    for (std::size_t j = 0; j < half; ++j) lane[j] += lane[j + half];
  return lane[0];
}

/// The bits of magnitudes order as the magnitudes do, and every NaN lies above infinity, so an integer
/// maximum propagates NaN whatever the order.
template <class Real>
HALFULP_HD Real largest_magnitude(std::span<const Real> x) noexcept {
  using Bits = typename Lane<Real>::Bits;
  constexpr Bits magnitude = std::numeric_limits<Bits>::max() >> 1;
  Bits largest = 0;
  for (const Real value : x) {
    const Bits bits = bits_of(value) & magnitude;
    largest = bits > largest ? bits : largest;
  }
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  return largest > bits_of(infinity) ? std::numeric_limits<Real>::quiet_NaN() : real_of(largest);
}

template <class Real>
double sum_of_squares_in_double(std::span<const Real> x) noexcept {
  return ordered_sum<double>(x.size(), [&](std::size_t i) {
    const double value = static_cast<double>(x[i]);
    return value * value;
  });
}

}  // namespace detail

/// x[0] + x[1] + ... in the number type of x.
inline float sum(std::span<const float> x) noexcept {
  return detail::ordered_sum<float>(x.size(), [&](std::size_t i) { return x[i]; });
}
inline double sum(std::span<const double> x) noexcept {
  return detail::ordered_sum<double>(x.size(), [&](std::size_t i) { return x[i]; });
}

/// x[0]^2 + x[1]^2 + ... in the number type of x: float overflows from |x| = 2^64.
inline float sum_of_squares(std::span<const float> x) noexcept {
  return detail::ordered_sum<float>(x.size(), [&](std::size_t i) { return x[i] * x[i]; });
}
inline double sum_of_squares(std::span<const double> x) noexcept {
  return detail::ordered_sum<double>(x.size(), [&](std::size_t i) { return x[i] * x[i]; });
}

/// The same sums with double partials; the square of a float is exact in double.
inline double sum_in_double(std::span<const float> x) noexcept {
  return detail::ordered_sum<double>(x.size(), [&](std::size_t i) { return static_cast<double>(x[i]); });
}
inline double sum_of_squares_in_double(std::span<const float> x) noexcept {
  return detail::sum_of_squares_in_double<float>(x);
}

/// x[0] y[0] + x[1] y[1] + ..., x and y of one length.
inline float dot(std::span<const float> x, std::span<const float> y) noexcept {
  return detail::ordered_sum<float>(x.size(), [&](std::size_t i) { return x[i] * y[i]; });
}
inline double dot(std::span<const double> x, std::span<const double> y) noexcept {
  return detail::ordered_sum<double>(x.size(), [&](std::size_t i) { return x[i] * y[i]; });
}
inline double dot_in_double(std::span<const float> x, std::span<const float> y) noexcept {
  return detail::ordered_sum<double>(
      x.size(), [&](std::size_t i) { return static_cast<double>(x[i]) * static_cast<double>(y[i]); });
}

/// The largest |x_i|, exact; NaN if any x_i is NaN, 0 if there is none.
HALFULP_HD inline float amax(std::span<const float> x) noexcept { return detail::largest_magnitude(x); }
HALFULP_HD inline double amax(std::span<const double> x) noexcept { return detail::largest_magnitude(x); }

/// Root mean square sqrt(sum of squares / n), with double partials, rounded once to the number type; 0 if
/// empty.
inline double rms(std::span<const double> x) noexcept {
  if (x.empty()) return 0;
  return std::sqrt(detail::sum_of_squares_in_double<double>(x) / static_cast<double>(x.size()));
}
inline float rms(std::span<const float> x) noexcept {
  if (x.empty()) return 0;
  return static_cast<float>(
      std::sqrt(detail::sum_of_squares_in_double<float>(x) / static_cast<double>(x.size())));
}

}  // namespace halfulp
