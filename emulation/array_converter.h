#pragma once
#include <span>

#include "emulation/block_scales.h"
#include "emulation/random_bits.h"

namespace halfulp {

/// Whole arrays of floats in one format, at the speed of memory where lanes serve: fake-quantised, encoded to packed codes,
/// decoded. The same numbers as quantize() and dequantize() of a tensor of these elements as one row.
class ArrayConverter {
 public:
  /// errors: throws Error for blocks of several rows or whole tensors, scales drawn at random, and numbers beyond double.
  ArrayConverter(const BlockFormat& format, Rounding rounding, const SpecialValues& special,
                 const LaneKernels& kernels = lane_kernels());

  /// Whether lanes serve the elements; if not everything is done a number at a time.
  bool on_lanes() const noexcept {
    return format_.has_scale() ? elements_.scales_on_lanes() : elements_.on_lanes();
  }

  /// out[i] = what x[i] becomes; out may be x.
  /// in:     x whole blocks, but for the last; element 0 is element `first` of the tensor whose random bits are drawn
  ///         (from `random`, which a stochastic rounding needs).
  /// errors: throws Error if the rounding is stochastic and random is null, or sizes differ
  void values(std::span<const float> x, std::span<float> out, TensorMultiplier t, const RandomStream* random,
              std::uint64_t first);

  /// Packed codes of x, and of its blocks' scales (null for a format without).
  /// in: as values(); codes of packed_bytes(element, x.size()) bytes, scales likewise
  void encode(std::span<const float> x, std::uint8_t* codes, std::uint8_t* scales, TensorMultiplier t,
              const RandomStream* random, std::uint64_t first);

  /// The way back.
  void decode(const std::uint8_t* codes, const std::uint8_t* scales, TensorMultiplier t,
              std::span<float> out);

 private:
  void convert(std::span<const float> x, float* out, std::uint8_t* codes, std::uint8_t* scales,
               TensorMultiplier t, const RandomStream* random, std::uint64_t first);
  /// Consecutive elements that are handled at once: whole blocks, but for the array's last.
  struct Piece {
    std::span<const float> x;
    std::size_t begin;             ///< element of the array
    float* out;                    ///< for the piece's own elements; null where no values are wanted
    std::uint8_t *codes, *scales;  ///< of the whole array; null where not wanted
  };
  void convert_on_lanes(const Piece& piece, const RunScales& scales) const noexcept;
  void convert_blocks(const Piece& piece, TensorMultiplier t);
  void convert_single(const Piece& piece, std::size_t at, std::span<const float> x, TensorMultiplier t);

  BlockFormat format_;
  LaneConverter elements_;
  Converter converter_;
  std::size_t block_, chunk_;  // elements of a block (1 without scales), and of what is handled at once
  BlockScales scales_;
  std::vector<std::uint32_t> random_, codes_;  // random_: of the piece at hand
  std::vector<float> kept_;
};

}  // namespace halfulp
