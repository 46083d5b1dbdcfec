#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/block.h"
#include "formats/packing.h"

namespace halfulp {

/// A tensor in packed storage: element codes, scale codes, one fp32 tensor scale. The bytes are the truth;
/// numbers are views of them. A scalar format has no scales.
class Tensor {
 public:
  /// All codes and scales zero.
  /// errors: throws Error on a shape without elements.
  Tensor(const BlockFormat& format, std::vector<std::size_t> shape);

  const BlockFormat& format() const noexcept { return format_; }
  const std::vector<std::size_t>& shape() const noexcept { return shape_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t row_length() const noexcept { return shape_.back(); }

  /// Blocks are numbered in element order; block b covers [block_begin(b), block_end(b)), short at the end of
  /// a row (last axis) or of the tensor (flattened).
  std::size_t block_count() const noexcept { return block_count_; }
  std::size_t block_of(std::size_t element) const noexcept;
  std::size_t block_begin(std::size_t block) const noexcept;
  std::size_t block_end(std::size_t block) const noexcept;

  std::uint32_t code(std::size_t element) const noexcept {
    return load_code(format_.element, codes_.data(), element);
  }
  void set_code(std::size_t element, std::uint32_t code) noexcept {
    store_code(format_.element, codes_.data(), element, code);
  }
  /// Codes from element `first` on, as many as `out` or `codes` has.
  void load_codes(std::size_t first, std::span<std::uint32_t> out) const noexcept {
    halfulp::load_codes(format_.element, codes_.data(), first, out);
  }
  void store_codes(std::size_t first, std::span<const std::uint32_t> codes) noexcept {
    halfulp::store_codes(format_.element, codes_.data(), first, codes);
  }
  std::uint32_t scale_code(std::size_t block) const noexcept {
    return format_.has_scale() ? load_code(format_.scale, scales_.data(), block) : 0;
  }
  void set_scale_code(std::size_t block, std::uint32_t code) noexcept {
    store_code(format_.scale, scales_.data(), block, code);
  }
  float tensor_scale() const noexcept { return tensor_scale_; }
  void set_tensor_scale(float scale) noexcept { tensor_scale_ = scale; }

  /// Number that elements of the block are multiplied by: exact in double; 1 without a scale.
  double multiplier(std::size_t block) const noexcept {
    return scale_value(format_, scale_code(block), tensor_scale_);
  }
  double value(std::size_t element) const noexcept {
    return decode_in_block(format_, code(element), scale_code(block_of(element)), tensor_scale_);
  }

  /// Bytes of codes and scales, the tensor scale included where there is one.
  std::size_t stored_bytes() const noexcept {
    return codes_.size() + scales_.size() + (format_.tensor_scale ? sizeof tensor_scale_ : 0);
  }
  const std::vector<std::uint8_t>& code_bytes() const noexcept { return codes_; }
  const std::vector<std::uint8_t>& scale_bytes() const noexcept { return scales_; }

 private:
  BlockFormat format_;
  std::vector<std::size_t> shape_;
  std::size_t size_, block_length_, blocks_per_row_, block_count_;
  std::vector<std::uint8_t> codes_, scales_;
  float tensor_scale_ = 1.0f;
};

}  // namespace halfulp
