#include "formats/spec/scalar_spec.h"

#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/p3109.h"
#include "formats/spec.h"
#include "formats/spec/descriptor_checks.h"
#include "formats/spec/words.h"
#include "formats/value_table.h"

namespace halfulp {
namespace {

constexpr int least_p3109_bits = 3, most_p3109_bits = 16;

ScalarFormat p3109_within_range(const SpecReader& reader, int k, std::size_t k_position, int p,
                                std::size_t p_position, bool is_signed, bool is_extended) {
  if (k < least_p3109_bits || k > most_p3109_bits) reader.refuse("k is out of range", k_position, "3 to 16");
  const int most = is_signed ? k - 1 : k;
  if (p < 1 || p > most) reader.refuse("p is out of range", p_position, "1 to " + std::to_string(most));
  return p3109(k, p, is_signed, is_extended);
}

/// binary{K}p{P}{s|u}{e|f}; other names are nothing.
std::optional<ScalarFormat> read_p3109_name(const SpecReader& reader, const SpecWord& word,
                                            std::string_view name) {
  if (!take_prefix(name, "binary")) return std::nullopt;
  const std::optional<int> k = take_number(name);
  if (!k || !take_prefix(name, "p")) return std::nullopt;
  const std::optional<int> p = take_number(name);
  if (!p || (name != "se" && name != "sf" && name != "ue" && name != "uf")) return std::nullopt;
  return p3109_within_range(reader, *k, word.position, *p, word.position, name[0] == 's', name[1] == 'e');
}

ScalarFormat read_p3109(SpecReader& reader, const SpecWord& name) {
  const std::string example = "p3109{k=8,p=4,extended}";
  reader.open_brace("p3109", example);
  SpecSettings settings(reader, {"k", "p", "signed", "extended"}, {},
                        {"signed", "unsigned", "extended", "finite"});
  SpecWord k{{}, 0}, p{{}, 0};
  std::optional<bool> is_signed, is_extended;
  const auto set_once = [&](std::optional<bool>& which, bool value, const std::string& words) {
    if (which) reader.refuse(words + " is said twice", settings.position(), "one of them");
    which = value;
  };
  while (settings.next()) {
    const std::string& key = settings.key();
    const auto yes = [&] { return settings.is_flag() || reader.choice(settings.value(), key, yes_no_words); };
    if (key == "k")
      k = settings.value();
    else if (key == "p")
      p = settings.value();
    else if (key == "signed" || key == "unsigned")
      set_once(is_signed, key == "signed" ? yes() : false, "signed or unsigned");
    else
      set_once(is_extended, key == "extended" ? yes() : false, "extended or finite");
  }
  for (const char* key : {"k", "p"})
    if (!settings.given(key))
      reader.refuse(std::string(key) + " is missing for p3109", name.position, example);
  return p3109_within_range(reader, reader.integer(k, "k", least_p3109_bits, most_p3109_bits), k.position,
                            reader.integer(p, "p", 1, most_p3109_bits), p.position, is_signed.value_or(true),
                            is_extended.value_or(false));
}

/// Two's complement of so many bits, the last `fraction` of them behind the point: the grid of e1m(bits-2),
/// moved by its bias.
ScalarFormat read_fixed(SpecReader& reader, const SpecWord& name) {
  const std::string example = "fixed{bits=8,fraction=6}";
  reader.open_brace("fixed", example);
  SpecSettings settings(reader, {"bits", "fraction"});
  std::optional<int> bits, fraction;
  while (settings.next()) {
    if (settings.key() == "bits")
      bits = reader.integer(settings.value(), "bits", 2, most_fraction_bits + 2);
    else
      // Far enough from the ends of double for every scale.
      fraction = reader.integer(settings.value(), "fraction", -900, 900);
  }
  if (!bits) reader.refuse("bits is missing for fixed", name.position, example);
  return {.exponent_bits = 1,
          .fraction_bits = *bits - 2,
          .bias = fraction.value_or(*bits - 2) - *bits + 3,
          .has_negative_zero = false,
          .is_fixed_point = true};
}

ScalarFormat read_lns(SpecReader& reader, const SpecWord& name) {
  const std::string example = "lns{bits=8,gamma=8}";
  reader.open_brace("lns", example);
  SpecSettings settings(reader, {"bits", "gamma"}, {"bits", "gamma"});
  int bits = 0, gamma = 0;
  while (settings.next()) {
    const bool is_bits = settings.key() == "bits";
    (is_bits ? bits : gamma) = reader.integer(settings.value(), settings.key(), 1, 65536);
  }
  for (const char* key : {"bits", "gamma"})
    if (!settings.given(key)) reader.refuse(std::string(key) + " is missing for lns", name.position, example);
  try {
    return lns_format(bits, gamma);
  } catch (const Error& error) {
    throw Error::at("format at position " + std::to_string(name.position), error);
  }
}

ScalarFormat read_table(SpecReader& reader) {
  reader.open_brace("table", "table{FILE}");
  const SpecWord file = reader.until_closing_brace();
  if (file.text.empty()) reader.refuse("the file of a table is missing", file.position, "table{FILE}");
  const std::string path(file.text);
  try {
    return table_format(read_value_table(path), "table{" + path + "}");
  } catch (const Error& error) {
    throw Error::at("format at position " + std::to_string(file.position), error);
  }
}

}  // namespace

std::optional<std::string_view> catalog_name(std::string_view name) {
  const std::string lower = lower_case(name);
  std::string_view wanted = lower;
  for (const FormatAlias& known : all_format_aliases)
    if (known.alias == lower) wanted = known.name;
  for (const NamedScalarFormat& known : all_scalar_formats)
    if (known.name == wanted) return known.name;
  for (const NamedBlockFormat& known : all_block_formats)
    if (known.name == wanted) return known.name;
  return std::nullopt;
}

void refuse_unknown_format(const SpecReader& reader, const SpecWord& name) {
  const std::vector<std::string> names = format_names();
  const std::string allowed =
      name_list(names) +
      ", eXmY{...}, ueXmY{...}, p3109{k=8,p=4}, binary8p4se, fixed{bits=8,fraction=6}, "
      "lns{bits=8,gamma=8}, table{FILE}, block{ELEMENT,SHAPE,...}";
  if (name.text.empty()) reader.refuse("a format's name is missing", name.position, allowed);
  std::vector<std::string> candidates = names;
  for (const FormatAlias& known : all_format_aliases) candidates.emplace_back(known.alias);
  for (const char* form : {"p3109", "fixed", "lns", "table", "block"}) candidates.emplace_back(form);
  reader.refuse_unknown("format", name, candidates, allowed);
}

std::optional<ScalarFormat> read_scalar_after(SpecReader& reader, const SpecWord& word) {
  const std::string name = lower_case(word.text);
  if (name == "p3109") return read_p3109(reader, word);
  if (name == "fixed") return read_fixed(reader, word);
  if (name == "lns") return read_lns(reader, word);
  if (name == "table") return read_table(reader);
  if (const auto format = read_p3109_name(reader, word, name)) return format;
  const std::optional<ScalarFormat> start = start_of_fields(name);
  if (!start) return std::nullopt;
  if (!start->is_fixed_point) return read_fields(reader, word, *start);
  if (const std::size_t position = reader.position(); reader.take('{'))
    reader.refuse("a fixed-point format has no fields to change", position, "fixed{bits=8,fraction=6}");
  return start;
}

ScalarFormat read_scalar(SpecReader& reader) {
  const SpecWord name = reader.word();
  if (const auto format = read_scalar_after(reader, name)) return *format;
  if (lower_case(name.text) == "block" || catalog_name(name.text))
    reader.refuse("a block format stands where one number is stored", name.position, "a scalar format");
  refuse_unknown_format(reader, name);
}

}  // namespace halfulp
