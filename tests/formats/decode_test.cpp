#include <doctest/doctest.h>

#include "formats/catalog.h"
#include "formats/conformance/settings.h"
#include "formats/encode.h"
#include "tests/formats/sample_points.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

std::vector<std::uint32_t> codes_of(const ScalarFormat& f) {
  std::vector<std::uint32_t> codes;
  if (f.bits() <= 19) {
    for (std::uint32_t code = 0; code < f.code_count(); ++code) codes.push_back(code);
  } else {
    std::mt19937 random(99);
    for (int i = 0; i < 200000; ++i) codes.push_back(static_cast<std::uint32_t>(random()));
    for (const std::uint32_t sign : {0u, 0x80000000u})
      for (const std::uint32_t low :
           {0u, 1u, 0x7fffffu, 0x800000u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u})
        codes.push_back(sign | low);
  }
  return codes;
}

}  // namespace

TEST_CASE("decode: every code has the oracle's value, zero and NaN with their sign") {
  for (const NamedScalarFormat& named : all_scalar_formats) {
    std::uint64_t different = 0;
    for (const std::uint32_t code : codes_of(named.format)) {
      const double got = decode(named.format, code), expected = oracle::decode(named.format, code);
      const bool same = expected != expected ? got != got && std::signbit(got) == std::signbit(expected)
                                             : bits_of(got) == bits_of(expected);
      if (!same && ++different < 4)
        MESSAGE(std::string(named.name), " code ", code, " got ", got, " not ", expected);
    }
    INFO(std::string(named.name));
    CHECK(different == 0);
  }
}

TEST_CASE("encode: decoding and encoding is the identity on every code but the NaN that are not canonical") {
  for (const NamedScalarFormat& named : all_scalar_formats) {
    const ScalarFormat& f = named.format;
    std::uint64_t different = 0;
    for (const std::uint32_t code : codes_of(f)) {
      const double value = decode(f, code);
      const std::uint32_t expected = value != value ? nan_code(f, std::signbit(value)) : code;
      if (encode(f, value) != expected && ++different < 4) MESSAGE(std::string(named.name), " code ", code);
    }
    INFO(std::string(named.name));
    CHECK(different == 0);
  }
}

TEST_CASE("convert: no mode moves a number of the format") {
  for (const NamedScalarFormat& named : all_scalar_formats) {
    const ScalarFormat& f = named.format;
    for (const Rounding rounding : deterministic_roundings()) {
      std::uint64_t moved = 0;
      for (const std::uint32_t code : codes_of(f)) {
        const double value = decode(f, code);
        if (value == value && std::isfinite(value))
          moved += convert(value, f, rounding, special_values(OverflowPolicy::ieee), 0) != code ? 1 : 0;
      }
      INFO(std::string(named.name), " ", to_string(rounding));
      CHECK(moved == 0);
    }
  }
}

TEST_CASE("decode: higher bits of a code are ignored") {
  CHECK(decode(e2m1, 0xf7) == 6);
  CHECK(decode(e4m3, 0x138) == 1);
  CHECK(decode(e8m0, 0x17f) == 1);
}

TEST_CASE("catalog: the number of NaN codes is what the specifications say") {
  struct {
    ScalarFormat format;
    int nans, infinities;
  } const rows[] = {{e4m3, 2, 0},     {e5m2, 6, 2},     {e4m3_ieee, 14, 2},  {e3m4, 30, 2},
                    {e4m3fnuz, 1, 0}, {e5m2fnuz, 1, 0}, {e4m3b11fnuz, 1, 0}, {e3m2, 0, 0},
                    {e2m3, 0, 0},     {e2m1, 0, 0},     {e3m0, 0, 0},        {e8m0, 1, 0},
                    {ue4m3, 1, 0},    {ue5m3, 1, 0},    {int8, 0, 0},        {bf16, 254, 2},
                    {fp16, 2046, 2}};
  for (const auto& row : rows) {
    int nans = 0, infinities = 0;
    for (std::uint32_t code = 0; code < row.format.code_count(); ++code) {
      nans += is_nan_code(row.format, code) ? 1 : 0;
      infinities += is_infinity_code(row.format, code) ? 1 : 0;
    }
    INFO(row.format.exponent_bits, " exponent bits, ", row.format.fraction_bits, " fraction bits");
    CHECK(nans == row.nans);
    CHECK(infinities == row.infinities);
  }
}
