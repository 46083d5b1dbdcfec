#include "emulation/tensor.h"

#include <algorithm>

#include "formats/error.h"

namespace halfulp {
namespace {

std::size_t product(const std::vector<std::size_t>& shape) {
  std::size_t size = shape.empty() ? 0 : 1;
  for (const std::size_t extent : shape) {
    if (size != 0 && extent > static_cast<std::size_t>(-1) / size)
      throw Error("tensor", "too many elements", std::to_string(extent) + " as an extent",
                  "a size below 2^64");
    size *= extent;
  }
  if (size == 0) throw Error("tensor", "empty tensor", "a shape with no elements", "at least one element");
  return size;
}

}  // namespace

Tensor::Tensor(const BlockFormat& format, std::vector<std::size_t> shape)
    : format_(format), shape_(std::move(shape)), size_(product(shape_)) {
  const bool tiled = format.shape.axis == BlockAxis::tile;
  row_stride_ = tiled ? row_length() : size_;
  const std::size_t rows = size_ / row_stride_;
  band_ = !tiled ? 1 : format.shape.rows == 0 ? rows : std::min(format.shape.rows, rows);
  columns_ = format.shape.columns == 0 ? row_stride_ : std::min(format.shape.columns, row_stride_);
  blocks_per_band_ = (row_stride_ + columns_ - 1) / columns_;
  block_count_ = blocks_per_band_ * ((rows + band_ - 1) / band_);
  if (format.tensor_scale == TensorScale::row && (!tiled || format.shape.rows != 1))
    throw Error("tensor", "a scale per row above blocks that span rows", "a block shape of several rows",
                "blocks of one row");
  codes_.resize(packed_bytes(format.element, size_));
  if (format.has_scale()) scales_.resize(packed_bytes(format.scale, block_count_));
  tensor_scales_.assign(format.tensor_scale == TensorScale::row ? rows : 1, TensorMultiplier{1.0f, 1.0f});
}

std::size_t Tensor::block_of(std::size_t element) const noexcept {
  const std::size_t row = element / row_stride_, column = element % row_stride_;
  return row / band_ * blocks_per_band_ + column / columns_;
}

std::size_t Tensor::run_end(std::size_t element) const noexcept {
  const std::size_t column = element % row_stride_;
  return element - column + std::min((column / columns_ + 1) * columns_, row_stride_);
}

Tensor::Region Tensor::region_of(std::size_t block) const noexcept {
  const std::size_t begin = first_of(block);
  const std::size_t row = begin / row_stride_, column = begin % row_stride_;
  return {begin, std::min(band_, size_ / row_stride_ - row), std::min(columns_, row_stride_ - column)};
}

}  // namespace halfulp
