#include "formats/spec/block_spec.h"

#include <charconv>
#include <cmath>

#include "formats/catalog.h"
#include "formats/spec/descriptor_checks.h"
#include "formats/spec/scalar_spec.h"
#include "formats/spec/words.h"

namespace halfulp {
namespace {

const std::vector<std::string>& setting_keys() {
  static const std::vector<std::string> keys{"shape",
                                             "scale",
                                             "rule",
                                             "tensor_scale",
                                             "scale_overflow",
                                             "scale_underflow",
                                             "zero_block",
                                             "nan",
                                             "inf",
                                             "subnormal_block",
                                             "arithmetic",
                                             "four_over_six",
                                             "scale_floor",
                                             "scale_rounding",
                                             "largest_scale",
                                             "highest_exponent"};
  return keys;
}

constexpr int longest_side = 2147483647;

BlockShape read_shape(const SpecReader& reader, const SpecWord& word) {
  if (word.text == "tensor") return {BlockAxis::tensor, 0};
  if (word.text == "row") return {BlockAxis::tile, 0};
  if (word.text == "column") return {BlockAxis::tile, 1, 0};
  const auto side = [&](std::string_view digits) {
    const std::size_t offset = static_cast<std::size_t>(digits.data() - word.text.data());
    const std::string allowed = "1 to " + std::to_string(longest_side);
    if (digits.find_first_not_of('0') == std::string_view::npos)
      reader.refuse("a block of length 0", word.position + offset, allowed);
    return static_cast<std::size_t>(
        reader.integer({digits, word.position + offset}, "a block's length", 1, longest_side));
  };
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  std::string_view rest = word.text;
  if (take_prefix(rest, "flat") && is_number(rest)) return {BlockAxis::flattened, side(rest)};
  const std::size_t cross = word.text.find('x');
  if (cross == std::string_view::npos && is_number(word.text)) return {BlockAxis::tile, side(word.text)};
  if (cross != std::string_view::npos && is_number(word.text.substr(0, cross)) &&
      is_number(word.text.substr(cross + 1))) {
    const std::size_t rows = side(word.text.substr(0, cross)), columns = side(word.text.substr(cross + 1));
    return {BlockAxis::tile, columns, rows};
  }
  reader.refuse_unknown("shape", word, {}, "COLUMNS, ROWSxCOLUMNS, row, column, flatN, tensor");
}

/// One setting, but for the scale format, which is a spec of its own.
void read_setting(const SpecReader& reader, SpecSettings& settings, BlockFormat& f) {
  const std::string& key = settings.key();
  const SpecWord value = settings.value();
  const auto read = [&](auto& field, const auto& words) { field = reader.choice(value, key, words); };
  ScaleConventions& c = f.conventions;
  if (key == "shape") f.shape = read_shape(reader, value);
  if (key == "rule") read(f.rule, rule_words);
  if (key == "tensor_scale") read(f.tensor_scale, tensor_scale_words);
  if (key == "scale_overflow") read(c.overflow, scale_overflow_words);
  if (key == "scale_underflow") read(c.underflow, scale_underflow_words);
  if (key == "zero_block") read(c.zero_block, zero_block_words);
  if (key == "nan") read(c.nan, nan_in_block_words);
  if (key == "inf") read(c.infinity, infinity_in_block_words);
  if (key == "subnormal_block") read(c.subnormal_block, subnormal_block_words);
  if (key == "arithmetic") read(c.arithmetic, arithmetic_words);
  if (key == "four_over_six") read(c.four_over_six, four_over_six_words);
  if (key == "scale_rounding") read(c.rounds_up, scale_rounding_words);
  if (key == "scale_floor") c.floor = reader.number(value, key);
  if (key == "largest_scale") c.largest = reader.number(value, key);
  if (key == "highest_exponent")
    c.highest_exponent = reader.integer(value, key, -largest_exponent, ScaleConventions{}.highest_exponent);
}

void read_settings(SpecReader& reader, SpecSettings& settings, BlockFormat& f) {
  while (settings.next())
    if (settings.key() == "scale")
      f.scale = read_scalar(reader);
    else
      read_setting(reader, settings, f);
}

BlockFormat checked(const SpecReader& reader, const SpecSettings& settings, const SpecWord& name,
                    const BlockFormat& f) {
  if (const auto refusal = refusal_of(f))
    reader.refuse(refusal->problem, settings.position_of(refusal->keys, name.position), refusal->allowed);
  return f;
}

BlockFormat read_new_block(SpecReader& reader, const SpecWord& name) {
  const std::string example = "block{e2m1,16,scale=ue4m3}";
  reader.open_brace("block", example);
  SpecSettings settings(reader, setting_keys(), {"shape"});
  settings.follows("element", reader.position());
  BlockFormat f = plain_block(read_scalar(reader), {BlockAxis::tile, 0}, e8m0);
  read_settings(reader, settings, f);
  if (!settings.given("shape")) reader.refuse("a block's shape is missing", name.position, example);
  const BlockFormat plain = plain_block(f.element, f.shape, f.scale);
  if (!settings.given("rule")) f.rule = plain.rule;
  if (!settings.given("zero_block")) f.conventions.zero_block = plain_zero_block(f.scale, f.rule);
  return checked(reader, settings, name, f);
}

}  // namespace

ZeroBlock plain_zero_block(const ScalarFormat& scale, ScaleRule rule) noexcept {
  return rule == ScaleRule::amax && scale.is_signed && scale.bits() >= 16 ? ZeroBlock::one
                                                                          : ZeroBlock::smallest;
}

BlockFormat plain_block(const ScalarFormat& element, const BlockShape& shape, const ScalarFormat& scale) {
  const ScaleRule rule = scale == e8m0 ? ScaleRule::ocp_floor : ScaleRule::amax;
  return {element, shape, scale, rule, TensorScale::none, {.zero_block = plain_zero_block(scale, rule)}};
}

std::optional<BlockFormat> read_block_after(SpecReader& reader, const SpecWord& name) {
  if (lower_case(name.text) == "block") return read_new_block(reader, name);
  const auto known = catalog_name(name.text);
  for (const NamedBlockFormat& named : all_block_formats) {
    if (named.name != known) continue;
    BlockFormat f = named.format;
    if (!reader.take('{')) return f;
    SpecSettings settings(reader, setting_keys(), {"shape"});
    read_settings(reader, settings, f);
    return checked(reader, settings, name, f);
  }
  return std::nullopt;
}

std::string shape_spec(const BlockShape& shape) {
  switch (shape.axis) {
    case BlockAxis::element:
      return "1";
    case BlockAxis::tensor:
      return "tensor";
    case BlockAxis::flattened:
      return "flat" + std::to_string(shape.columns);
    case BlockAxis::tile:
      break;
  }
  if (shape.rows == 1) return shape.columns == 0 ? "row" : std::to_string(shape.columns);
  if (shape.rows == 0 && shape.columns == 1) return "column";
  return std::to_string(shape.rows) + "x" + std::to_string(shape.columns);
}

std::string number_spec(double value) {
  char text[40] = {};
  const auto [end, status] = std::to_chars(text, text + sizeof text, value);
  const std::string decimal(text, end);
  int exponent = 0;
  if (!(value > 0) || std::frexp(value, &exponent) != 0.5) return decimal;
  const std::string power = "2^" + std::to_string(exponent - 1);
  return power.size() < decimal.size() ? power : decimal;
}

}  // namespace halfulp
