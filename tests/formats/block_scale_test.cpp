// Scale rules of the MX formats and of fp32-scaled blocks, and what blocks do to zeros, NaN and infinities.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "formats/block.h"
#include "formats/catalog.h"
#include "formats/spec.h"

using namespace halfulp;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

BlockFormat rule(const ScalarFormat& element, ScaleRule scale_rule) { return mx(element, scale_rule); }

int exponent_of(const ScalarFormat& element, ScaleRule scale_rule, double amax) {
  return static_cast<int>(choose_scale(rule(element, scale_rule), amax, 1.0f, 0)) - 127;
}

struct Coded {
  std::uint32_t scale;
  std::vector<std::uint32_t> codes;

  friend bool operator==(const Coded&, const Coded&) = default;
};

Coded code_block(const BlockFormat& f, const std::vector<double>& values) {
  double amax = 0;
  for (const double v : values) amax = std::max(amax, std::fabs(v));
  Coded coded{choose_scale(f, amax, 1.0f, 0), {}};
  const double multiplier = scale_value(f, coded.scale, 1.0f);
  for (const double v : values)
    coded.codes.push_back(convert_in_block(v, f, exact_divisor(multiplier), nearest_even,
                                           special_values(OverflowPolicy::saturate), 0));
  return coded;
}

}  // namespace

TEST_CASE("scale rules: the exponents of ocp_floor and rceil for amax between 1 and 2") {
  struct {
    ScalarFormat element;
    double amax;
    int floor, rceil;
  } const rows[] = {{e2m1, 1.25, -2, -2},   {e2m1, 1.5, -2, -2},     {e2m1, 1.5625, -2, -1},
                    {e2m1, 1.75, -2, -1},   {e4m3, 1.5, -8, -8},     {e4m3, 1.75, -8, -8},
                    {e4m3, 1.875, -8, -7},  {e4m3, 1.9375, -8, -7},  {e2m3, 1.75, -2, -2},
                    {e2m3, 1.9375, -2, -1}, {e3m2, 1.5, -4, -4},     {e3m2, 1.875, -4, -3},
                    {e5m2, 1.5, -15, -15},  {e5m2, 1.875, -15, -14}, {int8, 1.0, 0, 0},
                    {int8, 1.984375, 0, 0}, {int8, 1.9921875, 0, 1}};
  for (const auto& row : rows)
    for (const int shift : {-60, -1, 0, 1, 60}) {
      INFO(row.amax, " shift ", shift);
      CHECK(exponent_of(row.element, ScaleRule::ocp_floor, std::ldexp(row.amax, shift)) == row.floor + shift);
      CHECK(exponent_of(row.element, ScaleRule::rceil, std::ldexp(row.amax, shift)) == row.rceil + shift);
    }
}

TEST_CASE("scale rules: at every power of two, and one fp32 step below it, the exponent is exact") {
  for (const ScalarFormat& element : {e4m3, e5m2, e3m2, e2m3, e2m1, int8})
    for (int k = -126; k <= 127; ++k) {
      const float power = static_cast<float>(power_of_two(k)), below = std::nextafter(power, 0.0f);
      const int top = element.max_exponent();
      const auto clamped = [](int exponent) { return std::clamp(exponent, -127, 127); };
      CHECK(exponent_of(element, ScaleRule::ocp_floor, power) == clamped(k - top));
      CHECK(exponent_of(element, ScaleRule::ocp_floor, below) == clamped(k - 1 - top));
      // max = 2^top c with 1 < c < 2: 2^k needs 2^(k - top), and so does everything above 2^(k-1) c.
      CHECK(exponent_of(element, ScaleRule::rceil, power) == clamped(k - top));
      CHECK(exponent_of(element, ScaleRule::rceil, below) == clamped(k - top));
    }
}

TEST_CASE(
    "rceil: at the largest element times any power of two the scale is that power; one step above, the "
    "next") {
  for (const ScalarFormat& element : {e4m3, e5m2, e3m2, e2m3, e2m1, int8})
    for (int k = -100; k <= 100; ++k) {
      const double edge = std::ldexp(element.max_finite(), k);
      CHECK(exponent_of(element, ScaleRule::rceil, edge) == k);
      CHECK(exponent_of(element, ScaleRule::rceil, std::nextafter(edge, 0.0)) == k);
      CHECK(exponent_of(element, ScaleRule::rceil, std::nextafter(edge, infinity)) == k + 1);
    }
}

