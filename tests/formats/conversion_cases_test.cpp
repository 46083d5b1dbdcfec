// Conversions that went wrong in other software, with their right answers; the flat ones in a file of
// vectors.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "formats/converter.h"
#include "tests/formats/reported_conversions.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();
constexpr SpecialValues saturate = special_values(OverflowPolicy::saturate);
constexpr SpecialValues ieee = special_values(OverflowPolicy::ieee);
constexpr SpecialValues ocp = special_values(OverflowPolicy::ocp);

std::uint32_t nearest(double x, const ScalarFormat& f, const SpecialValues& special = saturate) {
  return convert(x, f, nearest_even, special, 0);
}

std::vector<Rounding> every_rounding() {
  std::vector<Rounding> all;
  for (const NamedRoundingMode& named : all_rounding_modes)
    all.push_back({named.mode, named.mode == RoundingMode::stochastic_equal ? 1
                               : is_stochastic(named.mode)                  ? 16
                                                                            : 0});
  return all;
}

int nan_codes(const ScalarFormat& f) {
  int count = 0;
  for (std::uint32_t code = 0; code < f.code_count(); ++code) count += is_nan_code(f, code) ? 1 : 0;
  return count;
}

constexpr ScalarFormat fp8_formats[] = {e4m3, e5m2, e4m3_ieee, e3m4, e4m3fnuz, e5m2fnuz, e4m3b11fnuz};
constexpr ScalarFormat nanless_formats[] = {e2m1, e3m2, e2m3};

}  // namespace

TEST_CASE("conversion cases: every reported conversion gives the stated code in every mode and policy") {
  const std::vector<ReportedConversion> all = reported_conversions();
  CHECK(all.size() == 394);
  for (const ReportedConversion& c : all) {
    INFO(c.line);
    for (std::size_t m = 0; m < reported_modes.size(); ++m) {
      const Rounding rounding{reported_modes[m], 0};
      INFO(to_string(rounding));
      const SpecialValues special = special_values(c.policy);
      // A NaN without a code has the one that the conventions name; they have a test of their own.
      const std::uint32_t expected = c.codes[m] ? *c.codes[m] : c.format.top_magnitude();
      CHECK((c.codes[m] || (c.input != c.input && !c.format.has_nan())));
      CHECK(convert(c.input, c.format, rounding, special, 0) == expected);
      CHECK(Converter(c.format, rounding, special).code(c.input, 0) == expected);
      if (c.format.has_double_view())
        CHECK(convert_dyadic(dyadic_of(c.input), c.format, rounding, special, 0) == expected);
    }
  }
}

TEST_CASE("conversion cases: no sample is one step too small or too large") {
  // A truncating step in between makes some numbers too small and none too large; rounding once makes
  // neither.
  std::vector<double> values;
  for (std::uint32_t code = 0; code <= e4m3.top_magnitude(); ++code) values.push_back(decode(e4m3, code));
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(0, 448);
  int too_small = 0, too_large = 0, ties = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = uniform(random);
    const auto above = std::lower_bound(values.begin(), values.end(), x);
    const double high = *above, low = above == values.begin() ? high : *(above - 1);
    if (x - low == high - x) ++ties;
    const double got = decode(e4m3, nearest(x, e4m3));
    const double right = x - low < high - x ? low : high;
    if (x - low == high - x && low != high) continue;
    too_small += got < right ? 1 : 0;
    too_large += got > right ? 1 : 0;
  }
  CHECK(too_small == 0);
  CHECK(too_large == 0);
  CHECK(ties < 1000);  // the samples are not all ties, which this test leaves to others
}

TEST_CASE("conversion cases: to odd beyond the range stops at max finite under ieee alone") {
  // 448 has an even code, so its odd neighbour is what overflows; ieee reads that as IEEE 754 reads toward
  // zero.
  for (const double x : {449.0, 1e6}) {
    CHECK(convert(x, e4m3, {RoundingMode::odd, 0}, ieee, 0) == 0x7e);
    CHECK(convert(x, e4m3, {RoundingMode::odd, 0}, saturate, 0) == 0x7e);
    CHECK(convert(x, e4m3, {RoundingMode::odd, 0}, ocp, 0) == 0x7f);
  }
}

