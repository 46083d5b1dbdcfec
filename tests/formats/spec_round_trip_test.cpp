// Every format has a spec, the shortest, that leads back to it.
#include <doctest/doctest.h>

#include <cctype>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "formats/catalog.h"
#include "formats/spec/descriptor_checks.h"
#include "formats/p3109.h"
#include "formats/spec.h"
#include "formats/value_table.h"

using namespace halfulp;

namespace {

std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

/// The formats that differ from a start in one or several fields, as far as they are formats.
std::vector<ScalarFormat> formats_of_fields() {
  std::vector<ScalarFormat> all;
  for (int exponent_bits = 1; exponent_bits <= 8; ++exponent_bits)
    for (const int fraction_bits : {0, 1, 2, 3, 4, 7, 10, 23})
      for (const bool is_signed : {true, false})
        for (const int bias : {-5, 0, 1, 7, 15, 127})
          for (const Infinity infinity : {Infinity::none, Infinity::ieee, Infinity::top_code})
            for (const NanEncoding nan :
                 {NanEncoding::none, NanEncoding::ieee, NanEncoding::all_ones, NanEncoding::negative_zero})
              for (int zeros = 0; zeros < 8; ++zeros) {
                const ScalarFormat f{.is_signed = is_signed,
                                     .exponent_bits = exponent_bits,
                                     .fraction_bits = fraction_bits,
                                     .bias = bias,
                                     .infinity = infinity,
                                     .nan = nan,
                                     .has_negative_zero = (zeros & 1) != 0,
                                     .has_zero = (zeros & 2) != 0,
                                     .has_subnormals = (zeros & 4) != 0};
                if (!refusal_of(f)) all.push_back(f);
              }
  return all;
}

}  // namespace

TEST_CASE("spec: names and aliases of the catalog in any case, with blanks around") {
  const auto check = [](std::string_view name, const BlockFormat& format, std::string_view shortest) {
    for (const std::string& text : {std::string(name), upper_case(name), " \t" + std::string(name) + "\n "})
      CHECK(parse_format(text) == format);
    CHECK(to_spec(format) == shortest);
  };
  for (const NamedScalarFormat& named : all_scalar_formats) {
    check(named.name, unscaled(named.format), named.name);
    CHECK(to_spec(named.format) == named.name);
    CHECK(parse_format(std::string(named.name) + (named.format.is_fixed_point ? "" : "{}")).element ==
          named.format);
  }
  for (const NamedBlockFormat& named : all_block_formats) {
    check(named.name, named.format, named.name);
    CHECK(parse_format(std::string(named.name) + " { } ") == named.format);
  }
  for (const FormatAlias& alias : all_format_aliases)
    check(alias.alias, parse_format(alias.name), alias.name);
}

TEST_CASE("spec: all formats of P3109 by the standard's name and by their numbers") {
  std::set<std::string> names;
  for (int k = 3; k <= 16; ++k)
    for (int p = 1; p <= k; ++p)
      for (const bool is_signed : {true, false})
        for (const bool extended : {true, false}) {
          if (is_signed && p == k) continue;
          const ScalarFormat f = p3109(k, p, is_signed, extended);
          const std::string numbers = std::to_string(k) + "p" + std::to_string(p);
          const std::string name = "binary" + numbers + (is_signed ? "s" : "u") + (extended ? "e" : "f");
          INFO(name);
          CHECK(parse_scalar_format(name) == f);
          CHECK(parse_scalar_format(upper_case(name)) == f);
          const std::string braces = "p3109{p=" + std::to_string(p) + ",k=" + std::to_string(k);
          CHECK(parse_scalar_format(braces + (is_signed ? ",signed" : ",unsigned") +
                                    (extended ? ",extended}" : ",finite}")) == f);
          CHECK(parse_scalar_format(braces + ",signed=" + (is_signed ? "yes" : "no") +
                                    ",extended=" + (extended ? "yes" : "no") + "}") == f);
          if (is_signed && !extended) CHECK(parse_scalar_format(braces + "}") == f);
          CHECK(!refusal_of(f).has_value());
          const std::string spec = to_spec(f);
          CHECK(parse_scalar_format(spec) == f);
          const bool in_catalog = f == e4m3fnuz || f == e5m2fnuz;
          CHECK((in_catalog || spec == name));
          names.insert(spec);
        }
  CHECK(names.size() == 504);
}

