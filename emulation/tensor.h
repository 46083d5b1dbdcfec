#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/block.h"
#include "formats/packing.h"

namespace halfulp {

/// A tensor in packed storage: element codes, scale codes, fp32 scales of the tensor or its rows. The bytes are the
/// truth; numbers are views of them. A scalar format has no scales.
class Tensor {
 public:
  /// All codes and scales zero.
  /// errors: throws Error on a shape without elements, and on scales per row above blocks that span rows.
  Tensor(const BlockFormat& format, std::vector<std::size_t> shape);

  const BlockFormat& format() const noexcept { return format_; }
  const std::vector<std::size_t>& shape() const noexcept { return shape_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t row_length() const noexcept { return shape_.back(); }

  /// Blocks are numbered row-major by their first element; those at the end of a row, column or tensor may be short.
  /// A block consists of runs of consecutive elements: one, or as many as a tile has rows.
  std::size_t block_count() const noexcept { return block_count_; }
  std::size_t block_of(std::size_t element) const noexcept;
  /// End of the run that the element lies in.
  std::size_t run_end(std::size_t element) const noexcept;
  /// Whether runs in element order are those of blocks 0, 1, 2, ...: blocks of one row.
  bool has_blocks_in_order() const noexcept { return band_ == 1; }
  /// Calls f(begin, end) for every run of a block, in element order.
  template <class F>
  void for_each_run(std::size_t block, F&& f) const {
    const Region region = region_of(block);
    for (std::size_t row = 0; row < region.rows; ++row) {
      const std::size_t begin = region.begin + row * row_stride_;
      f(begin, begin + region.columns);
    }
  }

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
  /// How many second scales the format has here: none, one, or one for every row.
  std::size_t tensor_scale_count() const noexcept {
    return format_.has_tensor_scale() ? tensor_scales_.size() : 0;
  }
  /// Which of them an element has (0 without one).
  std::size_t tensor_scale_index(std::size_t element) const noexcept {
    return format_.tensor_scale == TensorScale::row ? element / row_length() : 0;
  }
  /// The second scale; {1, 1} without one.
  const TensorMultiplier& tensor_scale(std::size_t index) const noexcept { return tensor_scales_[index]; }
  void set_tensor_scale(std::size_t index, const TensorMultiplier& scale) noexcept {
    tensor_scales_[index] = scale;
  }
  const TensorMultiplier& tensor_scale_of_block(std::size_t block) const noexcept {
    return tensor_scales_[tensor_scale_index(first_of(block))];
  }

  /// Number that elements of the block are multiplied by: exact in double; 1 without a scale.
  double multiplier(std::size_t block) const noexcept {
    return scale_value(format_, scale_code(block), tensor_scale_of_block(block));
  }
  double value(std::size_t element) const noexcept {
    return decode_in_block(format_, code(element), scale_code(block_of(element)),
                           tensor_scales_[tensor_scale_index(element)]);
  }

  /// Bytes of codes and scales, second scales included.
  std::size_t stored_bytes() const noexcept {
    return codes_.size() + scales_.size() + tensor_scale_count() * sizeof(float);
  }
  const std::vector<std::uint8_t>& code_bytes() const noexcept { return codes_; }
  std::uint8_t* code_data() noexcept { return codes_.data(); }
  const std::vector<std::uint8_t>& scale_bytes() const noexcept { return scales_; }

 private:
  struct Region {
    std::size_t begin, rows, columns;
  };
  Region region_of(std::size_t block) const noexcept;
  std::size_t first_of(std::size_t block) const noexcept {
    return block / blocks_per_band_ * band_ * row_stride_ + block % blocks_per_band_ * columns_;
  }

  BlockFormat format_;
  std::vector<std::size_t> shape_;
  std::size_t size_;
  // The tensor as a matrix of rows of row_stride_ elements, cut into bands of band_ rows and these into blocks of
  // columns_ columns; flattened formats see one row.
  std::size_t row_stride_, band_, columns_, blocks_per_band_, block_count_;
  std::vector<std::uint8_t> codes_, scales_;
  std::vector<TensorMultiplier> tensor_scales_;
};

}  // namespace halfulp
