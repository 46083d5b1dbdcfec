#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/nearest_name.h"
#include "formats/overflow.h"
#include "formats/spec.h"

using namespace halfulp;

namespace {

template <class Parse>
std::string message_of(Parse parse) {
  try {
    parse();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string quoted(std::string_view text) {
  std::string result = "'";
  result.append(text);
  result.push_back('\'');
  return result;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("parse_format: every catalog name and its spec lead back to the same format") {
  for (const NamedScalarFormat& named : all_scalar_formats) {
    CHECK(parse_format(named.name) == unscaled(named.format));
    CHECK(parse_scalar_format(named.name) == named.format);
    CHECK(to_spec(parse_format(named.name)) == named.name);
  }
  for (const NamedBlockFormat& named : all_block_formats) {
    CHECK(parse_format(named.name) == named.format);
    CHECK(to_spec(named.format) == named.name);
  }
  CHECK(format_names().size() == all_scalar_formats.size() + all_block_formats.size());
}

TEST_CASE("parse_format: names are unique, and every alias names something else than itself") {
  std::vector<std::string> names = format_names();
  for (const FormatAlias& alias : all_format_aliases) {
    CHECK(std::find(names.begin(), names.end(), alias.name) != names.end());
    CHECK(parse_format(alias.alias) == parse_format(alias.name));
    names.emplace_back(alias.alias);
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("parse_format: the names other libraries use") {
  CHECK(parse_scalar_format("float8_e4m3fn") == e4m3);
  CHECK(parse_scalar_format("e4m3fn") == e4m3);
  CHECK(parse_scalar_format("float8_e4m3") == e4m3_ieee);
  CHECK(parse_scalar_format("float8_e5m2fnuz") == e5m2fnuz);
  CHECK(parse_scalar_format("float4_e2m1fn") == e2m1);
  CHECK(parse_scalar_format("float8_e8m0fnu") == e8m0);
  CHECK(parse_scalar_format("bfloat16") == bf16);
}

TEST_CASE("parse_format: an unknown name is refused with what was given, the nearest and all names") {
  const std::string message = message_of([] { parse_format("e4m3q"); });
  CHECK(contains(message, "'e4m3q'"));
  CHECK(contains(message, "nearest is e4m3)"));
  for (const std::string& name : format_names()) CHECK(contains(message, name));
  CHECK(contains(message_of([] { parse_format("mxfp5"); }), "nearest is mxfp4)"));
  for (const std::string text : {"", "e4m3 e5m2", "fp5", "nvfp4:16"})
    CHECK(!message_of([&] { parse_format(text); }).empty());
}

TEST_CASE("parse_scalar_format: a block format is refused by name") {
  for (const NamedBlockFormat& named : all_block_formats)
    CHECK(contains(message_of([&] { parse_scalar_format(named.name); }), quoted(named.name)));
}

TEST_CASE("parse_rounding: names, random bits and their defaults, and back") {
  for (const NamedRoundingMode& named : all_rounding_modes) {
    const Rounding rounding = parse_rounding(named.name);
    CHECK(rounding.mode == named.mode);
    const int random_bits = named.mode == RoundingMode::stochastic_equal ? 1 : 16;
    CHECK(rounding.random_bits == (is_stochastic(named.mode) ? random_bits : 0));
    CHECK(parse_rounding(to_string(rounding)) == rounding);
  }
  CHECK(parse_rounding("stochastic") == Rounding{RoundingMode::stochastic_c, 16});
  for (int n = 1; n <= 32; ++n)
    for (const std::string name : {"stochastic_a", "stochastic_b", "stochastic_c"}) {
      const Rounding rounding = parse_rounding(name + ":" + std::to_string(n));
      CHECK(rounding.random_bits == n);
      CHECK(parse_rounding(to_string(rounding)) == rounding);
    }
}

TEST_CASE("parse_rounding: everything else is refused with the text and the modes") {
  for (const std::string text : {"", "nearest", "stochastic_a:0", "stochastic_a:33", "stochastic_a:",
                                 "stochastic_a:8x", "stochastic_a:-1", "stochastic_a: 8", "nearest_even:8",
                                 "stochastic_d", "Nearest_even", "stochastic_a:99999999999"}) {
    const std::string message = message_of([&] { parse_rounding(text); });
    INFO(text);
    CHECK(contains(message, quoted(text)));
    for (const NamedRoundingMode& named : all_rounding_modes)
      CHECK(contains(message, std::string(named.name)));
  }
}

TEST_CASE("parse_overflow: names and back; everything else is refused with the text and the policies") {
  for (const NamedOverflowPolicy& named : all_overflow_policies) {
    CHECK(parse_overflow(named.name) == named.policy);
    CHECK(to_string(named.policy) == named.name);
  }
  for (const std::string text : {"", "sat", "Saturate", "ieee "}) {
    const std::string message = message_of([&] { parse_overflow(text); });
    INFO(text);
    CHECK(contains(message, quoted(text)));
    for (const NamedOverflowPolicy& named : all_overflow_policies)
      CHECK(contains(message, std::string(named.name)));
  }
}

TEST_CASE("nearest_name: the smallest edit distance, the first of equals, nothing from nothing") {
  CHECK(nearest_name("optmizer", {"scheduler", "optimizer", "format"}) == "optimizer");
  CHECK(nearest_name("abc", {"abd", "abe"}) == "abd");
  CHECK(nearest_name("", {"long", "a"}) == "a");
  CHECK(nearest_name("x", {}) == "");
}
