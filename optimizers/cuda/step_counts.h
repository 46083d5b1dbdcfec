#pragma once
#include <cstdint>

#include "emulation/cuda/kernel.h"

namespace halfulp::cuda {

/// What a step counted of one weight slot.
struct StepCounts {
  std::uint64_t elements, moving;  ///< all; those with an update that is not zero
  std::uint64_t
      unchanged;  ///< of the moving ones: stored as the old number would have been (after == unmoved)
  std::uint64_t zeros,
      saturated;  ///< stored as zero; stored as the largest of their sign though more was wanted

  friend bool operator==(const StepCounts&, const StepCounts&) = default;
};
inline constexpr std::size_t step_count_kinds = 4;  ///< all but `elements`, which nobody has to count

/// out[k] = sum over rows of partial[row][k], integers, hence the same in any order: one block, a thread for every 256th
/// row, then a tree of which each level is a phase.
struct CountSumKernel : PlainKernel {
  static constexpr unsigned threads = 256;
  static constexpr int phases = 9;
  static constexpr std::size_t most_columns = 2 * step_count_kinds;

  struct Shared {
    std::uint64_t sum[threads][most_columns];
  };

  const std::uint32_t* partial;  ///< [rows x columns]
  std::uint64_t* out;            ///< [columns]
  std::size_t rows, columns;     ///< columns <= most_columns

  std::size_t blocks() const noexcept { return 1; }

  template <int phase>
  HALFULP_HD void run(Block, Thread thread, std::size_t, Shared& shared, Registers&) const noexcept {
    std::uint64_t* own = shared.sum[thread.index];
    if constexpr (phase == 0) {
      for (std::size_t k = 0; k < columns; ++k) own[k] = 0;
      for (std::size_t row = thread.index; row < rows; row += threads)
        for (std::size_t k = 0; k < columns; ++k) own[k] += partial[row * columns + k];
    } else {
      constexpr unsigned half = threads >> phase;
      if (thread.index >= half) return;
      for (std::size_t k = 0; k < columns; ++k) own[k] += shared.sum[thread.index + half][k];
      if (phase == phases - 1)
        for (std::size_t k = 0; k < columns; ++k) out[k] = own[k];
    }
  }
};

}  // namespace halfulp::cuda
