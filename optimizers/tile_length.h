#pragma once
#include <numeric>

#include "optimizers/plan.h"

namespace halfulp {

/// Smallest number of elements after which the blocks of this slot and its rows are in step again, with codes
/// and scale codes on byte boundaries, so that no two tiles write one byte.
inline std::size_t block_period(const SlotPlan& plan, std::size_t row_length,
                                std::size_t row_count) noexcept {
  constexpr std::size_t bytes = 8;
  if (!plan.format) return bytes;
  const BlockShape& shape = plan.format->shape;
  const auto scale_bits = static_cast<std::size_t>(storage_bits(plan.format->scale));
  const std::size_t scales = bytes / std::gcd(bytes, scale_bits);  // blocks whose scales fill whole bytes
  switch (shape.axis) {
    case BlockAxis::element:
    case BlockAxis::tensor:
      return bytes;
    case BlockAxis::flattened:
      return std::lcm(shape.columns * scales, bytes);
    case BlockAxis::tile: {
      const bool one_row = shape.rows == 1 && plan.format->tensor_scale != TensorScale::row;
      if (one_row && shape.columns != 0 && row_length % shape.columns == 0)
        return std::lcm(shape.columns * scales, bytes);
      // Whole rows, or whole bands of rows; all rows where a block takes a whole column.
      const std::size_t rows = shape.rows == 0 ? std::max<std::size_t>(row_count, 1) : shape.rows;
      return std::lcm(rows * row_length * scales, bytes);
    }
  }
  return bytes;
}

}  // namespace halfulp
