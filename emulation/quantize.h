#pragma once
#include <optional>
#include <span>

#include "emulation/random_bits.h"
#include "emulation/tensor.h"

namespace halfulp {

/// Random integers for the elements of a tensor: from a stream, by global element, or one value for all of
/// them (so that stochastic rounding can be enumerated).
struct ElementRandom {
  std::optional<RandomStream> stream;
  std::uint32_t fixed = 0;

  std::uint32_t bits(std::uint64_t element, int count) const noexcept {
    return stream && count > 0 ? random_bits(*stream, element, count) : fixed;
  }
  /// For the scale of a block, of which this is the first element: from the same stream for another purpose.
  std::uint32_t scale_bits(std::uint64_t first_element) const noexcept {
    if (!stream) return fixed & ((1u << scale_random_bits) - 1);
    RandomStream scales = *stream;
    scales.purpose = RandomPurpose::scale_rounding;
    return random_bits(scales, first_element, scale_random_bits);
  }
};

/// `values` in `format`, scales chosen by its rule from the values themselves, each element rounded once.
/// in:     values [product(shape)] row-major; tensor_scale: given instead of chosen, for the tensor or all rows, where
///         the format has one.
/// errors: throws Error where shape and values do not match, or the shape is empty.
Tensor quantize(std::span<const double> values, const std::vector<std::size_t>& shape,
                const BlockFormat& format, Rounding rounding, const SpecialValues& special,
                const ElementRandom& random, std::optional<float> tensor_scale);

/// The numbers that a tensor stores, exact.
/// errors: throws Error for formats with numbers beyond double.
std::vector<double> dequantize(const Tensor& tensor);

}  // namespace halfulp
