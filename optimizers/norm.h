#pragma once
#include <cmath>

#include "emulation/reduce.h"

namespace halfulp {

// Sums over part of a tensor with double partials, in the order of emulation/reduce.h. Squares of floats
// neither overflow nor underflow there; those of doubles may.

inline double square_norm(std::span<const float> x) noexcept { return sum_of_squares_in_double(x); }
inline double square_norm(std::span<const double> x) noexcept { return sum_of_squares(x); }

/// Euclidean norm.
template <class R>
double norm(std::span<const R> x) noexcept {
  return std::sqrt(square_norm(x));
}

/// x is not empty.
inline double mean(std::span<const float> x) noexcept {
  return sum_in_double(x) / static_cast<double>(x.size());
}
inline double mean(std::span<const double> x) noexcept { return sum(x) / static_cast<double>(x.size()); }

}  // namespace halfulp
