#include "formats/catalog.h"
#include "formats/p3109.h"
#include "formats/spec.h"
#include "formats/spec/block_spec.h"
#include "formats/spec/scalar_spec.h"
#include "formats/spec/words.h"
#include "formats/value_table.h"

namespace halfulp {
namespace {

/// name{setting,setting}, the settings one by one.
class SpecText {
 public:
  explicit SpecText(std::string name) : text_(std::move(name)) {}

  void add(std::string_view setting) {
    text_.append(is_open_ ? "," : "{").append(setting);
    is_open_ = true;
  }
  void add(std::string_view key, std::string_view value) { add(std::string(key) + "=" + std::string(value)); }
  /// The setting if it is not what it was.
  template <class T, class Text>
  void change(std::string_view key, const T& from, const T& to, Text text_of) {
    if (from != to) add(key, text_of(to));
  }
  template <class T, class Words>
  void change_word(std::string_view key, const T& from, const T& to, const Words& words) {
    if (from != to) add(key, word_of(words, to));
  }
  std::string text() const { return is_open_ ? text_ + "}" : text_; }

 private:
  std::string text_;
  bool is_open_ = false;
};

void keep_shorter(std::string& shortest, const std::string& text) {
  if (shortest.empty() || text.size() < shortest.size()) shortest = text;
}

std::string fields_spec(const std::string& name, const ScalarFormat& start, const ScalarFormat& f) {
  SpecText text(name);
  text.change_word("signed", start.is_signed, f.is_signed, yes_no_words);
  text.change("bias", start.bias, f.bias, [](int bias) { return std::to_string(bias); });
  text.change_word("inf", start.infinity, f.infinity, infinity_words);
  text.change_word("nan", start.nan, f.nan, nan_words);
  ScalarFormat implied = f;
  implied.has_subnormals = start.has_subnormals;
  implied.has_negative_zero = start.has_negative_zero;
  imply(implied, start.is_signed != f.is_signed, start.nan != f.nan, start.has_zero != f.has_zero);
  text.change_word("subnormals", implied.has_subnormals, f.has_subnormals, yes_no_words);
  text.change_word("negative_zero", implied.has_negative_zero, f.has_negative_zero, yes_no_words);
  text.change_word("zero", start.has_zero, f.has_zero, yes_no_words);
  return text.text();
}

std::string fixed_spec(const ScalarFormat& f) {
  const int bits = f.bits(), fraction = f.bias + bits - 3;
  SpecText text("fixed");
  text.add("bits", std::to_string(bits));
  text.change("fraction", bits - 2, fraction, [](int n) { return std::to_string(n); });
  return text.text();
}

/// The standard's name, where the fields are one of its formats.
std::string p3109_name(const ScalarFormat& f) {
  const int k = f.bits(), p = f.fraction_bits + 1;
  if (k < 3 || k > 16 || f.exponent_bits < 1 || f != p3109(k, p, f.is_signed, f.has_infinity())) return "";
  return "binary" + std::to_string(k) + "p" + std::to_string(p) + (f.is_signed ? "s" : "u") +
         (f.has_infinity() ? "e" : "f");
}

std::string block_spec(SpecText text, const BlockFormat& start, const BlockFormat& f) {
  if (start.shape != f.shape) text.add(shape_spec(f.shape));
  text.change("scale", start.scale, f.scale, [](const ScalarFormat& scale) { return to_spec(scale); });
  text.change_word("rule", start.rule, f.rule, rule_words);
  text.change_word("tensor_scale", start.tensor_scale, f.tensor_scale, tensor_scale_words);
  const ScaleConventions &from = start.conventions, &to = f.conventions;
  text.change_word("scale_overflow", from.overflow, to.overflow, scale_overflow_words);
  text.change_word("scale_underflow", from.underflow, to.underflow, scale_underflow_words);
  text.change_word("zero_block", from.zero_block, to.zero_block, zero_block_words);
  text.change_word("nan", from.nan, to.nan, nan_in_block_words);
  text.change_word("inf", from.infinity, to.infinity, infinity_in_block_words);
  text.change_word("subnormal_block", from.subnormal_block, to.subnormal_block, subnormal_block_words);
  text.change_word("arithmetic", from.arithmetic, to.arithmetic, arithmetic_words);
  text.change_word("four_over_six", from.four_over_six, to.four_over_six, four_over_six_words);
  text.change("scale_floor", from.floor, to.floor, number_spec);
  text.change_word("scale_rounding", from.rounds_up, to.rounds_up, scale_rounding_words);
  text.change("largest_scale", from.largest, to.largest, number_spec);
  text.change("highest_exponent", from.highest_exponent, to.highest_exponent,
              [](int exponent) { return std::to_string(exponent); });
  return text.text();
}

}  // namespace

std::string to_spec(const ScalarFormat& f) {
  if (f.is_table()) return table_spec(f);
  for (const NamedScalarFormat& known : all_scalar_formats)
    if (known.format == f) return std::string(known.name);
  if (f.is_fixed_point) return fixed_spec(f);
  if (std::string name = p3109_name(f); !name.empty()) return name;
  std::string shortest;
  if (const std::string name = fields_name(f); !catalog_name(name))
    if (const auto start = start_of_fields(name)) shortest = fields_spec(name, *start, f);
  for (const NamedScalarFormat& known : all_scalar_formats) {
    const ScalarFormat& start = known.format;
    if (!start.is_fixed_point && start.exponent_bits == f.exponent_bits &&
        start.fraction_bits == f.fraction_bits)
      keep_shorter(shortest, fields_spec(std::string(known.name), start, f));
  }
  return shortest;
}

std::string to_spec(const BlockFormat& f) {
  if (!f.has_scale()) return to_spec(f.element);
  // What block{element,shape} would be, were the scale format and the rule said as they are.
  BlockFormat plain = plain_block(f.element, f.shape, f.scale);
  plain.scale = e8m0;
  plain.conventions.zero_block = plain_zero_block(f.scale, f.rule);
  SpecText text("block");
  text.add(to_spec(f.element));
  text.add(shape_spec(f.shape));
  std::string shortest = block_spec(text, plain, f);
  for (const NamedBlockFormat& known : all_block_formats) {
    if (known.format == f) return std::string(known.name);
    if (known.format.element == f.element)
      keep_shorter(shortest, block_spec(SpecText(std::string(known.name)), known.format, f));
  }
  return shortest;
}

}  // namespace halfulp
