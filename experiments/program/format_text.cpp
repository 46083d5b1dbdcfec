#include "experiments/program/format_text.h"

#include <fmt/format.h>

#include "experiments/program/arguments.h"
#include "experiments/program/tensor_text.h"
#include "formats/catalog.h"
#include "formats/packing.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

bool has_subnormal_numbers(const ScalarFormat& f) {
  return f.is_fixed_point || (f.has_zero && f.has_subnormals && f.fraction_bits > 0);
}

nlohmann::ordered_json scalar_json(const std::string& name, const ScalarFormat& f) {
  nlohmann::ordered_json object{{"name", name},
                                {"kind", f.is_table()       ? "table"
                                         : f.is_fixed_point ? "fixed_point"
                                                            : "floating_point"}};
  object["bits"] = f.bits();
  object["signed"] = f.is_signed;
  if (f.is_table()) object["numbers"] = f.table_size;
  if (!f.is_fixed_point && !f.is_table()) {
    object["exponent_bits"] = f.exponent_bits;
    object["bias"] = f.bias;
  }
  if (!f.is_table()) object["fraction_bits"] = f.fraction_bits;
  const DyadicEnds ends = ends_of(f);
  const auto number = [](const std::optional<Dyadic>& x) -> nlohmann::ordered_json {
    if (!x) return nullptr;
    const bool is_double = x->significand == 0 || (leading_exponent(*x) <= 1023 && x->exponent >= -1074);
    return is_double ? json_real(double_of(*x)) : nlohmann::ordered_json(number_text(*x));
  };
  object["max"] = number(ends.max);
  object["max_code"] = ends.max_code;
  object["lowest"] = number(ends.lowest);
  object["min_normal"] = number(ends.min_normal);
  object["min_subnormal"] = number(ends.min_subnormal);
  object["min_positive"] = number(ends.min_positive);
  object["infinity"] = infinity_text(f);
  object["nan"] = nan_text(f);
  object["has_infinity"] = f.has_infinity();
  object["has_nan"] = f.has_nan();
  object["has_zero"] = f.has_zero;
  object["has_negative_zero"] = f.is_signed && f.has_negative_zero;
  return object;
}

nlohmann::ordered_json block_json(const std::string& name, const BlockFormat& format) {
  const StorageCost cost = storage_cost(format);
  nlohmann::ordered_json object{
      {"name", name}, {"kind", "block"}, {"element", to_spec(unscaled(format.element))}};
  object["block"] = shape_text(format.shape);
  const std::size_t length = format.shape.rows * format.shape.columns;  // null: as long as the tensor has it
  object["block_length"] = length == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(length);
  object["scale"] = to_spec(unscaled(format.scale));
  object["rule"] = name_of(format.rule);
  object["tensor_scale"] = format.has_tensor_scale();
  object["bits_per_element"] = cost.per_element;
  object["bits_per_tensor"] = cost.per_tensor;
  object["max_element"] = json_real(format.element.max_finite());
  return object;
}

}  // namespace

DyadicEnds ends_of(const ScalarFormat& f) {
  if (f.is_table())
    return {.max = dyadic_of(f.max_finite()),
            .lowest = dyadic_of(f.lowest()),
            .min_positive = dyadic_of(f.min_positive()),
            .min_normal = std::nullopt,
            .min_subnormal = std::nullopt,
            .max_code = f.table_size - 1};
  const auto power = [](int n) { return Dyadic{NumberClass::finite, false, 1, n}; };
  const std::uint32_t sign = std::uint32_t{1} << f.magnitude_bits();
  const Dyadic step = power(f.min_exponent() - f.fraction_bits);
  DyadicEnds ends{.max = decode_dyadic(f, f.top_magnitude()),
                  .lowest = !f.is_signed       ? dyadic_of(0.0)
                            : f.is_fixed_point ? dyadic_of(f.lowest())
                                               : decode_dyadic(f, sign | f.top_magnitude()),
                  .min_positive = f.has_subnormals ? step : power(f.min_exponent()),
                  .min_normal = std::nullopt,
                  .min_subnormal = std::nullopt,
                  .max_code = f.top_magnitude()};
  if (!f.is_fixed_point) ends.min_normal = power(f.min_exponent());
  if (has_subnormal_numbers(f)) ends.min_subnormal = step;
  return ends;
}

