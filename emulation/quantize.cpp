#include "emulation/quantize.h"

#include "emulation/reduce.h"
#include "formats/error.h"

namespace halfulp {

Tensor quantize(std::span<const double> values, const std::vector<std::size_t>& shape,
                const BlockFormat& format, Rounding rounding, const SpecialValues& special,
                const ElementRandom& random, std::optional<float> tensor_scale) {
  Tensor tensor(format, shape);
  if (tensor.size() != values.size())
    throw Error("quantize", "shape and values differ", std::to_string(values.size()) + " values",
                std::to_string(tensor.size()) + " by the shape");
  if (tensor_scale && !format.tensor_scale)
    throw Error("quantize", "a tensor scale for a format without one", std::to_string(*tensor_scale), "none");
  if (format.tensor_scale)
    tensor.set_tensor_scale(tensor_scale ? *tensor_scale : choose_tensor_scale(format, amax(values)));

  const Converter converter(format.element, rounding, special);
  for (std::size_t block = 0; block < tensor.block_count(); ++block) {
    const std::size_t begin = tensor.block_begin(block), end = tensor.block_end(block);
    if (format.has_scale())
      tensor.set_scale_code(
          block, choose_scale(format, amax(values.subspan(begin, end - begin)), tensor.tensor_scale()));
    const double multiplier = tensor.multiplier(block);
    for (std::size_t i = begin; i < end; ++i) {
      const double element = element_in_block(values[i], format.has_scale(), multiplier, converter,
                                              random.bits(i, rounding.random_bits));
      tensor.set_code(i, encode(format.element, element));
    }
  }
  return tensor;
}

std::vector<double> dequantize(const Tensor& tensor) {
  std::vector<double> values(tensor.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = tensor.value(i);
  return values;
}

}  // namespace halfulp
