#pragma once
#include <algorithm>
#include <cstdint>

#include "analysis/octaves.h"

namespace halfulp {

/// Mean, variance and size of the updates, over elements.
///
/// By two sums, of u and of u^2, since sums of tiles and of steps simply add. Their cancellation costs at most
/// (n + 3) 2^-53 of the mean square: a standard deviation is known while it exceeds about sqrt(n) 2^-26 of the rms.
/// Updates have either sign, so their mean is far below their rms; where all are equal, the variance is 0 up to
/// that.
struct UpdateVariance {
  std::uint64_t elements = 0;
  double sum = 0;      ///< of update
  double squares = 0;  ///< of update^2
  double largest = 0;  ///< |update|
  /// |update| / |before| where before != 0, quotient rounded once. What a multiplicative branch is judged by: under
  /// nearest rounding it moves a weight from about the relative half ulp on, 2^-(M+1) of a format with M fraction bits.
  OctaveCounts<-40, 8> relative;

  void see(const ElementStep& e) noexcept {
    const double size = std::fabs(e.update);
    ++elements;
    sum += e.update;
    squares += e.update * e.update;
    largest = std::max(largest, size);
    relative.add(size / std::fabs(e.before), e.before != 0);
  }
  void join(const UpdateVariance& other) noexcept {
    elements += other.elements;
    sum += other.sum;
    squares += other.squares;
    largest = std::max(largest, other.largest);
    relative.join(other.relative);
  }
  /// 0 without elements.
  double mean() const noexcept { return elements == 0 ? 0 : sum / static_cast<double>(elements); }
  /// Mean of squares less square of mean; never negative; 0 without elements.
  double variance() const noexcept {
    return elements == 0 ? 0 : std::max(0.0, squares / static_cast<double>(elements) - mean() * mean());
  }
};

}  // namespace halfulp
