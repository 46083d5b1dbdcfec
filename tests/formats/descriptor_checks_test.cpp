// Which fields make a format: judged once by descriptor_checks.h, and once by looking at every code.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "formats/spec/descriptor_checks.h"
#include "formats/encode.h"
#include "formats/spec.h"

using namespace halfulp;

namespace {

enum class Meaning { number, infinity, nan, several };

/// What the sentences of the two enums say about a code.
Meaning meaning_of(const ScalarFormat& f, std::uint32_t magnitude, bool negative) {
  const std::uint32_t fraction_ones = (1u << f.fraction_bits) - 1;
  const std::uint32_t all_ones = (1u << f.magnitude_bits()) - 1;
  const bool top_exponent = magnitude >> f.fraction_bits == (1u << f.exponent_bits) - 1;
  const std::uint32_t fraction = magnitude & fraction_ones;
  bool nan = false, infinity = false;
  std::uint32_t top = all_ones;  // the largest that is no NaN
  switch (f.nan) {
    case NanEncoding::none:
      break;
    case NanEncoding::ieee:
      nan = top_exponent && fraction != 0;
      top = all_ones - fraction_ones;
      break;
    case NanEncoding::all_ones:
      nan = magnitude == all_ones;
      top = all_ones - 1;
      break;
    case NanEncoding::negative_zero:
      nan = negative && magnitude == 0;
      break;
  }
  switch (f.infinity) {
    case Infinity::none:
      break;
    case Infinity::ieee:
      infinity = top_exponent && fraction == 0;
      break;
    case Infinity::top_code:
      infinity = magnitude == top;
      break;
  }
  return nan && infinity ? Meaning::several
         : nan           ? Meaning::nan
         : infinity      ? Meaning::infinity
                         : Meaning::number;
}

/// Whether every code means one thing and finds back to itself.
bool codes_are_sound(const ScalarFormat& f) {
  const std::uint32_t sign = f.is_signed ? 1u << f.magnitude_bits() : 0;
  bool has_positive = false;
  for (std::uint32_t code = 0; code < f.code_count(); ++code) {
    const bool negative = (code & sign) != 0;
    const std::uint32_t magnitude = code & ((1u << f.magnitude_bits()) - 1);
    const Meaning meaning = meaning_of(f, magnitude, negative);
    const Meaning decoded = is_nan_code(f, code)        ? Meaning::nan
                            : is_infinity_code(f, code) ? Meaning::infinity
                                                        : Meaning::number;
    if (meaning != decoded) return false;
    const double value = decode(f, code);
    const std::uint32_t back = encode(f, value);
    if (meaning == Meaning::number && !std::isfinite(value)) return false;
    if (meaning == Meaning::number && magnitude > f.top_magnitude()) return false;
    if (meaning == Meaning::nan ? !is_nan_code(f, back) : is_nan_code(f, back)) return false;
    // Without subnormals their codes are zeros too.
    const bool zero_again = !f.has_subnormals && f.has_zero && magnitude >> f.fraction_bits == 0;
    if (meaning != Meaning::nan && back != (zero_again ? code & sign : code)) return false;
    has_positive = has_positive || (meaning == Meaning::number && value > 0);
  }
  return has_positive;
}

/// Whether conversion reaches the nearest number everywhere, and integers agree with lanes.
bool rounding_is_sound(const ScalarFormat& f) {
  std::vector<double> numbers;
  for (std::uint32_t code = 0; code < f.code_count(); ++code)
    if (const double value = decode(f, code); std::isfinite(value)) numbers.push_back(value);
  if (numbers.size() < 2) return false;  // a single number is no format
  std::sort(numbers.begin(), numbers.end());
  const SpecialValues saturate = special_values(OverflowPolicy::saturate);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double gap = i + 1 < numbers.size() ? numbers[i + 1] - numbers[i] : numbers[i];
    for (const double part : {0.0, 0.25, 0.75}) {
      const double x = numbers[i] + part * gap;
      const double got = decode(f, convert(x, f, nearest_even, saturate, 0));
      double smallest = std::fabs(numbers[0] - x);
      for (const double number : numbers) smallest = std::min(smallest, std::fabs(number - x));
      if (std::fabs(got - x) != smallest) return false;
      for (const RoundingMode mode : {RoundingMode::nearest_even, RoundingMode::up, RoundingMode::odd})
        if (convert(x, f, {mode, 0}, saturate, 0) != convert_dyadic(dyadic_of(x), f, {mode, 0}, saturate, 0))
          return false;
    }
  }
  // Toward zero from the smallest numbers, on both sides.
  const double tiny = f.min_positive() * 0.375;
  for (const double x : {tiny, f.is_signed ? -tiny : tiny}) {
    double smallest = HUGE_VAL;
    for (const double number : numbers) smallest = std::min(smallest, std::fabs(number - x));
    if (std::fabs(decode(f, convert(x, f, nearest_even, saturate, 0)) - x) != smallest) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("refusal_of: exactly the fields whose codes and rounding are sound are formats") {
  std::size_t accepted = 0, refused = 0;
  for (int exponent_bits = 1; exponent_bits <= 4; ++exponent_bits)
    for (int fraction_bits = 0; fraction_bits <= 3; ++fraction_bits)
      for (const bool is_signed : {true, false})
        for (const int bias : {-3, 0, 1, 7})
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
                if (f.bits() < 2) continue;
                // Contradictions in the words, whatever the codes do; and what is sound but refused: ieee's
                // NaN where no code is left for it, or beside an infinity that is ieee's but for its name;
                // numbers that are all subnormal.
                const bool contradicts =
                    (!is_signed && (f.has_negative_zero || nan == NanEncoding::negative_zero)) ||
                    (nan == NanEncoding::negative_zero && f.has_negative_zero) ||
                    (!f.has_zero && f.has_subnormals);
                const bool misnamed =
                    nan == NanEncoding::ieee && (fraction_bits == 0 || infinity != Infinity::ieee);
                const bool has_codes = !contradicts && codes_are_sound(f);
                const bool has_normals = has_codes && f.max_exponent() >= f.min_exponent();
                const bool sound = has_normals && !misnamed && rounding_is_sound(f);
                const auto refusal = refusal_of(f);
                INFO(to_spec(f), " ", refusal ? refusal->problem : "accepted");
                CHECK(sound == !refusal.has_value());
                (refusal ? refused : accepted) += 1;
              }
  MESSAGE(accepted, " accepted, ", refused, " refused");
  CHECK(accepted > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("refusal_of: fixed point with special codes is no format") {
  ScalarFormat f = parse_scalar_format("fixed{bits=6}");
  CHECK(!refusal_of(f).has_value());
  f.nan = NanEncoding::all_ones;
  CHECK(refusal_of(f)->problem == "fixed point with special codes");
}

TEST_CASE("refusal_of: widths and biases up to their ends") {
  const auto refused = [](int exponent_bits, int fraction_bits, int bias) {
    return refusal_of(
               ScalarFormat{.exponent_bits = exponent_bits, .fraction_bits = fraction_bits, .bias = bias})
        .has_value();
  };
  CHECK(!refused(8, 23, 127));
  CHECK(refused(8, 24, 127));
  CHECK(refused(9, 23, 127));
  CHECK(!refused(16, 15, 32767));
  CHECK(refused(17, 3, 0));
  CHECK(refused(0, 3, 0));
  CHECK(!refused(1, 0, 0));
  CHECK(refused(3, -1, 0));
  CHECK(!refused(5, 2, 39999));
  CHECK(refused(5, 2, 40000));
  CHECK(!refused(5, 2, 31 - 40000));
  CHECK(refused(5, 2, 30 - 40000));
}