TEST_CASE("scale rules: E8M0 scales saturate at both ends and a zero block has the smallest") {
  for (const auto scale_rule : {ScaleRule::ocp_floor, ScaleRule::rceil})
    for (const ScalarFormat& element : {e4m3, e2m1, int8}) {
      const BlockFormat f = rule(element, scale_rule);
      for (const double tiny : {0.0, 0x1p-149, 0x1p-140, 0x1p-1074, 0x1p-1022, 0x1.8p-900})
        CHECK(choose_scale(f, tiny, 1.0f, 0) == 0);
      CHECK(choose_scale(f, 0x1p200, 1.0f, 0) == 0xfe);
      CHECK(choose_scale(f, std::numeric_limits<double>::max(), 1.0f, 0) == 0xfe);
    }
}

TEST_CASE("MX blocks: a zero block codes as signed zeros, and decodes to them") {
  for (const NamedBlockFormat& named : all_block_formats) {
    if (named.format.has_tensor_scale()) continue;
    const Coded coded = code_block(named.format, {0.0, 0.0, -0.0});
    INFO(std::string(named.name));
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(decode_in_block(named.format, coded.codes[i], coded.scale, 1.0f) == 0);
      if (named.format.element.has_negative_zero)
        CHECK(std::signbit(decode_in_block(named.format, coded.codes[i], coded.scale, 1.0f)) == (i == 2));
    }
  }
}

TEST_CASE("MX blocks: the floor rule saturates the top of the block, rceil does not") {
  const std::vector<double> block{957, 960, -959.5, 902, 0};
  CHECK(code_block(rule(e4m3, ScaleRule::ocp_floor), block) == Coded{0x80, {0x7e, 0x7e, 0xfe, 0x7e, 0x00}});
  CHECK(code_block(rule(e4m3, ScaleRule::rceil), block) == Coded{0x81, {0x77, 0x77, 0xf7, 0x76, 0x00}});
  CHECK(decode_in_block(rule(e4m3, ScaleRule::ocp_floor), 0x7e, 0x80, 1.0f) == 896);
  CHECK(decode_in_block(rule(e4m3, ScaleRule::rceil), 0x77, 0x81, 1.0f) == 960);
}

TEST_CASE("rceil: amax against scale, code and value for E4M3 around 448") {
  struct {
    double amax;
    std::uint32_t scale, code;
    double decoded;
  } const rows[] = {{318, 0x7f, 0x7a, 320},
                    {448, 0x7f, 0x7e, 448},
                    {449, 0x80, 0x76, 448},
                    {632, 0x80, 0x7a, 640},
                    {633, 0x80, 0x7a, 640}};
  const BlockFormat f = rule(e4m3, ScaleRule::rceil);
  for (const auto& row : rows) {
    INFO(row.amax);
    CHECK(code_block(f, {row.amax}) == Coded{row.scale, {row.code}});
    CHECK(decode_in_block(f, row.code, row.scale, 1.0f) == row.decoded);
  }
}

TEST_CASE("MX blocks: tiny blocks keep exact scales down to 2^-127") {
  const auto block = [](double v) { return std::vector<double>{v, -v / 4}; };
  const BlockFormat floor = rule(e4m3, ScaleRule::ocp_floor), rceil = rule(e4m3, ScaleRule::rceil);
  CHECK(code_block(floor, block(0x1.dp-119)) == Coded{0x00, {0x7e, 0xee}});
  CHECK(code_block(rceil, block(0x1.dp-119)) == Coded{0x01, {0x76, 0xe6}});
  CHECK(code_block(floor, block(0x1p-118)) == Coded{0x01, {0x78, 0xe8}});
  CHECK(code_block(rceil, block(0x1p-118)) == Coded{0x01, {0x78, 0xe8}});
  CHECK(code_block(floor, block(0x1.fp-120)) == Coded{0x00, {0x78, 0xe8}});
  CHECK(code_block(floor, block(0x1p-126)) == Coded{0x00, {0x40, 0xb0}});
  CHECK(code_block(rceil, block(0x1p-126)) == Coded{0x00, {0x40, 0xb0}});
  // Subnormal amax in fp32.
  CHECK(code_block(floor, {0x1p-149, -0x1p-149}) == Coded{0x00, {0x00, 0x80}});
  CHECK(code_block(rceil, {0x1.fffffcp-127}) == Coded{0x00, {0x40}});
  CHECK(decode_in_block(floor, 0x38, 0x00, 1.0f) == 0x1p-127);
}

