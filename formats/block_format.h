#pragma once
#include <cstddef>
#include <string_view>

#include "formats/scalar_format.h"

namespace halfulp {

/// How the scale of a block is chosen from the largest magnitude in it (amax). E8M0 scales are powers of two,
/// and with em = exponent of the element's largest number and M that number:
///   ocp_floor  2^(floor(log2 amax) - em)        OCP MX v1.0, 6.3: the top of the last binade saturates
///   rceil      2^ceil(log2(amax / M))           the smallest power of two that saturates nothing
///   amax       scale-format nearest_even of amax / M (of (amax / M) / t with a tensor scale t), saturating
/// A scale underflows to the smallest scale (E8M0) or to zero, and saturates at the largest.
enum class ScaleRule : std::uint8_t { none, ocp_floor, rceil, amax };

constexpr std::string_view name_of(ScaleRule rule) noexcept {
  switch (rule) {
    case ScaleRule::none:
      return "none";
    case ScaleRule::ocp_floor:
      return "ocp_floor";
    case ScaleRule::rceil:
      return "rceil";
    case ScaleRule::amax:
      return "amax";
  }
  return "";
}

/// Along what a block is cut.
enum class BlockAxis : std::uint8_t {
  element,    ///< no blocks: a scalar format
  last,       ///< `length` consecutive elements of a row; the last block of a row may be short
  flattened,  ///< `length` consecutive elements of the whole tensor, row-major; the last block may be short
  tensor,     ///< the whole tensor is one block
};

struct BlockShape {
  BlockAxis axis;
  std::size_t length;  ///< 1 for element, 0 for tensor

  friend constexpr bool operator==(const BlockShape&, const BlockShape&) = default;
};

/// Elements that share a scale. value = element * scale, or (element * scale) * tensor scale rounded to fp32.
struct BlockFormat {
  ScalarFormat element;
  BlockShape shape;
  ScalarFormat scale;  ///< e8m0, ue4m3, fp32; equal to `element` and unused without a scale
  ScaleRule rule;
  bool tensor_scale;  ///< an additional fp32 scale of the whole tensor (NVFP4)

  friend constexpr bool operator==(const BlockFormat&, const BlockFormat&) = default;

  HALFULP_HD constexpr bool has_scale() const noexcept { return shape.axis != BlockAxis::element; }

  /// Length of a whole block in a tensor of `size` elements.
  HALFULP_HD constexpr std::size_t block_length(std::size_t size) const noexcept {
    return shape.axis == BlockAxis::tensor ? size : shape.length;
  }
};

/// A scalar format as a block of length 1 without a scale.
HALFULP_HD constexpr BlockFormat unscaled(const ScalarFormat& f) noexcept {
  return {f, {BlockAxis::element, 1}, f, ScaleRule::none, false};
}

}  // namespace halfulp
