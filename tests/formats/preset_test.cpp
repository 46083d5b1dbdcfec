// Presets against what the implementations they name are documented or recorded to do. The CUDA host functions have a
// file of their own.
#include "formats/preset.h"

#include <doctest/doctest.h>

#include "formats/catalog.h"
#include "formats/converter.h"
#include "formats/error.h"
#include "formats/p3109.h"

using namespace halfulp;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::uint32_t as(std::string_view preset, double x, const ScalarFormat& f) {
  const Preset& p = parse_preset(preset);
  return convert(x, f, rounding_under_preset(unscaled(f), p), special_under_preset(unscaled(f), p), 0);
}

}  // namespace

TEST_CASE("presets: what overflows, and infinities, in FP8 and narrower") {
  struct {
    std::string_view preset;
    double x;
    std::uint32_t e4m3_code, e5m2_code, e3m2_code, e2m3_code, e2m1_code;
  } const rows[] = {
      {"ocp", 1e9, 0x7e, 0x7b, 0x1f, 0x1f, 0x7},
      {"ocp", -infinity, 0xfe, 0xfb, 0x3f, 0x3f, 0xf},
      {"torchao", -1e9, 0xfe, 0xfb, 0x3f, 0x3f, 0xf},
      {"torchao", infinity, 0x7e, 0x7b, 0x1f, 0x1f, 0x7},
      {"transformer_engine", 1e9, 0x7e, 0x7b, 0x1f, 0x1f, 0x7},
      {"microxcaling", -1e9, 0xfe, 0xfb, 0x3f, 0x3f, 0xf},
      {"cuda", -1e9, 0xfe, 0xfb, 0x3f, 0x3f, 0xf},
      {"cuda", infinity, 0x7e, 0x7b, 0x1f, 0x1f, 0x7},
      // SatNone: formats without infinity stop at the largest number, those with one go there.
      {"p3109", 1e9, 0x7e, 0x7c, 0x1f, 0x1f, 0x7},
      {"p3109", -infinity, 0xfe, 0xfc, 0x3f, 0x3f, 0xf},
  };
  for (const auto& row : rows) {
    INFO(std::string(row.preset), " ", row.x);
    CHECK(as(row.preset, row.x, e4m3) == row.e4m3_code);
    CHECK(as(row.preset, row.x, e5m2) == row.e5m2_code);
    CHECK(as(row.preset, row.x, e3m2) == row.e3m2_code);
    CHECK(as(row.preset, row.x, e2m3) == row.e2m3_code);
    CHECK(as(row.preset, row.x, e2m1) == row.e2m1_code);
  }
}

TEST_CASE("presets: ties go to even, but away from zero in microxcaling") {
  struct {
    ScalarFormat format;
    double tie;
    std::uint32_t even, away;
  } const rows[] = {{e2m1, 0.25, 0x0, 0x1},     {e2m1, 0.75, 0x2, 0x2},  {e2m1, 1.25, 0x2, 0x3},
                    {e2m1, 2.5, 0x4, 0x5},      {e2m1, 5, 0x6, 0x7},     {e2m1, 3.5, 0x6, 0x6},
                    {e4m3, 1.0625, 0x38, 0x39}, {e4m3, 0x1p-10, 0, 1},   {e4m3, 432, 0x7e, 0x7e},
                    {e5m2, 1.125, 0x3c, 0x3d},  {e2m3, 1.0625, 8, 9},    {e3m2, 1.125, 12, 13},
                    {int8, 0.0234375, 2, 2},    {int8, 0.0078125, 0, 1}, {int8, 1.9921875, 0x7f, 0x7f}};
  for (const Preset& preset : all_presets)
    for (const auto& row : rows)
      for (const bool negative : {false, true}) {
        const bool away = preset.name == "microxcaling";
        const std::uint32_t code = away ? row.away : row.even;
        const std::uint32_t sign = 1u << (row.format.bits() - 1);
        const std::uint32_t expected = !negative                   ? code
                                       : row.format.is_fixed_point ? (2 * sign - code) & (2 * sign - 1)
                                                                   : code | sign;
        if (row.format.is_fixed_point && negative && row.tie > 1.9) continue;  // -128 or -127: below
        INFO(std::string(preset.name), " ", row.tie, " ", negative);
        CHECK(as(preset.name, negative ? -row.tie : row.tie, row.format) == expected);
      }
}

TEST_CASE("presets: the lowest code of int8 is left out by microxcaling alone") {
  for (const Preset& preset : all_presets)
    for (const double x : {-2.0, -1.9999999, -1.9921875, -100.0}) {
      INFO(std::string(preset.name), " ", x);
      CHECK(as(preset.name, x, int8) == (preset.name == "microxcaling" ? 0x81u : 0x80u));
    }
}

