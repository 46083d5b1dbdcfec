#include "formats/conformance/oracle.h"

#include "formats/conformance/exact_number.h"

namespace halfulp::oracle {
namespace {

int width(const ScalarFormat& f) { return (f.is_signed ? 1 : 0) + f.exponent_bits + f.fraction_bits; }
std::uint32_t ones(int n) { return n >= 32 ? 0xffff'ffffu : (std::uint32_t{1} << n) - 1; }
std::uint32_t sign_of_code(const ScalarFormat& f) {
  return f.is_signed && f.table == nullptr ? std::uint32_t{1} << (width(f) - 1) : 0;
}

NumberClass kind_of(const ScalarFormat& f, std::uint32_t code) {
  if (f.is_signed && f.nan == NanEncoding::negative_zero && code == sign_of_code(f))
    return NumberClass::not_a_number;
  const std::uint32_t unsigned_part = f.is_signed ? code & ~sign_of_code(f) : code;
  const std::uint32_t exponent = unsigned_part >> f.fraction_bits;
  const std::uint32_t fraction = unsigned_part & ones(f.fraction_bits);
  if (exponent == ones(f.exponent_bits)) {
    if (f.nan == NanEncoding::ieee && fraction != 0) return NumberClass::not_a_number;
    if (f.infinity == Infinity::ieee && fraction == 0) return NumberClass::infinite;
    if (f.nan == NanEncoding::all_ones && fraction == ones(f.fraction_bits)) return NumberClass::not_a_number;
  }
  const std::uint32_t top =
      ones(f.exponent_bits + f.fraction_bits) - (f.nan == NanEncoding::all_ones ? 1 : 0);
  return f.infinity == Infinity::top_code && unsigned_part == top ? NumberClass::infinite
                                                                  : NumberClass::finite;
}

bool points_to_zero(RoundingMode mode, bool negative) {
  return mode == RoundingMode::toward_zero || mode == (negative ? RoundingMode::up : RoundingMode::down);
}

/// floor(nu 2^n) for n <= 40.
std::uint64_t floor_of(const Bracket& b, int n) { return b.fraction >> (40 - n); }

/// nu 2^n rounded to the nearest integer, ties to the one of this parity.
std::uint64_t nearest_of(const Bracket& b, int n, std::uint64_t parity) {
  const std::uint64_t whole = floor_of(b, n), rest = b.fraction - (whole << (40 - n)),
                      tie = std::uint64_t{1} << (39 - n);
  if (rest > tie || (rest == tie && b.fraction_rest)) return whole + 1;
  return rest == tie && whole % 2 != parity ? whole + 1 : whole;
}

}  // namespace

Dyadic number(const ScalarFormat& f, std::uint32_t code) {
  if (f.table != nullptr)
    return code < f.table_size ? exact_number(f.table[code]) : Dyadic{NumberClass::not_a_number, false, 0, 0};
  const bool negative = f.is_signed && (code & sign_of_code(f)) != 0;
  if (f.is_fixed_point) {
    const std::int64_t integer = std::int64_t{code} - (negative ? std::int64_t{1} << width(f) : 0);
    return {NumberClass::finite, negative, static_cast<std::uint64_t>(negative ? -integer : integer),
            1 - f.bias - f.fraction_bits};
  }
  const NumberClass kind = kind_of(f, code);
  if (kind == NumberClass::not_a_number) return {kind, negative && f.nan != NanEncoding::negative_zero, 0, 0};
  if (kind == NumberClass::infinite) return {kind, negative, 0, 0};
  const auto exponent = static_cast<int>((code >> f.fraction_bits) & ones(f.exponent_bits));
  const std::uint64_t fraction = code & ones(f.fraction_bits), hidden = std::uint64_t{1} << f.fraction_bits;
  if (exponent > 0 || !f.has_zero)
    return {kind, negative, hidden + fraction, exponent - f.bias - f.fraction_bits};
  return {kind, negative, f.has_subnormals ? fraction : 0, 1 - f.bias - f.fraction_bits};
}

double decode(const ScalarFormat& f, std::uint32_t code) { return as_double(number(f, code)).value(); }

bool goes_outward(const Bracket& b, bool negative, Rounding rounding, std::uint32_t random) {
  const int n = rounding.random_bits;
  const std::uint64_t r = random;
  if (b.fraction == 0 && !b.fraction_rest) return false;
  switch (rounding.mode) {
    case RoundingMode::nearest_even:
      return b.half > 0 || (b.half == 0 && !b.inner_is_even);
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
      return b.inner_is_even;
    case RoundingMode::stochastic_a:
      return floor_of(b, n) + r >= std::uint64_t{1} << n;
    case RoundingMode::stochastic_b:
      return floor_of(b, n + 1) + 2 * r + 1 >= std::uint64_t{2} << n;
    case RoundingMode::stochastic_c:
      return nearest_of(b, n, 0) + r >= std::uint64_t{1} << n;
    case RoundingMode::stochastic_odd:
      return nearest_of(b, n, 1) + r >= std::uint64_t{1} << n;
    case RoundingMode::stochastic_equal:
      return r == 1;
  }
  return false;
}

std::uint64_t outward_count(const Bracket& b, Rounding rounding) {
  const int n = rounding.random_bits;
  if (b.fraction == 0 && !b.fraction_rest) return 0;
  switch (rounding.mode) {
    case RoundingMode::stochastic_a:
      return floor_of(b, n);
    case RoundingMode::stochastic_b:
      return (floor_of(b, n + 1) + 1) / 2;  // 2 r + 1 >= 2^(N+1) - floor has that many solutions
    case RoundingMode::stochastic_c:
      return nearest_of(b, n, 0);
    case RoundingMode::stochastic_odd:
      return nearest_of(b, n, 1);
    case RoundingMode::stochastic_equal:
      return 1;
    case RoundingMode::nearest_even:
    case RoundingMode::nearest_away:
    case RoundingMode::nearest_to_zero:
    case RoundingMode::toward_zero:
    case RoundingMode::away_from_zero:
    case RoundingMode::up:
    case RoundingMode::down:
    case RoundingMode::odd:
      return 0;
  }
  return 0;
}

std::uint32_t Oracle::nan(const SpecialValues& special, bool negative) const {
  const std::uint32_t sign = negative ? sign_of_code(f_) : 0;
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
  SpecialValues symmetric = special;  // NaN has no use for the one number that has no opposite
  symmetric.symmetric_fixed_point = true;
  switch (special.nan_without_code) {
    case NanWithoutCode::max_finite_signed:
      return limit_code(symmetric, negative && f_.is_signed);
    case NanWithoutCode::max_finite_positive:
      return limit_code(symmetric, false);
    case NanWithoutCode::zero:
      return zero({OverflowPolicy::saturate}, false);
    case NanWithoutCode::negative_zero: {
      SpecialValues kept = special;
      kept.zero_without_code = ZeroWithoutCode::smallest;
      return zero(kept, true);
    }
  }
  return 0;
}

std::uint32_t Oracle::beyond(OverflowPolicy policy, RoundingMode mode, const SpecialValues& special,
                             bool negative, bool was_infinite) const {
  const bool has_infinity = f_.infinity != Infinity::none, has_nan = f_.nan != NanEncoding::none;
  const std::uint32_t top = limit_code(special, negative);
  const std::uint32_t infinite = top + 1;  // sign and magnitude: the code beyond the largest number's
  const std::uint32_t infinite_or_nan = has_infinity ? infinite : has_nan ? nan(special, negative) : top;
  const bool inward = points_to_zero(mode, negative);
  switch (policy) {
    case OverflowPolicy::saturate:
    case OverflowPolicy::p3109_finite:
      return top;
    case OverflowPolicy::ieee:
      return !was_infinite && (inward || mode == RoundingMode::odd) ? top : infinite_or_nan;
    case OverflowPolicy::ocp:
      return infinite_or_nan;
    case OverflowPolicy::p3109_propagate:
      return was_infinite && has_infinity ? infinite : top;
    case OverflowPolicy::p3109_none:
      if (!has_infinity) return top;
      if (was_infinite) return infinite;
      return inward || (mode == RoundingMode::odd && !f_.is_signed) ? top : infinite;
    case OverflowPolicy::onnx:
      return was_infinite && !has_infinity && f_.nan == NanEncoding::negative_zero ? nan(special, negative)
                                                                                   : top;
  }
  return 0;
}

std::uint32_t Oracle::code(const Bracket& b, Rounding rounding, const SpecialValues& special,
                           std::uint32_t random) const {
  if (b.x.kind == NumberClass::not_a_number) {
    const bool minus = b.x.negative && special.nan_sign == NanSign::keep && f_.is_signed;
    const bool keeps = special.nan_payload == NanPayload::keep_top && f_.nan == NanEncoding::ieee;
    return nan(special, minus) |
           (keeps ? static_cast<std::uint32_t>(b.payload >> (52 - f_.fraction_bits)) : 0);
  }
  if (f_.table != nullptr) return code_in_table(b, rounding, special, random);
  const bool reads_magnitude = !f_.is_signed && special.negative_in_unsigned == NegativeInUnsigned::magnitude;
  const bool negative = b.x.negative && !reads_magnitude, infinite = b.x.kind == NumberClass::infinite;
  if (is_zero(b.x) || (b.below_fp32 && special.subnormals == Subnormals::flush_sources))
    return zero(special, negative && special.negative_zero != NegativeZero::drop_source);

  const bool outward = !infinite && goes_outward(b, negative, rounding, random);
  const Dyadic& rounded = outward ? b.outer : b.inner;
  const Dyadic smallest_normal{NumberClass::finite, false, 1, 1 - f_.bias};
  const bool flushed = special.subnormals == Subnormals::flush_results && !f_.is_fixed_point && f_.has_zero &&
                       !infinite && compare(magnitude_of(rounded), smallest_normal) < 0;
  const bool rounds_to_zero = !infinite && (is_zero(rounded) || flushed);
  if (!f_.is_signed && negative && !(f_.has_zero && rounds_to_zero)) {
    const bool clamps = special.overflow == OverflowPolicy::p3109_finite ||
                        special.overflow == OverflowPolicy::p3109_propagate;
    return clamps || special.negative_in_unsigned == NegativeInUnsigned::zero ? zero(special, false)
                                                                              : nan(special, false);
  }
  if (rounds_to_zero) return zero(special, negative);
  const std::uint32_t limit = limit_code(special, negative);
  if (infinite || compare(magnitude_of(rounded), magnitude_of(number(f_, limit))) > 0)
    return beyond(special.overflow, rounding.mode, special, negative, infinite);
  return outward ? b.outer_code : b.inner_code;
}

std::uint32_t Oracle::code_in_table(const Bracket& b, Rounding rounding, const SpecialValues& special,
                                    std::uint32_t random) const {
  if (b.below_fp32 && special.subnormals == Subnormals::flush_sources)
    return code_in_table(bracket(0.0), rounding, special, random);
  // Every policy saturates; without negative numbers that is what becomes of those as well.
  const bool reads_magnitude = special.negative_in_unsigned == NegativeInUnsigned::magnitude;
  const bool negative = b.x.negative && !is_zero(b.x) && (f_.is_signed || !reads_magnitude);
  const std::uint32_t last = f_.table_size - 1;
  if (b.x.kind == NumberClass::infinite) return negative ? 0 : last;
  if (negative && !f_.is_signed) return 0;
  return goes_outward(b, negative, rounding, random) ? b.outer_code : b.inner_code;
}

std::uint32_t convert(double x, const ScalarFormat& f, Rounding rounding, const SpecialValues& special,
                      std::uint32_t random) {
  return Oracle(f).convert(x, rounding, special, random);
}

}  // namespace halfulp::oracle