TEST_CASE("conversion cases: infinities and NaN under each reading") {
  // Saturating: max finite of the sign. Else Inf, else NaN. ONNX keeps a third: NaN for Inf where 80 is the
  // NaN.
  // onnx/onnx#6220, pytorch/pytorch#178817
  CHECK(nearest(infinity, e4m3fnuz, ieee) == 0x80);
  CHECK(nearest(-infinity, e4m3fnuz, ieee) == 0x80);
  CHECK(nearest(infinity, e4m3, ocp) == 0x7f);
  CHECK(nearest(infinity, e5m2, ocp) == 0x7c);
  CHECK(nearest(-infinity, e4m3fnuz, saturate) == 0xff);
  CHECK(nearest(infinity, e5m2fnuz, saturate) == 0x7f);
  CHECK(nearest(infinity, e4m3, saturate) == 0x7e);
  CHECK(nearest(infinity, e5m2, saturate) == 0x7b);
  const SpecialValues onnx = special_values(OverflowPolicy::onnx);
  CHECK(nearest(infinity, e4m3fnuz, onnx) == 0x80);
  CHECK(nearest(-infinity, e5m2fnuz, onnx) == 0x80);
  CHECK(nearest(1e9, e4m3fnuz, onnx) == 0x7f);
  CHECK(nearest(infinity, e4m3, onnx) == 0x7e);
  for (const ScalarFormat& f : fp8_formats)
    for (const NamedOverflowPolicy& named : all_overflow_policies)
      for (const Rounding& rounding : every_rounding())
        for (const double source : {quiet_nan, -quiet_nan}) {
          const std::uint32_t code = convert(source, f, rounding, special_values(named.policy), 0);
          INFO(std::string(named.name), " ", to_string(rounding));
          CHECK(is_nan_code(f, code));  // a NaN is never saturated
        }
}

TEST_CASE("conversion cases: NaN codes decode as NaN, and there are as many as the format has") {
  // 80 is NaN in FNUZ formats, not -0; it is -0 in the others. triton-lang/triton#10745,
  // triton-lang/triton#10747
  for (const ScalarFormat& f : {e4m3fnuz, e5m2fnuz, e4m3b11fnuz}) CHECK(std::isnan(decode(f, 0x80)));
  CHECK(std::isnan(decode(e4m3, 0x7f)));
  CHECK(std::isnan(decode(e4m3, 0xff)));
  CHECK(decode(e4m3, 0x80) == 0);
  CHECK(std::signbit(decode(e4m3, 0x80)));
  CHECK(decode(e4m3fnuz, 0x7f) == 240);
  CHECK(nan_codes(e4m3) == 2);
  CHECK(nan_codes(e5m2) == 6);
  CHECK(nan_codes(e4m3fnuz) == 1);
  CHECK(nan_codes(e5m2fnuz) == 1);
  for (const ScalarFormat& f : {e4m3, e4m3fnuz, e5m2fnuz, e2m1, e3m2, e2m3, e8m0}) {
    CHECK(!f.has_infinity());
    for (std::uint32_t code = 0; code < f.code_count(); ++code) {
      CHECK(!is_infinity_code(f, code));
      CHECK(!std::isinf(decode(f, code)));
    }
  }
}

TEST_CASE("conversion cases: a directed mode that overflows, in each reading") {
  // The OFP8 table covers nearest only: ieee stops where the mode points inward, ocp gives NaN in every mode.
  // ucb-bar/saturn-vectors#101
  const double x = std::bit_cast<float>(0x5bf80000u);  // bf16 5bf8
  CHECK(x == 139611588448485376.0);
  for (const RoundingMode mode : reported_modes) {
    CHECK(convert(x, e4m3, {mode, 0}, ocp, 0) == 0x7f);
    CHECK(convert(-x, e4m3, {mode, 0}, ocp, 0) == 0xff);
    CHECK(convert(x, e4m3, {mode, 0}, saturate, 0) == 0x7e);
  }
  CHECK(convert(x, e4m3, {RoundingMode::down, 0}, ieee, 0) ==
        convert(x, e4m3, {RoundingMode::toward_zero, 0}, ieee, 0));
  CHECK(convert(x, e4m3, {RoundingMode::up, 0}, ieee, 0) ==
        convert(x, e4m3, {RoundingMode::away_from_zero, 0}, ieee, 0));
  CHECK(convert(-x, e4m3, {RoundingMode::up, 0}, ieee, 0) == 0xfe);
  CHECK(convert(-x, e4m3, {RoundingMode::down, 0}, ieee, 0) == 0xff);
}

