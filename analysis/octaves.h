#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "analysis/element_step.h"

namespace halfulp {

/// Counts per power of two: bin k holds magnitudes in [2^(lowest + k), 2^(lowest + k + 1)); what lies outside
/// goes to the first or last bin; zeros are counted apart.
template <int lowest, int highest>
struct OctaveCounts {
  static constexpr int lowest_exponent = lowest;
  std::array<std::uint64_t, highest - lowest + 1> counts{};
  std::uint64_t zeros = 0;

  /// times: 0 or 1, so that what decides needs no branch
  void add(double magnitude, bool times = true) noexcept {
    const int exponent = floor_log2(magnitude);
    const bool is_zero = magnitude == 0;
    zeros += times & is_zero;
    counts[static_cast<std::size_t>(std::clamp(exponent, lowest, highest) - lowest)] += times & !is_zero;
  }
  void join(const OctaveCounts& other) noexcept {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    zeros += other.zeros;
  }
};

/// What stagnation depends on: elements with an update by octave of |before|, how many of them stayed, and
/// the ratio of update to half gap (2^0 is the threshold of nearest rounding).
struct StagnationOctaves {
  OctaveCounts<-30, 10> updated, stayed;
  OctaveCounts<-24, 12> update_over_half_gap;

  void see(const ElementStep& e) noexcept {
    const bool moves = e.update != 0;
    const double gap = e.gap_or_zero();
    updated.add(std::fabs(e.before), moves);
    stayed.add(std::fabs(e.before), moves & (e.after == e.unmoved));
    update_over_half_gap.add(std::fabs(e.update) / (gap / 2), moves & (gap != 0));
  }
  void join(const StagnationOctaves& other) noexcept {
    updated.join(other.updated);
    stayed.join(other.stayed);
    update_over_half_gap.join(other.update_over_half_gap);
  }
};

}  // namespace halfulp
