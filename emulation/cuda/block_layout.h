#pragma once
#include <string>

#include "emulation/cuda/float_converter.h"
#include "formats/error.h"
#include "formats/packing.h"

namespace halfulp::cuda {

/// Elements that one block of threads stores: eight, hence whole bytes of every width of code, for each thread.
inline constexpr unsigned tile_threads = 128;
inline constexpr std::size_t tile_elements = tile_threads * 8;

/// A scalar or block format as the kernels store it: packed codes of consecutive elements, a scale code for every
/// `length` of them, one second scale for the tensor.
struct StoredFormat {
  BlockFormat format;
  std::size_t length;       ///< elements under one scale; 8 without scales
  TensorMultiplier second;  ///< second scale of the tensor; 1 without one
};

/// errors: throws Error for what the kernels do not serve: tables, numbers that are no floats; blocks that are no runs of
///         8, 16, ... 1024 elements, rows that end inside a block, a second scale for every row.
inline StoredFormat stored_format(const BlockFormat& f, std::size_t row_length, std::size_t row_count,
                                  TensorMultiplier second = 1.0f) {
  const auto refuse = [](const char* what, const std::string& given, const char* allowed) -> void {
    throw Error("format on the device", what, given, allowed);
  };
  if (!has_float_view(f.element))
    refuse("a format that the kernels do not serve", "a table, or numbers beyond float's range",
           "formats whose every number is a float");
  if (!f.has_scale()) return {f, 8, 1.0f};
  if (f.tensor_scale == TensorScale::row)
    refuse("a format that the kernels do not serve", "a second scale for every row",
           "one for the tensor, or none");
  const std::size_t columns = f.shape.columns;
  const bool is_run =
      f.shape.axis == BlockAxis::flattened || (f.shape.axis == BlockAxis::tile && f.shape.rows == 1);
  if (!is_run || columns < 8 || tile_elements % columns != 0 || storage_bits(f.scale) % 8 != 0)
    refuse("a block shape that the kernels do not serve",
           std::to_string(f.shape.rows) + " rows, " + std::to_string(columns) + " columns",
           "runs of 8, 16, 32, ... 1024 elements");
  if (f.shape.axis == BlockAxis::tile && row_count > 1 && row_length % columns != 0)
    refuse("rows end inside a block", std::to_string(row_length) + " columns", "a multiple of the block");
  return {f, columns, second};
}

}  // namespace halfulp::cuda
