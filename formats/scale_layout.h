#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/error.h"

namespace halfulp {

// Scales in the order in which the block-scaled matrix products of cuBLAS and CUTLASS read them: the matrix
// of scale bytes (a row for each row of the operand, a column for each block of 16 or 32 along it) is padded
// to tiles of 128 x 4, and these follow each other row-major, 512 bytes each. Inside a tile, row r and column
// c stand at
//   (r % 32) 16 + (r / 32) 4 + c,
// the layout ((32, 4), (V, 4)) : ((16, 4), (0, 1)) of CUTLASS: 16 neighbouring bytes are the four columns of
// rows r, r + 32, r + 64 and r + 96. A grouped product has such a layout of its own for every group.

inline constexpr std::size_t scale_tile_rows = 128, scale_tile_columns = 4;
inline constexpr std::size_t scale_tile_bytes = scale_tile_rows * scale_tile_columns;

/// Tiles side by side in a matrix of so many columns, ceil(columns / 4).
constexpr std::size_t scale_tiles_across(std::size_t columns) noexcept {
  return columns / scale_tile_columns + (columns % scale_tile_columns != 0 ? 1 : 0);
}

/// Bytes of a swizzled rows x columns matrix of scales, padding included.
/// in: rows, columns below 2^31.
constexpr std::size_t swizzled_scale_bytes(std::size_t rows, std::size_t columns) noexcept {
  return (rows + scale_tile_rows - 1) / scale_tile_rows * scale_tiles_across(columns) * scale_tile_bytes;
}

/// Where the scale of (row, column) stands in the swizzled bytes of a matrix of so many columns.
/// in:  row, columns below 2^31; column < columns, or below the next multiple of 4 for padding.
/// out: a byte offset; each one below swizzled_scale_bytes() belongs to exactly one position of the padded
///      matrix.
constexpr std::size_t swizzled_scale_offset(std::size_t row, std::size_t column,
                                            std::size_t columns) noexcept {
  const std::size_t tile = row / scale_tile_rows * scale_tiles_across(columns) + column / scale_tile_columns;
  return tile * scale_tile_bytes + row % 32 * 16 + row % scale_tile_rows / 32 * 4 +
         column % scale_tile_columns;
}

namespace scale_layout {

inline void require_bytes(const std::string& where, std::size_t rows, std::size_t columns, std::size_t given,
                          std::size_t expected) {
  const std::string matrix = std::to_string(rows) + " x " + std::to_string(columns) + " scales";
  if (rows >> 31 != 0 || columns >> 31 != 0)
    throw Error(where, "matrix is too large", matrix, "fewer than 2147483648 rows and columns");
  if (given != expected)
    throw Error(where, "wrong number of bytes for " + matrix, std::to_string(given),
                std::to_string(expected));
}

}  // namespace scale_layout

/// Row-major scale bytes in swizzled order. The padding has to be said, because kernels that read whole tiles
/// multiply by it: 0 (torchao's) means 2^-127 as E8M0 and 0 as UE4M3; 0x7f means 1 and NaN.
/// in:     scales of size rows * columns.
/// out:    swizzled_scale_bytes(rows, columns) bytes.
/// errors: throws Error on any other number of bytes, and on 2^31 rows or columns and more.
inline std::vector<std::uint8_t> swizzle_scales(std::span<const std::uint8_t> scales, std::size_t rows,
                                                std::size_t columns, std::uint8_t padding) {
  scale_layout::require_bytes("swizzling scales", rows, columns, scales.size(), rows * columns);
  std::vector<std::uint8_t> swizzled(swizzled_scale_bytes(rows, columns), padding);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      swizzled[swizzled_scale_offset(row, column, columns)] = scales[row * columns + column];
  return swizzled;
}

/// The row-major scale bytes that swizzle_scales() was given; what stands in the padding is not looked at.
/// in:     swizzled of size swizzled_scale_bytes(rows, columns).
/// out:    rows * columns bytes.
/// errors: throws Error on any other number of bytes, and on 2^31 rows or columns and more.
inline std::vector<std::uint8_t> unswizzle_scales(std::span<const std::uint8_t> swizzled, std::size_t rows,
                                                  std::size_t columns) {
  scale_layout::require_bytes("unswizzling scales", rows, columns, swizzled.size(),
                              swizzled_scale_bytes(rows, columns));
  std::vector<std::uint8_t> scales(rows * columns);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      scales[row * columns + column] = swizzled[swizzled_scale_offset(row, column, columns)];
  return scales;
}

}  // namespace halfulp
