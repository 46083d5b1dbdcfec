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
};

/// `values` in `format`, scales chosen by its rule from the values themselves, each element rounded once.
/// in:     values [product(shape)] row-major; tensor_scale: given instead of chosen, where the format has
/// one.
/// errors: throws Error where shape and values do not match, or the shape is empty.
Tensor quantize(std::span<const double> values, const std::vector<std::size_t>& shape,
                const BlockFormat& format, Rounding rounding, const SpecialValues& special,
                const ElementRandom& random, std::optional<float> tensor_scale);

/// The numbers that a tensor stores, exact.
std::vector<double> dequantize(const Tensor& tensor);

}  // namespace halfulp
