#pragma once
#include "emulation/cuda/block_layout.h"
#include "emulation/cuda/kernel.h"

namespace halfulp::cuda {

/// values[i] = the number that code i stores under its scales, exact: Tensor::value() as a float.
/// Reading shares bytes without harm, so neighbouring threads take neighbouring elements.
struct DecodeKernel : PlainKernel {
  static constexpr unsigned threads = tile_threads;
  static constexpr int phases = 1;

  const std::uint8_t* codes;   ///< [packed_bytes(element, count)]
  const std::uint8_t* scales;  ///< [packed_bytes(scale, ceil(count / length))], or null without scales
  std::size_t count;
  StoredFormat stored;
  float* values;  ///< [count]

  std::size_t blocks() const noexcept { return blocks_for(count, tile_elements); }

  template <int phase>
  HALFULP_HD void run(Block block, Thread thread, std::size_t, Shared&, Registers&) const noexcept {
    const BlockFormat& f = stored.format;
    const std::size_t first = block.index * tile_elements + thread.index;
    // All eight are on their way before the first is needed.
    std::uint32_t code[8], scale[8];
    for (std::size_t d = 0; d < 8; ++d) {
      const std::size_t i = first + d * threads;
      code[d] = i < count ? load_code(f.element, codes, i) : 0;
      scale[d] = i < count && f.has_scale() ? load_code(f.scale, scales, i / stored.length) : 0;
    }
    for (std::size_t d = 0; d < 8; ++d)
      if (first + d * threads < count)
        values[first + d * threads] = to_float(decode_in_block(f, code[d], scale[d], stored.second));
  }
};

}  // namespace halfulp::cuda
