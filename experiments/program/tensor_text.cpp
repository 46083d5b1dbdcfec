#include "experiments/program/tensor_text.h"

#include <cmath>
#include <string>

#include "experiments/program/arguments.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {

nlohmann::ordered_json json_real(double value) {
  if (std::isfinite(value)) return value;
  return real_text(value);
}

std::string number_text(const Dyadic& number) {
  const bool is_double = number.kind != NumberClass::finite || number.significand == 0 ||
                         (leading_exponent(number) <= 1023 && number.exponent >= -1074);
  if (is_double) return real_text(double_of(number));
  return std::string(number.negative ? "-" : "") + std::to_string(number.significand) + "*2^" +
         std::to_string(number.exponent);
}

std::string number_text(const Tensor& tensor, std::size_t element) {
  const ScalarFormat& f = tensor.format().element;
  return f.has_double_view() ? real_text(tensor.value(element))
                             : number_text(decode_dyadic(f, tensor.code(element)));
}

float read_tensor_scale(const std::string& text, const BlockFormat& format) {
  if (!format.has_tensor_scale())
    throw Error("--tensor-scale", to_spec(format) + " has no tensor scale", text,
                "a format with one, such as nvfp4");
  const double wanted = read_real(text, "--tensor-scale");
  // Beyond 2^128 the conversion itself would be undefined.
  const float scale = std::fabs(wanted) < 0x1p128 ? static_cast<float>(wanted) : 0.0f;
  if (!(scale > 0) || std::isinf(scale))
    throw Error("--tensor-scale", "not a positive fp32 number", real_text(wanted),
                "0x1p-149 to 0x1.fffffep127");
  return scale;
}

}  // namespace halfulp
