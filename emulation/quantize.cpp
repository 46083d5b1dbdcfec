#include "emulation/quantize.h"

#include "emulation/fp_environment.h"
#include "emulation/reduce.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {

namespace {

void choose_tensor_scales(Tensor& tensor, std::span<const double> values, std::optional<float> given) {
  const std::size_t count = tensor.tensor_scale_count(), length = count == 0 ? 0 : values.size() / count;
  for (std::size_t i = 0; i < count; ++i) {
    const auto part = values.subspan(i * length, length);
    const BlockFormat& f = tensor.format();
    tensor.set_tensor_scale(
        i, given ? TensorMultiplier(*given)
                 : choose_tensor_scale(f, amax_by_conventions(amax(part), part, f.conventions)));
  }
}

}  // namespace

Tensor quantize(std::span<const double> values, const std::vector<std::size_t>& shape,
                const BlockFormat& format, Rounding rounding, const SpecialValues& special,
                const ElementRandom& random, std::optional<float> tensor_scale) {
  Tensor tensor(format, shape);
  if (tensor.size() != values.size())
    throw Error("quantize", "shape and values differ", std::to_string(values.size()) + " values",
                std::to_string(tensor.size()) + " by the shape");
  if (tensor_scale && !format.has_tensor_scale())
    throw Error("quantize", "a tensor scale for a format without one", std::to_string(*tensor_scale), "none");
  const FpEnvironment environment;
  choose_tensor_scales(tensor, values, tensor_scale);

  const Converter converter(format.element, rounding, special);
  if (!format.has_scale()) {
    for (std::size_t i = 0; i < values.size(); ++i)
      tensor.set_code(i, converter.code(values[i], random.bits(i, rounding.random_bits)));
    return tensor;
  }
  std::vector<double> members;
  for (std::size_t block = 0; block < tensor.block_count(); ++block) {
    members.clear();
    std::size_t first = 0;
    tensor.for_each_run(block, [&](std::size_t begin, std::size_t end) {
      if (members.empty()) first = begin;
      members.insert(members.end(), values.begin() + static_cast<std::ptrdiff_t>(begin),
                     values.begin() + static_cast<std::ptrdiff_t>(end));
    });
    const std::span<const double> block_values(members);
    const BlockChoice choice = choose_block(format, block_values, amax(block_values),
                                            tensor.tensor_scale_of_block(block), random.scale_bits(first));
    tensor.set_scale_code(block, choice.scale);
    tensor.for_each_run(block, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        tensor.set_code(i, converter.code(quotient_in_block(values[i], choice.divisor),
                                          random.bits(i, rounding.random_bits)));
    });
  }
  return tensor;
}

std::vector<double> dequantize(const Tensor& tensor) {
  require_double_view(tensor.format(), "dequantize");
  std::vector<double> values(tensor.size());
  const FpEnvironment environment;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = tensor.value(i);
  return values;
}

}  // namespace halfulp
