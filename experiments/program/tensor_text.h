#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "emulation/tensor.h"
#include "formats/dyadic.h"

namespace halfulp {

/// A JSON number; NaN and infinities, which JSON lacks, as the strings "nan", "inf", "-inf".
nlohmann::ordered_json json_real(double value);

/// A number; beyond double's range exactly as "3*2^5000".
std::string number_text(const Dyadic& number);

/// The number that an element stores.
std::string number_text(const Tensor& tensor, std::size_t element);

/// The positive fp32 number of a --tensor-scale option (rounded to the nearest).
/// errors: throws Error if the format has no tensor scale, or the text is no positive number in fp32's range.
float read_tensor_scale(const std::string& text, const BlockFormat& format);

}  // namespace halfulp
