#include "formats/catalog.h"
#include "formats/spec/descriptor_checks.h"
#include "formats/spec/scalar_spec.h"
#include "formats/spec/words.h"

namespace halfulp {
namespace {

void require(const SpecReader& reader, const SpecWord& name, const SpecSettings* settings,
             const ScalarFormat& f) {
  const std::optional<Refusal> refusal = refusal_of(f);
  if (!refusal) return;
  const std::size_t place =
      settings == nullptr ? name.position : settings->position_of(refusal->keys, name.position);
  reader.refuse(refusal->problem, place, refusal->allowed);
}

}  // namespace

std::optional<ScalarFormat> start_of_fields(std::string_view name) {
  if (const auto known = catalog_name(name)) {
    for (const NamedScalarFormat& named : all_scalar_formats)
      if (named.name == *known) return named.format;
    return std::nullopt;
  }
  const bool is_signed = !take_prefix(name, "u");
  if (!take_prefix(name, "e")) return std::nullopt;
  const std::optional<int> exponent_bits = take_number(name);
  if (!exponent_bits || !take_prefix(name, "m")) return std::nullopt;
  const std::optional<int> fraction_bits = take_number(name);
  if (!fraction_bits || !name.empty()) return std::nullopt;
  const bool has_bias = *exponent_bits >= 1 && *exponent_bits <= most_exponent_bits;
  return ScalarFormat{.is_signed = is_signed,
                      .exponent_bits = *exponent_bits,
                      .fraction_bits = *fraction_bits,
                      .bias = has_bias ? (1 << (*exponent_bits - 1)) - 1 : 0,
                      .has_negative_zero = is_signed};
}

std::string fields_name(const ScalarFormat& f) {
  return (f.is_signed ? "e" : "ue") + std::to_string(f.exponent_bits) + "m" + std::to_string(f.fraction_bits);
}

void imply(ScalarFormat& f, bool says_signed, bool says_nan, bool says_zero) noexcept {
  if (says_signed && !f.is_signed) f.has_negative_zero = false;
  if (says_nan && f.nan == NanEncoding::negative_zero) f.has_negative_zero = false;
  if (says_zero && !f.has_zero) f.has_subnormals = false;
}

ScalarFormat read_fields(SpecReader& reader, const SpecWord& name, const ScalarFormat& start) {
  require(reader, name, nullptr, start);
  ScalarFormat f = start;
  if (!reader.take('{')) return f;
  SpecSettings settings(reader, {"signed", "bias", "inf", "nan", "subnormals", "negative_zero", "zero"});
  std::optional<bool> subnormals, negative_zero;
  while (settings.next()) {
    const std::string& key = settings.key();
    const SpecWord value = settings.value();
    if (key == "signed")
      f.is_signed = reader.choice(value, key, yes_no_words);
    else if (key == "bias")
      f.bias = reader.integer(value, key, lowest_bias(f.exponent_bits), highest_bias(f.fraction_bits));
    else if (key == "inf")
      f.infinity = reader.choice(value, key, infinity_words);
    else if (key == "nan")
      f.nan = reader.choice(value, key, nan_words);
    else if (key == "subnormals")
      subnormals = reader.choice(value, key, yes_no_words);
    else if (key == "negative_zero")
      negative_zero = reader.choice(value, key, yes_no_words);
    else
      f.has_zero = reader.choice(value, key, yes_no_words);
  }
  imply(f, settings.given("signed"), settings.given("nan"), settings.given("zero"));
  f.has_subnormals = subnormals.value_or(f.has_subnormals);
  f.has_negative_zero = negative_zero.value_or(f.has_negative_zero);
  require(reader, name, &settings, f);
  return f;
}

}  // namespace halfulp
