#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halfulp {

/// Which samples a step sees: each epoch visits a fresh permutation of all samples, cut into whole batches;
/// the samples left over at its end (fewer than a batch) are not visited in that epoch.
class BatchOrder {
 public:
  /// errors: Error on a batch of 0 or above the number of samples, or on 2^32 samples or more
  BatchOrder(std::uint64_t seed, std::size_t samples, std::size_t batch);

  std::size_t steps_per_epoch() const { return samples_ / batch_; }

  /// Returns the sample indices of a step (0, 1, ...): a function of (seed, step) alone; the span lives until
  /// the next call. The epoch's permutation sorts the samples by their random bits, by index where bits tie.
  std::span<const std::uint32_t> indices(std::uint64_t step);

 private:
  void shuffle(std::uint64_t epoch);

  std::uint64_t seed_;
  std::size_t samples_, batch_;
  std::optional<std::uint64_t> epoch_;  ///< the one order_ holds
  std::vector<std::uint32_t> bits_, order_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace halfulp
