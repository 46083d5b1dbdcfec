#pragma once
#include <cstdint>

#include "emulation/cuda/kernel.h"

namespace halfulp::cuda {

/// Gradient of an embedding table: out[v][c] = 0 + d[t][c] + ... over the positions t that hold token v, ascending. No
/// atomics, so the order of the sum is the order of the text. A block has one row of the table; a round looks at
/// 128 positions: 0 which hold v, 1 their list in order, 2 every thread adds its columns.
template <class Real>
struct EmbeddingGradientKernel {
  static constexpr unsigned threads = 128;
  static constexpr int phases = 3;

  struct Shared {
    bool holds[threads];
    std::size_t position[threads];
    std::size_t count;
  };
  struct Registers {};

  const std::int32_t* tokens;  ///< [positions]; numbers outside [0, vocabulary) belong to no row
  const Real* d;               ///< [positions x width], row-major
  Real* out;                   ///< [vocabulary x width]
  std::size_t positions, vocabulary, width;

  std::size_t blocks() const noexcept { return vocabulary; }
  HALFULP_HD std::size_t rounds() const noexcept {
    return positions == 0 ? 1 : blocks_for(positions, threads);
  }

  template <int phase>
  HALFULP_HD void run(Block block, Thread thread, std::size_t round, Shared& shared,
                      Registers&) const noexcept {
    const std::size_t position = round * threads + thread.index;
    if constexpr (phase == 0) {
      shared.holds[thread.index] =
          position < positions && tokens[position] == static_cast<std::int64_t>(block.index);
    } else if constexpr (phase == 1) {
      const bool last = thread.index + 1 == threads;
      if (!shared.holds[thread.index] && !last) return;
      std::size_t before = 0;
      for (unsigned other = 0; other < thread.index; ++other) before += shared.holds[other] ? 1 : 0;
      if (shared.holds[thread.index]) shared.position[before] = position;
      if (last) shared.count = before + (shared.holds[thread.index] ? 1 : 0);
    } else {
      for (std::size_t c = thread.index; c < width; c += threads) {
        Real sum = round == 0 ? Real(0) : out[block.index * width + c];
        for (std::size_t i = 0; i < shared.count; ++i) sum += d[shared.position[i] * width + c];
        out[block.index * width + c] = sum;
      }
    }
  }
};

}  // namespace halfulp::cuda
