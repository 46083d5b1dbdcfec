#pragma once
#include <span>

namespace halfulp {

/// How far weights are from those of their double twin. A number that is not finite makes NaN or infinity of all three.
struct TwinDistance {
  double relative;  ///< |w - twin| / |twin|, Euclidean; 0 if both are zero, infinity if the twin alone is
  double largest;   ///< largest |w_i - twin_i|
  double cosine;    ///< of w and twin; 0 if one of them is zero
};

/// Sums in the order of reduce.h.
/// errors: throws Error unless both have the same size.
TwinDistance twin_distance(std::span<const double> weights, std::span<const double> twin);

}  // namespace halfulp
