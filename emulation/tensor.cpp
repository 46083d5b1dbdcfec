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
    : format_(format),
      shape_(std::move(shape)),
      size_(product(shape_)),
      block_length_(format.block_length(size_)) {
  // Blocks along rows restart in every row; all others run through the tensor, one "row" of `size` elements.
  const std::size_t row = format.shape.axis == BlockAxis::last ? row_length() : size_;
  blocks_per_row_ = (row + block_length_ - 1) / block_length_;
  block_count_ = blocks_per_row_ * (size_ / row);
  codes_.resize(packed_bytes(format.element, size_));
  if (format.has_scale()) scales_.resize(packed_bytes(format.scale, block_count_));
}

std::size_t Tensor::block_of(std::size_t element) const noexcept {
  if (format_.shape.axis != BlockAxis::last) return element / block_length_;
  return element / row_length() * blocks_per_row_ + element % row_length() / block_length_;
}

std::size_t Tensor::block_begin(std::size_t block) const noexcept {
  if (format_.shape.axis != BlockAxis::last) return block * block_length_;
  return block / blocks_per_row_ * row_length() + block % blocks_per_row_ * block_length_;
}

std::size_t Tensor::block_end(std::size_t block) const noexcept {
  if (format_.shape.axis != BlockAxis::last) return std::min((block + 1) * block_length_, size_);
  const std::size_t row_end = (block / blocks_per_row_ + 1) * row_length();
  return std::min(block_begin(block) + block_length_, row_end);
}

}  // namespace halfulp