TEST_CASE("MXINT8: both ends of the range, ties to even, and -128") {
  const std::vector<double> block{1,         0x1.fffffep+0, -0x1.fffffep+0, 1.984375,
                                  1.9921875, -0.0078125,    0.0234375};
  const BlockFormat f = rule(int8, ScaleRule::ocp_floor);
  CHECK(code_block(f, block) == Coded{0x7f, {0x40, 0x7f, 0x80, 0x7f, 0x7f, 0x00, 0x02}});
  SpecialValues symmetric = special_values(OverflowPolicy::saturate);
  symmetric.symmetric_fixed_point = true;
  CHECK(convert_in_block(-0x1.fffffep+0, f, exact_divisor(1.0), nearest_even, symmetric, 0) == 0x81);
  CHECK(code_block(f, {1.5, 1, -1.9, 0.3}) ==
        Coded{0x7f, {0x60, 0x40, 0x86, 0x13}});  // 1.5, 1, -1.90625, 0.296875
}

TEST_CASE("blocks: a NaN or an infinity poisons the scale, and every element reads back as NaN") {
  for (const NamedBlockFormat& named : all_block_formats) {
    const BlockFormat& f = named.format;
    INFO(std::string(named.name));
    for (const double bad : {infinity, std::numeric_limits<double>::quiet_NaN()}) {
      const std::uint32_t scale = choose_scale(f, bad, 1.0f, 0);
      CHECK(is_nan_code(f.scale, scale));
      for (std::uint32_t code = 0; code < f.element.code_count(); ++code) {
        const double value = decode_in_block(f, code, scale, 1.0f);
        CHECK(value != value);
      }
    }
  }
  CHECK(choose_scale(rule(e4m3, ScaleRule::ocp_floor), infinity, 1.0f, 0) == 0xff);
  CHECK(choose_scale(parse_format("nvfp4"), infinity, 1.0f, 0) == 0x7f);
}

TEST_CASE("decode_in_block: the FP4 codes under the scales at both ends") {
  const BlockFormat f = rule(e2m1, ScaleRule::ocp_floor);
  CHECK(decode_in_block(f, 0x1, 0x7f, 1.0f) == 0.5);
  CHECK(decode_in_block(f, 0xf, 0x7f, 1.0f) == -6);
  CHECK(decode_in_block(f, 0x1, 0x00, 1.0f) == 0x1p-128);
  CHECK(decode_in_block(f, 0x7, 0x00, 1.0f) == 6 * 0x1p-127);
  CHECK(decode_in_block(f, 0x7, 0xfe, 1.0f) == infinity);  // 6 * 2^127 is beyond fp32
  CHECK(decode_in_block(f, 0x5, 0xfe, 1.0f) == infinity);
  CHECK(decode_in_block(f, 0x3, 0xfe, 1.0f) == 0x1.8p127);
  CHECK(decode_in_block(unscaled(e2m1), 0x7, 0, 1.0f) == 6);
}

TEST_CASE(
    "decode_in_block: for every element and scale code of the MX formats the value is element * 2^(scale - "
    "127)") {
  for (const ScalarFormat& element : {e4m3, e5m2, e3m2, e2m3, e2m1, int8}) {
    const BlockFormat f = rule(element, ScaleRule::ocp_floor);
    std::uint64_t different = 0;
    for (std::uint32_t scale = 0; scale < 255; ++scale)
      for (std::uint32_t code = 0; code < element.code_count(); ++code) {
        const double exact = std::ldexp(decode(element, code), static_cast<int>(scale) - 127);
        const double got = decode_in_block(f, code, scale, 1.0f);
        // At most 7 bits: exact in fp32 down to 2^-149, beyond that one rounding.
        const bool same =
            exact != exact ? got != got : bits_of(got) == bits_of(double{static_cast<float>(exact)});
        different += same ? 0 : 1;
      }
    CHECK(different == 0);
  }
}