TEST_CASE("to_spec: the shortest text") {
  for (const char* spec : {"e5m1",
                           "ue5m1",
                           "e5m1{nan=negative_zero}",
                           "e5m2fnuz{bias=15}",
                           "ue6m0{zero=no}",
                           "e8m0{bias=126}",
                           "e8m0{signed=yes,nan=none,subnormals=yes,negative_zero=yes,zero=yes}",
                           "fp32{signed=no}",
                           "e4m3fnuz{bias=7}",
                           "e4m3{bias=8}",
                           "e4m3{nan=none}",
                           "e4m3_ieee{bias=6}",
                           "ue4m3{nan=none}",
                           "fixed{bits=4}",
                           "fixed{bits=8,fraction=7}",
                           "binary8p4se",
                           "binary3p1uf",
                           "mxfp4{16}",
                           "mxfp4_rceil{16x16}",
                           "nvfp4{rule=rceil}",
                           "nvfp4{32}",
                           "nvfp4_floor{largest_scale=256}",
                           "nvfp4{scale_floor=2^-7}",
                           "nvfp4{scale_floor=0.3}",
                           "nvfp4{largest_scale=300.25}",
                           "block{e3m0,32}",
                           "block{e3m0,32,rule=rceil}",
                           "block{bf16,row,scale=fp32}",
                           "block{e5m1,16,scale=ue4m3}",
                           "mxint8{flat64,scale=fp32,rule=amax}",
                           "block{e5m1{bias=3},16,scale=ue5m2{nan=all_ones},tensor_scale=fp32}"})
    CHECK(to_spec(parse_format(spec)) == spec);
  // Longer ways to say the same.
  CHECK(to_spec(parse_format("e4m3{nan=negative_zero,bias=8}")) == "e4m3fnuz");
  CHECK(to_spec(parse_format("e4m3{inf=none}")) == "e4m3");
  CHECK(to_spec(parse_format("block{e4m3,flat256,scale=fp32,zero_block=one}")) == "fp8_block256");
  CHECK(to_spec(parse_format("nvfp4{row,tensor_scale=none,zero_block=smallest}")) ==
        "block{e2m1,row,scale=ue4m3}");
}

TEST_CASE("to_spec: every format of fields comes back") {
  const std::vector<ScalarFormat> all = formats_of_fields();
  std::set<std::string> specs;
  for (const ScalarFormat& f : all) {
    const std::string spec = to_spec(f);
    INFO(spec);
    CHECK(parse_scalar_format(spec) == f);
    specs.insert(spec);
  }
  CHECK(specs.size() == all.size());  // no two formats have one spec
  CHECK(all.size() > 5000);
  MESSAGE(all.size(), " formats");
}

TEST_CASE("to_spec: every block format comes back") {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return random() % n; };
  const std::vector<ScalarFormat> elements{e2m1,
                                           e4m3,
                                           e3m0,
                                           int8,
                                           lns_format(6, 4),
                                           parse_scalar_format("e5m1"),
                                           parse_scalar_format("binary8p5se")};
  const std::vector<ScalarFormat> scales{
      e8m0, ue4m3, fp32, bf16, parse_scalar_format("ue4m3{nan=none}"), parse_scalar_format("binary8p2uf")};
  const std::vector<BlockShape> shapes{{BlockAxis::tile, 16},   {BlockAxis::tile, 32},
                                       {BlockAxis::tile, 8, 4}, {BlockAxis::tile, 0},
                                       {BlockAxis::tile, 1, 0}, {BlockAxis::tile, 1, 32},
                                       {BlockAxis::tensor, 0},  {BlockAxis::flattened, 256}};
  const std::vector<double> floors{0, 0x1p-6, 0.1}, largest{0, 256, 440.5};
  const std::vector<int> highest{1024, 125, -3};
  std::set<std::string> specs;
  std::size_t accepted = 0;
  for (int i = 0; i < 60'000; ++i) {
    // One draw in a few leaves its default, so that whole formats pass the checks often enough.
    const auto rare = [&](std::uint32_t n) { return below(3) == 0 ? below(n) : 0; };
    BlockFormat f{elements[below(7)], shapes[below(8)], scales[below(6)],
                  all_scale_rules[below(static_cast<std::uint32_t>(all_scale_rules.size()))].rule,
                  static_cast<TensorScale>(rare(3))};
    f.conventions = {.overflow = static_cast<ScaleOverflow>(rare(2)),
                     .underflow = static_cast<ScaleUnderflow>(rare(2)),
                     .zero_block = static_cast<ZeroBlock>(rare(4)),
                     .nan = static_cast<NanInBlock>(rare(2)),
                     .infinity = static_cast<InfinityInBlock>(rare(3)),
                     .subnormal_block = static_cast<SubnormalBlock>(rare(2)),
                     .arithmetic = static_cast<ScaleArithmetic>(rare(4)),
                     .four_over_six = static_cast<FourOverSix>(rare(5)),
                     .rounds_up = rare(2) == 1,
                     .floor = floors[rare(3)],
                     .largest = largest[rare(3)],
                     .highest_exponent = highest[rare(3)]};
    if (refusal_of(f)) continue;
    ++accepted;
    const std::string spec = to_spec(f);
    INFO(spec);
    CHECK(parse_format(spec) == f);
    specs.insert(spec);
  }
  MESSAGE(accepted, " block formats, ", specs.size(), " different");
  CHECK(specs.size() > 2000);
}