TEST_CASE("presets: NaN, its sign, and what it becomes without a code") {
  for (const std::string_view name : {"ocp", "torchao", "transformer_engine", "microxcaling", "p3109"}) {
    INFO(std::string(name));
    CHECK(as(name, not_a_number, e4m3) == 0x7f);
    CHECK(as(name, -not_a_number, e4m3) == 0xff);
    CHECK(is_nan_code(e5m2, as(name, not_a_number, e5m2)));
    CHECK(as(name, -not_a_number, e4m3fnuz) == 0x80);
    CHECK(as(name, not_a_number, e8m0) == 0xff);
  }
  // The float path of the CUDA headers: one positive NaN; FP6 and FP4 have none and get their largest number.
  for (const double x : {not_a_number, -not_a_number}) {
    CHECK(as("cuda", x, e4m3) == 0x7f);
    CHECK(as("cuda", x, e5m2) == 0x7f);
    CHECK(as("cuda", x, e3m2) == 0x1f);
    CHECK(as("cuda", x, e2m3) == 0x1f);
    CHECK(as("cuda", x, e2m1) == 0x07);
    CHECK(as("cuda", x, e8m0) == 0xff);
  }
}

TEST_CASE("presets: small negative numbers stay -0 where it exists, and never become the NaN of FNUZ") {
  for (const Preset& preset : all_presets) {
    INFO(std::string(preset.name));
    for (const double x : {-0.0, -1e-30}) {
      CHECK(as(preset.name, x, e4m3) == 0x80);
      CHECK(as(preset.name, x, e2m1) == 0x8);
      CHECK(as(preset.name, x, e4m3fnuz) == 0x00);
      CHECK(as(preset.name, x, e5m2fnuz) == 0x00);
    }
  }
}

TEST_CASE("presets: E8M0 of zero, negatives, infinities, and its rounding") {
  constexpr std::uint32_t none = 0x100;  // not stated
  struct {
    std::string_view preset;
    std::uint32_t zero, minus_three, infinite, beyond_one, largest_float;
  } const rows[] = {{"cuda", 0x00, 0x81, 0xfe, 0x80, 0xfe},
                    {"torchao", 0x00, none, 0xff, 0x80, none},
                    {"transformer_engine", 0x00, none, 0xfe, 0x80, 0xfe},
                    {"ocp", 0x00, 0xff, 0xfe, 0x7f, 0xfe}};
  for (const auto& row : rows) {
    INFO(std::string(row.preset));
    const auto check = [&](double x, std::uint32_t expected) {
      if (expected == none) return;
      INFO(x);
      CHECK(as(row.preset, x, e8m0) == expected);
    };
    check(0.0, row.zero);
    check(-3.0, row.minus_three);
    check(infinity, row.infinite);
    check(1.0, 0x7f);
    check(std::nextafter(1.0, 2.0), row.beyond_one);
    check(std::numeric_limits<float>::max(), row.largest_float);
    check(0x1p-127, 0x00);
  }
  CHECK(as("cuda", 0x1.000002p-127, e8m0) == 0x01);
  CHECK(as("cuda", -0.0, e8m0) == 0x00);
  CHECK(as("cuda", -infinity, e8m0) == 0xfe);
}

TEST_CASE("presets: p3109 formats have one NaN, no -0, infinities by SatNone") {
  constexpr ScalarFormat extended = p3109(8, 4, true, true), finite = p3109(8, 4, true, false),
                         plain = p3109(8, 3, false, true);
  CHECK(as("p3109", 1e9, extended) == 0x7f);
  CHECK(as("p3109", -1e9, extended) == 0xff);
  CHECK(as("p3109", infinity, extended) == 0x7f);
  CHECK(as("p3109", 1e9, finite) == 0x7f);
  CHECK(decode(finite, as("p3109", infinity, finite)) == finite.max_finite());
  CHECK(as("p3109", -infinity, finite) == 0xff);
  CHECK(as("p3109", -not_a_number, extended) == 0x80);
  CHECK(as("p3109", -1e-30, extended) == 0x00);
  CHECK(as("p3109", 1.0, extended) == 0x40);  // the middle code
  CHECK(as("p3109", -1.0, plain) == 0xff);    // below the lowest of an unsigned format: NaN
  CHECK(as("p3109", -1e-30, plain) == 0x00);  // it rounds to zero first
  CHECK(as("p3109", infinity, plain) == 0xfe);
}

TEST_CASE("presets: the converter for many numbers does what convert() does, in every preset and format") {
  std::uint64_t checked = 0;
  for (const Preset& preset : all_presets)
    for (const NamedScalarFormat& named : all_scalar_formats) {
      const ScalarFormat& f = named.format;
      const Rounding rounding = rounding_under_preset(unscaled(f), preset);
      const SpecialValues special = special_under_preset(unscaled(f), preset);
      const Converter converter(f, rounding, special);
      std::vector<double> points{0,     0x1p-149,       0x1p-1074, 0x1p-130,
                                 1e300, f.max_finite(), infinity,  not_a_number};
      for (std::uint32_t code = 0; code < std::min<std::uint64_t>(f.code_count() / 2, 300); ++code) {
        const double v = decode(f, code), next = decode(f, code + 1), middle = v + (next - v) / 2;
        if (!std::isfinite(middle)) continue;
        for (const double x : {v, middle})
          points.insert(points.end(), {x, std::nextafter(x, 0.0), std::nextafter(x, 1e308)});
      }
      for (const double x : points)
        for (const double source : {x, -x}) {
          ++checked;
          if (converter.code(source, 0) == convert(source, f, rounding, special, 0)) continue;
          INFO(std::string(preset.name), " ", std::string(named.name), " ", source);
          CHECK(converter.code(source, 0) == convert(source, f, rounding, special, 0));
        }
    }
  CHECK(checked > 50'000);
}
