#pragma once
#include <span>
#include <vector>

#include "formats/block.h"
#include "formats/conformance/conversion.h"

namespace halfulp {

/// A converted block.
struct BlockCodes {
  std::uint32_t scale;
  std::vector<std::uint32_t> elements;

  friend bool operator==(const BlockCodes&, const BlockCodes&) = default;
};

/// What the conformance kit puts to the test of a block format.
struct BlockConversion {
  std::string name;
  Conversion element;  ///< the element format by itself

  /// Scale and elements of one block, which is full or the last, short one of its row.
  /// t: the second scale where the format has one; random: of every element; scale_random: in [0,
  /// 2^scale_random_bits), for stochastic exponents.
  std::function<BlockCodes(std::span<const double> block, const TensorMultiplier& t, Rounding rounding,
                           const SpecialValues& special, std::uint32_t random, std::uint32_t scale_random)>
      convert;

  /// Number of an element under a scale.
  std::function<double(std::uint32_t code, std::uint32_t scale, const TensorMultiplier& t)> decode;

  /// Second scale of a tensor or row with this largest magnitude; unused in formats without one.
  std::function<TensorMultiplier(double amax)> tensor_scale = {};
};

/// This library's conversions to and from a block format.
/// in: f.has_scale()
BlockConversion block_conversion_of(const BlockFormat& f, const std::string& name);

}  // namespace halfulp