TEST_CASE("conversion cases: encoding what was decoded is the identity, in every mode") {
  // A number of the format leaves nothing to round; NaN codes become the canonical one.
  // tenstorrent/tt-metal#51971
  for (const NamedScalarFormat& named : all_scalar_formats) {
    const ScalarFormat& f = named.format;
    if (f.bits() > 16) continue;
    for (const Rounding& rounding : every_rounding())
      for (const SpecialValues& special : {saturate, ocp}) {
        const std::uint32_t all_ones =
            static_cast<std::uint32_t>((std::uint64_t{1} << rounding.random_bits) - 1);
        std::uint32_t different = 0;
        for (std::uint32_t code = 0; code < f.code_count(); ++code) {
          const double value = decode(f, code);
          const bool is_nan = is_nan_code(f, code);
          if (std::isinf(value) && special == saturate) continue;
          const std::uint32_t expected = is_nan ? nan_code(f, std::signbit(value)) : code;
          if (convert(value, f, rounding, special, all_ones) != expected) ++different;
        }
        INFO(std::string(named.name), " ", to_string(rounding));
        CHECK(different == 0);
      }
  }
}

TEST_CASE("conversion cases: NaN and -0 in formats without NaN, as each convention has it") {
  // No code can carry a NaN, so what it becomes is said; the CUDA host conversions give +max for either sign.
  struct {
    NanWithoutCode convention;
    std::uint32_t plus, minus;  // e2m1
  } const rows[] = {{NanWithoutCode::max_finite_signed, 0x7, 0xf},
                    {NanWithoutCode::max_finite_positive, 0x7, 0x7},
                    {NanWithoutCode::zero, 0x0, 0x0},
                    {NanWithoutCode::negative_zero, 0x8, 0x8}};
  for (const auto& row : rows) {
    SpecialValues special = saturate;
    special.nan_without_code = row.convention;
    CHECK(nearest(quiet_nan, e2m1, special) == row.plus);
    CHECK(nearest(-quiet_nan, e2m1, special) == row.minus);
  }
  SpecialValues cuda = saturate, dropped = saturate;
  cuda.nan_without_code = NanWithoutCode::max_finite_positive;
  dropped.negative_zero = NegativeZero::drop;
  constexpr std::uint32_t largest[] = {0x7, 0x1f, 0x1f}, minus_zero[] = {0x8, 0x20, 0x20};
  for (std::size_t i = 0; i < 3; ++i) {
    const ScalarFormat& f = nanless_formats[i];
    for (const double source : {quiet_nan, -quiet_nan}) CHECK(nearest(source, f, cuda) == largest[i]);
    for (const SpecialValues& special : {saturate, ieee, ocp})
      CHECK(nearest(infinity, f, special) == largest[i]);
    CHECK(nearest(-0.0, f) == minus_zero[i]);
    CHECK(nearest(-0.0, f, dropped) == 0);
  }
  CHECK(nearest(-0.1, e2m1) == 0x8);
  CHECK(nearest(-0.1, e2m1, dropped) == 0x0);
}

