#pragma once
#include "emulation/cuda/kernel.h"
#include "emulation/reduce.h"

namespace halfulp::cuda {

/// x[i], and its square rounded before it is added: what sum() and sum_of_squares() add up.
struct Identity {
  template <class Real>
  HALFULP_HD Real operator()(Real x) const noexcept {
    return x;
  }
};
struct Square {
  template <class Real>
  HALFULP_HD Real operator()(Real x) const noexcept {
    return x * x;
  }
};

/// out[r] = sum over columns of term(x[r][i]) in the order of reduce.h: 32 lanes, lane j adding the columns j, j + 32, ...
/// ascending, then the tree 16, 8, 4, 2, 1. A lane is a thread, a block has eight rows, every level of the tree is a phase.
template <class Real, class Term = Identity>
struct RowSumKernel : PlainKernel {
  static constexpr std::size_t lanes = halfulp::detail::reduction_lanes, rows_per_block = 8;
  static constexpr unsigned threads = lanes * rows_per_block;
  static constexpr int phases = 6;

  struct Shared {
    Real lane[rows_per_block][lanes];
  };

  const Real* x;  ///< [rows x columns], row-major
  Real* out;      ///< [rows]
  std::size_t rows, columns;
  Term term;

  std::size_t blocks() const noexcept { return blocks_for(rows, rows_per_block); }

  template <int phase>
  HALFULP_HD void run(Block block, Thread thread, std::size_t, Shared& shared,
                      PlainKernel::Registers&) const noexcept {
    const std::size_t row_here = thread.index / lanes, j = thread.index % lanes;
    const std::size_t row = block.index * rows_per_block + row_here;
    if (row >= rows) return;
    Real* lane = shared.lane[row_here];
    if constexpr (phase == 0) {
      Real sum = 0;
      for (std::size_t i = j; i < columns; i += lanes) sum += term(x[row * columns + i]);
      lane[j] = sum;
    } else {
      constexpr std::size_t half = lanes >> phase;
      if (j < half) lane[j] += lane[j + half];
      if (phase == phases - 1 && j == 0) out[row] = lane[0];
    }
  }
};

}  // namespace halfulp::cuda
