#include "emulation/oracle.h"

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>

namespace halfulp::oracle {
namespace {

// 53 bits of a double, 40 of a fraction and one of carry fit without rounding; the exponent range is far
// wider than double's, so |x| 2^-Q is exact for every x and Q.
using Exact = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<160, boost::multiprecision::digit_base_2, void, std::int32_t,
                                         -100000, 100000>,
    boost::multiprecision::et_off>;

constexpr double infinity = std::numeric_limits<double>::infinity();

int width(const ScalarFormat& f) { return (f.is_signed ? 1 : 0) + f.exponent_bits + f.fraction_bits; }
std::uint32_t ones(int n) { return n >= 32 ? 0xffff'ffffu : (std::uint32_t{1} << n) - 1; }
std::uint32_t sign_of_code(const ScalarFormat& f) { return std::uint32_t{1} << (width(f) - 1); }

enum class Kind { finite, infinite, not_a_number };

Kind kind_of(const ScalarFormat& f, std::uint32_t code) {
  if (f.is_signed && f.nan == NanEncoding::negative_zero && code == sign_of_code(f))
    return Kind::not_a_number;
  const std::uint32_t unsigned_part = f.is_signed ? code & ~sign_of_code(f) : code;
  const std::uint32_t exponent = unsigned_part >> f.fraction_bits;
  const std::uint32_t fraction = unsigned_part & ones(f.fraction_bits);
  if (exponent == ones(f.exponent_bits)) {
    if (f.nan == NanEncoding::ieee && fraction != 0) return Kind::not_a_number;
    if (f.infinity == Infinity::ieee && fraction == 0) return Kind::infinite;
    if (f.nan == NanEncoding::all_ones && fraction == ones(f.fraction_bits)) return Kind::not_a_number;
  }
  const std::uint32_t top =
      ones(f.exponent_bits + f.fraction_bits) - (f.nan == NanEncoding::all_ones ? 1 : 0);
  return f.infinity == Infinity::top_code && unsigned_part == top ? Kind::infinite : Kind::finite;
}

double finite_value(const ScalarFormat& f, std::uint32_t code) {
  const bool negative = f.is_signed && (code & sign_of_code(f)) != 0;
  if (f.is_fixed_point) {
    const std::int64_t integer = std::int64_t{code} - (negative ? std::int64_t{1} << width(f) : 0);
    return std::ldexp(static_cast<double>(integer), -f.fraction_bits);
  }
  const auto exponent = static_cast<int>((code >> f.fraction_bits) & ones(f.exponent_bits));
  const double fraction = std::ldexp(static_cast<double>(code & ones(f.fraction_bits)), -f.fraction_bits);
  double value = 0;
  if (exponent > 0 || !f.has_zero)
    value = std::ldexp(1 + fraction, exponent - f.bias);
  else if (f.has_subnormals)
    value = std::ldexp(fraction, 1 - f.bias);
  return negative ? -value : value;
}

int sign_of(const Exact& x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

bool inward(RoundingMode mode, bool negative) {
  return mode == RoundingMode::toward_zero || mode == (negative ? RoundingMode::up : RoundingMode::down);
}

/// floor(nu 2^n) for n <= 40.
std::uint64_t floor_of(const Bracket& b, int n) { return b.fraction >> (40 - n); }

/// nu 2^n rounded to the nearest integer, ties to even.
std::uint64_t nearest_of(const Bracket& b, int n) {
  const std::uint64_t whole = floor_of(b, n), rest = b.fraction - (whole << (40 - n)),
                      tie = std::uint64_t{1} << (39 - n);
  if (rest > tie || (rest == tie && b.fraction_rest)) return whole + 1;
  return rest == tie ? whole + whole % 2 : whole;
}

}  // namespace

double decode(const ScalarFormat& f, std::uint32_t code) {
  const bool negative = f.is_signed && (code & sign_of_code(f)) != 0;
  switch (kind_of(f, code)) {
    case Kind::finite:
      return finite_value(f, code);
    case Kind::infinite:
      return negative ? -infinity : infinity;
    case Kind::not_a_number:
      break;
  }
  const bool signed_nan = f.nan != NanEncoding::negative_zero;
  return std::copysign(std::numeric_limits<double>::quiet_NaN(), negative && signed_nan ? -1.0 : 1.0);
}

bool goes_away(const Bracket& b, Rounding rounding, std::uint32_t random) {
  const bool negative = std::signbit(b.x), inexact = b.fraction != 0 || b.fraction_rest;
  const int n = rounding.random_bits;
  const std::uint64_t r = random;
  if (!inexact) return false;
  switch (rounding.mode) {
    case RoundingMode::nearest_even:
      return b.half > 0 || (b.half == 0 && !b.lower_is_even);
    case RoundingMode::nearest_away:
      return b.half >= 0;
    case RoundingMode::nearest_to_zero:
      return b.half > 0;
    case RoundingMode::toward_zero:
      return false;
    case RoundingMode::away_from_zero:
      return true;
    case RoundingMode::up:
      return !negative;
    case RoundingMode::down:
      return negative;
    case RoundingMode::odd:
      return b.lower_is_even;
    case RoundingMode::stochastic_a:
      return floor_of(b, n) + r >= std::uint64_t{1} << n;
    case RoundingMode::stochastic_b:
      return floor_of(b, n + 1) + 2 * r + 1 >= std::uint64_t{2} << n;
    case RoundingMode::stochastic_c:
      return nearest_of(b, n) + r >= std::uint64_t{1} << n;
  }
  return false;
}

Oracle::Oracle(const ScalarFormat& f)
    : f_(f),
      largest_(0),
      infinity_(f.infinity != Infinity::none),
      nan_(f.nan != NanEncoding::none),
      negative_zero_(f.is_signed && f.has_negative_zero && !f.is_fixed_point &&
                     f.nan != NanEncoding::negative_zero) {
  if (width(f) <= 16) {
    for (std::uint32_t code = 0; code <= ones(width(f)); ++code) {
      const bool minus_zero = negative_zero_ && code == sign_of_code(f);
      if (kind_of(f, code) == Kind::finite && !minus_zero) numbers_.push_back({finite_value(f, code), code});
    }
    // Without subnormals all codes of exponent field 0 are zero: a stable sort keeps the canonical code 0
    // first.
    std::stable_sort(numbers_.begin(), numbers_.end(), [](auto a, auto b) { return a.value < b.value; });
    largest_ = numbers_.back().value;
    return;
  }
  std::uint32_t code = ones(f.exponent_bits + f.fraction_bits);
  if (f.infinity == Infinity::ieee || f.nan == NanEncoding::ieee) code -= std::uint32_t{1} << f.fraction_bits;
  while (kind_of(f, code) != Kind::finite) --code;
  largest_ = finite_value(f, code);
}

Bracket Oracle::bracket(double x) const {
  Bracket b{x, 0, 0, true, -1, 0, false, 0, 0};
  if (std::isnan(x) || std::isinf(x)) return b;
  const Exact magnitude = std::fabs(x);
  const int smallest = f_.has_zero ? 1 - f_.bias : -f_.bias;
  int exponent = smallest;
  if (x != 0) exponent = std::max(std::ilogb(x), smallest);
  int q = exponent - f_.fraction_bits;
  if (f_.is_fixed_point) q = -f_.fraction_bits;
  if (!f_.has_subnormals && f_.has_zero && magnitude < ldexp(Exact(1), smallest)) q = smallest;

  const Exact s = ldexp(magnitude, -q), whole = floor(s), nu = s - whole;
  const Exact scaled = ldexp(nu, 40), kept = floor(scaled);
  b.fraction = static_cast<std::uint64_t>(kept);
  b.fraction_rest = scaled != kept;
  b.half = sign_of(nu - Exact(0.5));
  b.lower = static_cast<double>(ldexp(whole, q));
  b.upper = nu == 0 ? b.lower : static_cast<double>(ldexp(whole + 1, q));
  // With one bit of precision S is 1 in every binade: the parity that matters is the code's, E = exponent +
  // bias.
  const bool parity_of_code = f_.fraction_bits == 0 && whole != 0;
  b.lower_is_even =
      parity_of_code ? (std::ilogb(b.lower) + f_.bias) % 2 == 0 : static_cast<std::uint64_t>(whole) % 2 == 0;
  const double sign = std::signbit(x) ? -1.0 : 1.0;
  b.lower_code = find(sign * b.lower);
  b.upper_code = find(sign * b.upper);
  return b;
}

std::uint32_t Oracle::find(double value) const {
  if (numbers_.empty()) return compute_code(value);
  const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), value,
                                   [](const Number& number, double v) { return number.value < v; });
  return at != numbers_.end() && at->value == value ? at->code : 0;
}

std::uint32_t Oracle::compute_code(double value) const {
  const double magnitude = std::fabs(value);
  if (magnitude == 0 || magnitude > largest_) return 0;
  const std::uint32_t sign = value < 0 ? sign_of_code(f_) : 0;
  const int exponent = std::ilogb(magnitude), field = exponent + f_.bias;
  if (field <= 0)
    return sign | static_cast<std::uint32_t>(std::ldexp(magnitude, f_.fraction_bits + f_.bias - 1));
  const double fraction = std::ldexp(magnitude, -exponent) - 1;
  return sign | static_cast<std::uint32_t>(field) << f_.fraction_bits |
         static_cast<std::uint32_t>(std::ldexp(fraction, f_.fraction_bits));
}

std::uint32_t Oracle::nan(const SpecialValues& special, bool negative) const {
  const bool minus = negative && special.nan_sign == NanSign::keep && f_.is_signed;
  const std::uint32_t sign = minus ? sign_of_code(f_) : 0;
  const std::uint32_t exponent = ones(f_.exponent_bits) << f_.fraction_bits;
  switch (f_.nan) {
    case NanEncoding::ieee:
      return sign | exponent | std::uint32_t{1} << (f_.fraction_bits - 1);
    case NanEncoding::all_ones:
      return sign | exponent | ones(f_.fraction_bits);
    case NanEncoding::negative_zero:
      return sign_of_code(f_);
    case NanEncoding::none:
      break;
  }
  switch (special.nan_without_code) {
    case NanWithoutCode::max_finite_signed:
      return find(minus ? -largest_ : largest_);
    case NanWithoutCode::max_finite_positive:
      return find(largest_);
    case NanWithoutCode::zero:
      return zero(false);
    case NanWithoutCode::negative_zero:
      return zero(true);
  }
  return 0;
}

std::uint32_t Oracle::zero(bool negative) const { return negative && negative_zero_ ? sign_of_code(f_) : 0; }

std::uint32_t Oracle::beyond(OverflowPolicy policy, RoundingMode mode, const SpecialValues& special,
                             bool negative, bool was_infinite, double limit) const {
  const std::uint32_t sign = negative ? sign_of_code(f_) : 0;
  const std::uint32_t top = find(negative ? -limit : limit);
  const std::uint32_t infinite = sign | (find(largest_) + 1);
  const std::uint32_t infinite_or_nan = infinity_ ? infinite : nan_ ? nan(special, negative) : top;
  switch (policy) {
    case OverflowPolicy::saturate:
    case OverflowPolicy::p3109_finite:
      return top;
    case OverflowPolicy::ieee:
      return !was_infinite && (inward(mode, negative) || mode == RoundingMode::odd) ? top : infinite_or_nan;
    case OverflowPolicy::ocp:
      return infinite_or_nan;
    case OverflowPolicy::p3109_propagate:
      return was_infinite && infinity_ ? infinite : top;
    case OverflowPolicy::p3109_none:
      if (!infinity_) return top;
      if (was_infinite) return infinite;
      return inward(mode, negative) || (mode == RoundingMode::odd && !f_.is_signed) ? top : infinite;
    case OverflowPolicy::onnx:
      return was_infinite && !infinity_ && f_.nan == NanEncoding::negative_zero ? nan(special, negative)
                                                                                : top;
  }
  return 0;
}

std::uint32_t Oracle::code(const Bracket& b, bool away, RoundingMode mode,
                           const SpecialValues& special) const {
  const bool negative = std::signbit(b.x);
  if (std::isnan(b.x)) return nan(special, negative);
  const double magnitude = std::isinf(b.x) ? infinity : away ? b.upper : b.lower;
  if (!f_.is_signed && b.x < 0 && (magnitude != 0 || !f_.has_zero)) return nan(special, false);
  // Two's complement reaches one step further below zero than above it.
  const bool one_more = f_.is_fixed_point && negative && !special.symmetric_fixed_point;
  const double limit = one_more ? largest_ + std::ldexp(1.0, -f_.fraction_bits) : largest_;
  if (magnitude > limit) return beyond(special.overflow, mode, special, negative, std::isinf(b.x), limit);
  if (magnitude == 0) return zero(negative);  // without a zero, code 0 is the smallest number
  return away ? b.upper_code : b.lower_code;
}

std::uint32_t Oracle::convert(double x, Rounding rounding, const SpecialValues& special,
                              std::uint32_t random) const {
  const Bracket b = bracket(x);
  return code(b, goes_away(b, rounding, random), rounding.mode, special);
}

std::uint32_t convert(double x, const ScalarFormat& f, Rounding rounding, const SpecialValues& special,
                      std::uint32_t random) {
  return Oracle(f).convert(x, rounding, special, random);
}

}  // namespace halfulp::oracle