TEST_CASE("conversion cases: a format as wide as its source changes no bit") {
  // Nothing is discarded: a shift by the whole word must not happen.
  std::mt19937 random(9);
  std::vector<std::uint32_t> sources{0x40400000, 0xc0400000, 0x00000001, 0x80000000, 0x7f7fffff};
  while (sources.size() < 1000) {
    const auto bits = static_cast<std::uint32_t>(random());
    if (std::isfinite(std::bit_cast<float>(bits))) sources.push_back(bits);
  }
  std::vector<Rounding> roundings = every_rounding();
  for (const auto mode : {RoundingMode::stochastic_a, RoundingMode::stochastic_b, RoundingMode::stochastic_c,
                          RoundingMode::stochastic_odd})
    for (const int bits : {1, 24, 32}) roundings.push_back({mode, bits});
  for (const Rounding& rounding : roundings) {
    std::size_t different = 0;
    for (const std::uint32_t bits : sources)
      for (const std::uint64_t r : {std::uint64_t{0}, (std::uint64_t{1} << rounding.random_bits) - 1})
        if (convert(std::bit_cast<float>(bits), fp32, rounding, saturate, static_cast<std::uint32_t>(r)) !=
            bits)
          ++different;
    INFO(to_string(rounding));
    CHECK(different == 0);
  }
}

TEST_CASE("conversion cases: -0 at every place of vectors of every length") {
  // Vector body and tail are different code. intel/torch-xpu-ops#2951
  struct {
    ScalarFormat format;
    std::uint32_t code;
  } const rows[] = {{e4m3, 0x80},     {e5m2, 0x80},   {e4m3fnuz, 0x00},
                    {e5m2fnuz, 0x00}, {bf16, 0x8000}, {fp16, 0x8000}};
  for (const auto& row : rows) {
    const Converter converter(row.format, nearest_even, saturate);
    std::size_t different = 0;
    for (std::size_t length = 1; length <= 67; ++length)
      for (std::size_t at = 0; at < length; ++at) {
        std::vector<double> in(length, 1.5), out(length);
        in[at] = -0.0;
        converter.values(in, {}, out);
        for (std::size_t i = 0; i < length; ++i) {
          const std::uint32_t expected = i == at ? row.code : encode(row.format, 1.5);
          if (encode(row.format, out[i]) != expected || converter.code(in[i], 0) != expected) ++different;
        }
      }
    CHECK(different == 0);
  }
}

TEST_CASE("conversion cases: subnormals decode as multiples of the smallest") {
  // Without the hidden bit: as a normal number, code 01 of E4M3 would be 0.0087890625.
  // local-inference-lab/b12x#388
  for (std::uint32_t code = 1; code <= 7; ++code) CHECK(decode(e4m3, code) == code * 0x1p-9);
  CHECK(decode(e4m3, 0x81) == -0.001953125);
  CHECK(decode(ue4m3, 0x01) == 0.001953125);
  for (std::uint32_t code = 1; code <= 3; ++code) CHECK(decode(e5m2, code) == code * 0x1p-16);
}

TEST_CASE("conversion cases: the largest numbers are finite") {
  // The top exponent of E4M3 and of the FNUZ formats is no special one.
  CHECK(decode(e4m3, 0x7e) == 448);
  CHECK(decode(e4m3, 0x78) == 256);
  CHECK(decode(e4m3fnuz, 0x78) == 128);
  for (const ScalarFormat& f : {e4m3, e5m2, e4m3fnuz, e5m2fnuz}) {
    CHECK(std::isfinite(decode(f, f.top_magnitude())));
    CHECK(decode(f, f.top_magnitude()) == f.max_finite());
  }
}

TEST_CASE("conversion cases: a sum of FP8 numbers overflows by the rule of every other conversion") {
  // The sum is exact in double and rounded once; 448 + 16 is the tie that stays.
  struct {
    double a, b;
    std::uint32_t overflowing, saturating;
  } const rows[] = {
      {448, 18, 0x7f, 0x7e}, {448, 16, 0x7e, 0x7e}, {448, 448, 0x7f, 0x7e}, {-448, -18, 0xff, 0xfe}};
  for (const auto& row : rows) {
    const double sum = decode(e4m3, nearest(row.a, e4m3)) + decode(e4m3, nearest(row.b, e4m3));
    CHECK(sum == row.a + row.b);
    CHECK(nearest(sum, e4m3, ocp) == row.overflowing);
    CHECK(nearest(sum, e4m3, ieee) == row.overflowing);
    CHECK(nearest(sum, e4m3, saturate) == row.saturating);
  }
}
