#pragma once
#include <optional>
#include <span>
#include <vector>

#include "emulation/lanes/lane_converter.h"
#include "formats/block.h"

namespace halfulp {

/// Scales of many consecutive blocks of floats at once: for each its code, and the numbers that lanes divide by. The codes
/// are those of choose_block(), found at the speed of lanes for the rules of the named formats.
class BlockScales {
 public:
  /// in: format has scales, and a double view
  BlockScales(const BlockFormat& format, const LaneKernels& kernels);

  /// Chooses the scales of the blocks of x, the last of which may be short.
  void choose(std::span<const float> x, std::size_t block_length, TensorMultiplier t);
  /// Takes the scales of blocks that are stored, to multiply with: codes() are unknown.
  void read(std::span<const std::uint32_t> codes, TensorMultiplier t);

  std::span<const std::uint32_t> codes() const noexcept { return codes_; }
  RunScales scales(std::size_t block_length) const noexcept {
    return {high_.data(), are_exact_ ? nullptr : low_.data(), inverse_.data(), block_length};
  }
  /// The blocks that lanes do not serve: those with NaN or infinity, with scales outside [2^-60, 2^60], or of conventions
  /// that divide otherwise. They have no code yet.
  std::span<const std::size_t> singles() const noexcept { return singles_; }

 private:
  /// How a scale is found.
  enum class Way : std::uint8_t {
    table,   ///< powers of two: the rule gives an exponent, and a table what belongs to it
    lanes,   ///< amax / M rounded to the scale format: a conversion like any other
    single,  ///< one block at a time
  };
  /// A scale's code, and what lanes divide by.
  struct Scale {
    std::uint32_t code;
    LaneScaleNumbers numbers;
    bool serves;    ///< whether lanes can divide by it
    bool is_exact;  ///< whether it is a power of two, or does not serve
  };

  Way way_for(const BlockFormat& f) const noexcept;
  Scale scale_of(std::uint32_t code, TensorMultiplier t) const noexcept;
  void resize(std::size_t blocks);
  void set(std::size_t block, const Scale& scale) {
    codes_[block] = scale.code;
    high_[block] = scale.numbers.high;
    low_[block] = scale.numbers.low;
    inverse_[block] = scale.numbers.inverse;
    are_exact_ = are_exact_ && scale.is_exact;
    if (!scale.serves) singles_.push_back(block);
  }
  void know_codes(TensorMultiplier t);
  void choose_from_table();
  bool choose_from_exponents();
  void choose_on_lanes(TensorMultiplier t);

  BlockFormat format_;
  const LaneKernels* kernels_;
  LaneConverter to_scale_;
  Way way_;
  // Of a power-of-two rule: the scale of an amax in binade b - 127 is of_binade_[b], or the next one's if its fraction is
  // large enough to carry into the exponent once carry_ is added to its bits.
  std::vector<Scale> of_binade_;
  std::uint32_t carry_ = 0;
  // Binades whose scales are successive powers of two and codes: the first, and how many.
  std::uint32_t first_regular_ = 0, regular_count_ = 0;
  // Of scale formats of at most 8 bits: the scale of each code under the tensor scale known_.
  std::vector<Scale> of_code_;
  std::optional<TensorMultiplier> known_;
  Scale zero_{};  // of blocks of zeros
  std::vector<float> amax_, high_, low_, inverse_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint32_t> codes_;
  std::vector<std::size_t> singles_;
  bool are_exact_ = false;
};

}  // namespace halfulp