std::string subnormal_text(const ScalarFormat& f) {
  return has_subnormal_numbers(f) ? real_text(f.min_positive()) : "-";
}

std::string infinity_text(const ScalarFormat& f) {
  switch (f.infinity) {
    case Infinity::none:
      return "none";
    case Infinity::ieee:
      return "ieee";
    case Infinity::top_code:
      return "top_code";
  }
  return "";
}

std::string nan_text(const ScalarFormat& f) {
  switch (f.nan) {
    case NanEncoding::none:
      return "none";
    case NanEncoding::ieee:
      return "ieee";
    case NanEncoding::all_ones:
      return "all_ones";
    case NanEncoding::negative_zero:
      return "negative_zero";
  }
  return "";
}

std::string zeros_text(const ScalarFormat& f) {
  if (!f.has_zero) return "none";
  return f.is_signed && f.has_negative_zero ? "+0,-0" : "+0";
}

std::string nan_codes_text(const ScalarFormat& f) {
  const std::uint32_t sign = std::uint32_t{1} << f.magnitude_bits(), last = sign - 1;
  const int bits = f.bits();
  if (!f.has_nan()) return "none";
  if (f.nan == NanEncoding::negative_zero) return code_text(sign, bits);
  const std::uint32_t first =
      f.nan == NanEncoding::ieee ? f.top_magnitude() + (f.has_infinity() ? 2 : 1) : last;
  const auto range = [&](std::uint32_t from, std::uint32_t to) {
    return from == to ? code_text(from, bits) : code_text(from, bits) + "-" + code_text(to, bits);
  };
  return range(first, last) + (f.is_signed ? "," + range(sign | first, sign | last) : "");
}

std::string fields_text(const ScalarFormat& f, std::uint32_t code) {
  std::string text = fmt::format("{:0{}b}", code, f.bits());
  if (f.is_fixed_point) return text;
  if (f.fraction_bits > 0) text.insert(text.size() - static_cast<std::size_t>(f.fraction_bits), "_");
  if (f.is_signed && f.exponent_bits > 0) text.insert(1, "_");
  return text;
}

std::string shape_text(const BlockShape& shape) {
  switch (shape.axis) {
    case BlockAxis::element:
      return "none";
    case BlockAxis::tile: {
      const auto extent = [](std::size_t n) { return n == 0 ? std::string("all") : fmt::format("{}", n); };
      return fmt::format("{}x{}{}", extent(shape.rows), extent(shape.columns),
                         shape.rows == 1 ? " along the last axis" : " tiles");
    }
    case BlockAxis::flattened:
      return fmt::format("1x{} flattened", shape.columns);
    case BlockAxis::tensor:
      return "whole tensor";
  }
  return "";
}

std::string tensor_scale_text(const BlockFormat& format) {
  switch (format.tensor_scale) {
    case TensorScale::none:
      return "-";
    case TensorScale::tensor:
      return "fp32";
    case TensorScale::row:
      return "fp32 a row";
  }
  return "";
}

StorageCost storage_cost(const BlockFormat& format) {
  const int element = storage_bits(format.element),
            scale = format.has_scale() ? storage_bits(format.scale) : 0;
  const int tensor = format.has_tensor_scale() ? 32 : 0;
  const std::size_t length = format.shape.rows * format.shape.columns;
  if (length == 0) return {static_cast<double>(element), scale + tensor};
  return {element + static_cast<double>(scale) / static_cast<double>(length), tensor};
}

std::string cost_text(const BlockFormat& format) {
  const StorageCost cost = storage_cost(format);
  const std::string text = real_text(cost.per_element);
  return cost.per_tensor == 0 ? text : fmt::format("{} (+{} a tensor)", text, cost.per_tensor);
}

std::vector<std::string> aliases_of(std::string_view name) {
  std::vector<std::string> aliases;
  for (const FormatAlias& known : all_format_aliases)
    if (known.name == name) aliases.emplace_back(known.alias);
  return aliases;
}

nlohmann::ordered_json format_json(const std::string& name, const BlockFormat& format) {
  nlohmann::ordered_json object =
      format.has_scale() ? block_json(name, format) : scalar_json(name, format.element);
  object["aliases"] = aliases_of(name);
  return object;
}

}  // namespace halfulp
