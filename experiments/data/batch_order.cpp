#include "experiments/data/batch_order.h"

#include <algorithm>
#include <string>

#include "emulation/random_bits.h"
#include "formats/error.h"

namespace halfulp {

BatchOrder::BatchOrder(std::uint64_t seed, std::size_t samples, std::size_t batch)
    : seed_(seed), samples_(samples), batch_(batch) {
  if (samples >> 32 != 0)
    throw Error("batch order", "too many samples", std::to_string(samples), "at most 2^32 - 1");
  if (batch == 0 || batch > samples)
    throw Error("batch size", "not a part of the samples", std::to_string(batch),
                "1.." + std::to_string(samples));
}

std::span<const std::uint32_t> BatchOrder::indices(std::uint64_t step) {
  const std::uint64_t epoch = step / steps_per_epoch();
  if (epoch_ != epoch) shuffle(epoch);
  const std::size_t position = static_cast<std::size_t>(step % steps_per_epoch());
  return std::span<const std::uint32_t>(order_).subspan(position * batch_, batch_);
}

void BatchOrder::shuffle(std::uint64_t epoch) {
  const RandomStream stream{seed_, static_cast<std::uint32_t>(epoch), 0, 0, RandomPurpose::data_order, 0};
  bits_.resize(samples_);
  fill_random_bits_32(stream, 0, bits_);
  keys_.resize(samples_);
  // Bits above index: keys are distinct, so every sorting algorithm gives the same order.
  for (std::size_t i = 0; i < samples_; ++i) keys_[i] = std::uint64_t{bits_[i]} << 32 | i;
  std::sort(keys_.begin(), keys_.end());
  order_.resize(samples_);
  for (std::size_t i = 0; i < samples_; ++i) order_[i] = static_cast<std::uint32_t>(keys_[i]);
  epoch_ = epoch;
}

}  // namespace halfulp
