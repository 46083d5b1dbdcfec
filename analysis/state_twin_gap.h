#pragma once
#include <cstdint>
#include <span>

namespace halfulp {

/// A stored state against its double twin, fed the same gradients. Ratios are of magnitudes, over elements where neither
/// is zero; a zero has no ratio and is counted apart.
struct StateTwinGap {
  std::uint64_t elements = 0;   ///< finite in both; all below are of these
  std::uint64_t nonfinite = 0;  ///< the others
  std::uint64_t lost = 0;       ///< stored as zero where the twin is not
  std::uint64_t spurious = 0;   ///< the twin is zero where the stored number is not
  std::uint64_t both_zero = 0;
  std::uint64_t compared = 0;    ///< neither is zero
  std::uint64_t wrong_sign = 0;  ///< of compared, signs differ
  std::uint64_t off_by_two = 0;  ///< of compared, |log2 ratio| >= 1
  double mean_log2_ratio =
      0;  ///< of compared, log2(|stored| / |twin|); 0 if there is none. The step of Adam is off by
          ///< 2^(-mean / 2) where this is the second moment
  double largest_log2_ratio = 0;  ///< of compared, |log2 ratio|
  double relative_distance =
      0;  ///< |stored - twin| / |twin|, Euclidean, of elements; 0 if both are zero, infinity if
          ///< the twin alone is
};

/// Sums in element order; logarithms within 2 ulp of the rounded quotient's.
/// errors: throws Error unless both have the same size.
StateTwinGap state_twin_gap(std::span<const double> stored, std::span<const double> twin);

}  // namespace halfulp
