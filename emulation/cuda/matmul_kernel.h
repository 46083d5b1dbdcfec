#pragma once
#include <cmath>
#include <limits>

#include "emulation/cuda/kernel.h"

namespace halfulp::cuda {

/// c = a b with the bits of matmul.h: each c[i][j] is one chain of fused multiply-adds over k, ascending, from +0.
/// A block makes a tile of 64 x 64, a thread 4 x 4 of it, a round 16 steps of k that both operands bring to shared
/// memory. The last round stops at k: a product of padding, fma(0, 0, -0) = +0, would show.
template <class Real>
struct MatmulKernel {
  static constexpr unsigned threads = 256;
  static constexpr int phases = 2;
  static constexpr std::size_t tile = 64, depth = 16, each = 4;

  struct Shared {
    Real a[depth][tile + 1];  // transposed; the padding keeps the writing threads on different banks
    Real b[depth][tile];
  };
  struct Registers {
    Real sum[each][each] = {};
  };

  const Real* a;  ///< [m x k], row-major
  const Real* b;  ///< [k x n]
  Real* c;        ///< [m x n], overlaps neither
  std::size_t m, k, n;

  std::size_t blocks() const noexcept { return blocks_for(m, tile) * blocks_for(n, tile); }
  HALFULP_HD std::size_t rounds() const noexcept { return k == 0 ? 1 : blocks_for(k, depth); }

  template <int phase>
  HALFULP_HD void run(Block block, Thread thread, std::size_t round, Shared& shared,
                      Registers& own) const noexcept {
    const std::size_t tiles_across = blocks_for(n, tile);
    const std::size_t row = block.index / tiles_across * tile, column = block.index % tiles_across * tile;
    const std::size_t first = round * depth, steps = k - first < depth ? k - first : depth;
    if constexpr (phase == 0) {
      for (std::size_t at = thread.index; at < tile * depth; at += threads) {
        const std::size_t i = at / depth, l = at % depth;
        if (row + i < m && l < steps) shared.a[l][i] = a[(row + i) * k + first + l];
      }
      for (std::size_t at = thread.index; at < tile * depth; at += threads) {
        const std::size_t l = at / tile, j = at % tile;
        if (column + j < n && l < steps) shared.b[l][j] = b[(first + l) * n + column + j];
      }
    } else {
      // A thread's rows and columns lie 16 apart, so that neighbouring threads read and write neighbours.
      const std::size_t i0 = thread.index / 16, j0 = thread.index % 16;
      for (std::size_t l = 0; l < steps; ++l)
        for (std::size_t i = 0; i < each; ++i)
          for (std::size_t j = 0; j < each; ++j)
            own.sum[i][j] = std::fma(shared.a[l][i0 + 16 * i], shared.b[l][j0 + 16 * j], own.sum[i][j]);
      if (round + 1 != rounds()) return;
      for (std::size_t i = 0; i < each; ++i)
        for (std::size_t j = 0; j < each; ++j) {
          const std::size_t r = row + i0 + 16 * i, s = column + j0 + 16 * j;
          const Real sum = own.sum[i][j];
          if (r < m && s < n) c[r * n + s] = sum != sum ? std::numeric_limits<Real>::quiet_NaN() : sum;
        }
    }
  }
};

}  // namespace halfulp::cuda
