#pragma once
#include <cstddef>

#include "formats/scalar_format.h"
#include "formats/scale_rule.h"

namespace halfulp {

/// Along what a block is cut.
enum class BlockAxis : std::uint8_t {
  element,  ///< no blocks: a scalar format
  tile,     ///< rows x columns of the matrix that the last axis makes the columns of; edge tiles are smaller
  flattened,  ///< `columns` consecutive elements of the whole tensor, row-major; the last block may be short
  tensor,     ///< the whole tensor is one block
};

/// 1x32 cuts every row into blocks of 32, 32x1 every column, 16x16 and 32x32 are square tiles.
struct BlockShape {
  BlockAxis axis;
  std::size_t columns;  ///< of a tile (0: the whole row) or of a flattened block; 1 for element, 0 for tensor
  std::size_t rows = 1;  ///< of a tile; 0: the whole column

  friend constexpr bool operator==(const BlockShape&, const BlockShape&) = default;
};

/// An additional fp32 scale above the blocks' own (NVFP4).
enum class TensorScale : std::uint8_t { none, tensor, row };

/// Elements that share a scale. value = element * scale, or (element * scale) * tensor scale rounded to fp32.
struct BlockFormat {
  ScalarFormat element;
  BlockShape shape;
  ScalarFormat scale;  ///< e8m0, ue4m3, fp32; equal to `element` and unused without a scale
  ScaleRule rule;
  TensorScale tensor_scale;
  ScaleConventions conventions = {};

  friend constexpr bool operator==(const BlockFormat&, const BlockFormat&) = default;

  HALFULP_HD constexpr bool has_scale() const noexcept { return shape.axis != BlockAxis::element; }
  HALFULP_HD constexpr bool has_tensor_scale() const noexcept { return tensor_scale != TensorScale::none; }
};

/// A scalar format as a block of length 1 without a scale.
HALFULP_HD constexpr BlockFormat unscaled(const ScalarFormat& f) noexcept {
  return {f, {BlockAxis::element, 1}, f, ScaleRule::none, TensorScale::none};
}

}  // namespace halfulp
