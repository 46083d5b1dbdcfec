#pragma once
#include "emulation/cuda/element_draws.h"
#include "emulation/cuda/float_converter.h"
#include "emulation/cuda/kernel.h"

namespace halfulp::cuda {

/// Fake quantisation in a scalar format: out[i] = the value of the format that x[i] becomes, one rounding each.
/// A thread takes the eight elements 128 g + 16 d + lane, d = 0..7, that share a counter of the random map (16 threads
/// take a group of 128); neighbouring threads read neighbouring numbers.
struct QuantizeKernel : PlainKernel {
  static constexpr unsigned threads = 256;
  static constexpr int phases = 1;
  static constexpr std::size_t elements_per_block = threads * 8;

  const float* x;
  float* out;  ///< may be x
  std::size_t count;
  FloatConverter convert;
  ElementDraws draws;
  std::uint64_t first_element;  ///< number of x[0] in its tensor, a multiple of 128

  std::size_t blocks() const noexcept { return blocks_for(count, elements_per_block); }

  template <int phase>
  HALFULP_HD void run(Block block, Thread thread, std::size_t, Shared&, Registers&) const noexcept {
    const std::size_t group = block.index * (threads / 16) + thread.index / 16, lane = thread.index % 16;
    if (128 * group + lane >= count) return;
    // All eight are on their way before the first is needed: memory answers after hundreds of cycles.
    float number[8];
    for (std::size_t d = 0; d < 8; ++d) {
      const std::size_t i = 128 * group + 16 * d + lane;
      number[d] = i < count ? x[i] : 0.0f;
    }
    std::uint32_t random[8];
    draws.of_lane(first_element / 128 + group, static_cast<unsigned>(lane), random);
    with_mode(convert.mode(), [&]<RoundingMode known>() {
      for (std::size_t d = 0; d < 8; ++d) {
        const std::size_t i = 128 * group + 16 * d + lane;
        if (i < count) out[i] = convert.value<known>(number[d], random[d]);
      }
    });
  }
};

}  // namespace halfulp::cuda
