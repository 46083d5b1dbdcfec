#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/block_format.h"
#include "formats/dyadic.h"

namespace halfulp {

/// The numbers at the ends of a format, exact in every format.
struct DyadicEnds {
  Dyadic max, lowest, min_positive;
  std::optional<Dyadic> min_normal, min_subnormal;  ///< where the format has such
  std::uint32_t max_code;
};
DyadicEnds ends_of(const ScalarFormat& f);

/// The smallest number below the normal ones; nothing in a format without such numbers.
std::string subnormal_text(const ScalarFormat& f);

std::string infinity_text(const ScalarFormat& f);  ///< none, ieee or top_code
std::string nan_text(const ScalarFormat& f);       ///< none, ieee, all_ones or negative_zero
std::string zeros_text(const ScalarFormat& f);     ///< "+0,-0", "+0" or "none"

/// All NaN codes as ranges: "0x7d-0x7f,0xfd-0xff"; "none".
std::string nan_codes_text(const ScalarFormat& f);

/// A code's fields, most significant first: sign_exponent_fraction, empty ones left out.
std::string fields_text(const ScalarFormat& f, std::uint32_t code);

std::string shape_text(const BlockShape& shape);           ///< "1x32 along the last axis", ...
std::string tensor_scale_text(const BlockFormat& format);  ///< "-", "fp32" or "fp32 a row"

/// Bits that an element takes, its share of the block's scale included; `per_tensor`: those that do not grow
/// with it.
struct StorageCost {
  double per_element;
  int per_tensor;
};
StorageCost storage_cost(const BlockFormat& format);
std::string cost_text(const BlockFormat& format);

/// Other names of a catalog format.
std::vector<std::string> aliases_of(std::string_view name);

/// All properties of a format, for scripts.
nlohmann::ordered_json format_json(const std::string& name, const BlockFormat& format);

}  // namespace halfulp
