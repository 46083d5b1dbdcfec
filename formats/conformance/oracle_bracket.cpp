#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <vector>

#include "formats/conformance/exact_number.h"
#include "formats/conformance/oracle.h"

namespace halfulp::oracle {
namespace {

// A source has 53 bits, S and 40 bits of its fraction have 65, so |x| 2^-Q is exact for every x and Q. A
// quotient p / q with q < 2^64 is not, but it stays at least 2^-64 2^-65 away from everything it is compared
// with, and 160 bits keep it on its side.
using Exact = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<160, boost::multiprecision::digit_base_2, void, std::int32_t,
                                         -200000, 200000>,
    boost::multiprecision::et_off>;
using boost::multiprecision::cpp_int;

Exact exact_of(const Dyadic& x) {
  const Exact magnitude = ldexp(Exact(x.significand), x.exponent);
  return x.negative ? -magnitude : magnitude;
}

Dyadic dyadic_of_steps(bool negative, const Exact& steps, int q) {
  return {NumberClass::finite, negative, static_cast<std::uint64_t>(steps), q};
}

int sign_of(const Exact& x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

}  // namespace

struct Oracle::Numbers {
  struct Entry {
    Exact value;
    std::uint32_t code;
  };
  std::vector<Entry>
      ascending;  ///< all numbers of fields of at most 16 bits; -0 left out, the canonical zero first
  std::uint32_t largest = 0, zero = 0, smallest = 0;  ///< codes; smallest: of the positive ones

  /// Code of a number; 0 where there is none.
  std::uint32_t find(const Exact& value) const {
    const auto at = std::lower_bound(ascending.begin(), ascending.end(), value,
                                     [](const Entry& entry, const Exact& v) { return entry.value < v; });
    return at != ascending.end() && at->value == value ? at->code : 0;
  }
};

Oracle::Oracle(const ScalarFormat& f) : f_(f) {
  const auto numbers = std::make_shared<Numbers>();
  if (f.table != nullptr) {
    numbers->largest = f.table_size - 1;
    while (f.table[numbers->smallest] <= 0) ++numbers->smallest;
    while (numbers->zero < f.table_size && f.table[numbers->zero] != 0) ++numbers->zero;
  } else {
    // The number of the highest code without its sign that is one.
    const int bits = f.exponent_bits + f.fraction_bits;
    numbers->largest = bits >= 32 ? 0xffff'ffffu : (std::uint32_t{1} << bits) - 1;
    if (f.infinity == Infinity::ieee) numbers->largest -= std::uint32_t{1} << f.fraction_bits;
    while (number(f, numbers->largest).kind != NumberClass::finite) --numbers->largest;
    const int width = bits + (f.is_signed ? 1 : 0);
    if (width <= 16) {
      for (std::uint32_t code = 0; code < std::uint32_t{1} << width; ++code) {
        const Dyadic value = number(f, code);
        if (value.kind == NumberClass::finite && !(value.negative && is_zero(value)))
          numbers->ascending.push_back({exact_of(value), code});
      }
      // Without subnormals all codes of exponent field 0 are zero: a stable sort keeps code 0 first.
      std::stable_sort(numbers->ascending.begin(), numbers->ascending.end(),
                       [](const auto& a, const auto& b) { return a.value < b.value; });
    }
  }
  numbers_ = numbers;
}

std::uint32_t Oracle::limit_code(const SpecialValues& special, bool negative) const {
  const std::uint32_t largest = numbers_->largest;
  if (!negative || !f_.is_signed) return largest;
  if (f_.table != nullptr) return 0;
  const std::uint32_t sign = std::uint32_t{1} << (f_.exponent_bits + f_.fraction_bits);
  if (!f_.is_fixed_point) return sign | largest;
  return special.symmetric_fixed_point ? sign + 1 : sign;  // two's complement, -2^n and its successor
}

std::uint32_t Oracle::zero(const SpecialValues& special, bool negative) const {
  if (!f_.has_zero) {
    if (special.zero_without_code == ZeroWithoutCode::nan) return nan(special, negative);
    return f_.table != nullptr ? numbers_->smallest : 0;
  }
  const bool has_minus_zero = f_.is_signed && f_.has_negative_zero && !f_.is_fixed_point &&
                              f_.table == nullptr && f_.nan != NanEncoding::negative_zero;
  if (negative && has_minus_zero && special.negative_zero != NegativeZero::drop)
    return std::uint32_t{1} << (f_.exponent_bits + f_.fraction_bits);
  return f_.table != nullptr ? numbers_->zero : 0;
}

std::uint32_t Oracle::largest_code() const { return numbers_->largest; }

Dyadic Oracle::lowest() const {
  if (!f_.is_signed) return {NumberClass::finite, true, 0, 0};
  return number(f_, limit_code({OverflowPolicy::saturate}, true));
}

Bracket Oracle::bracket(double x) const {
  Bracket b = bracket(exact_number(x));
  if (std::isnan(x)) b.payload = std::bit_cast<std::uint64_t>(x) & 0x000f'ffff'ffff'ffffu;
  return b;
}

Bracket Oracle::bracket_quotient(const Dyadic& x, const Dyadic& divisor) const {
  const Dyadic nothing{NumberClass::finite, x.negative, 0, 0};
  Bracket b{x, 0, nothing, nothing, true, -1, 0, false, false, 0, 0};
  if (x.kind != NumberClass::finite) return b;
  b.below_fp32 = !is_zero(x) && exact_of(magnitude_of(x)) < ldexp(exact_of(divisor), -126);
  if (f_.table != nullptr)
    bracket_table(b, divisor);
  else
    bracket_fields(b, divisor);
  return b;
}

void Oracle::bracket_fields(Bracket& b, const Dyadic& divisor) const {
  Exact magnitude = exact_of(magnitude_of(b.x));
  if (divisor.significand != 1 || divisor.exponent != 0) magnitude /= exact_of(divisor);
  const int smallest = f_.has_zero ? 1 - f_.bias : -f_.bias, fraction_bits = f_.fraction_bits;
  int exponent = smallest;
  if (magnitude != 0) exponent = std::max(ilogb(magnitude), smallest);
  int q = exponent - fraction_bits;
  if (f_.is_fixed_point) q = 1 - f_.bias - fraction_bits;
  if (!f_.has_subnormals && f_.has_zero && magnitude < ldexp(Exact(1), smallest)) q = smallest;

  const bool negative = b.x.negative && f_.is_signed;
  // Beyond 2^62 steps of fixed point every grid point is as far outside as another.
  const Exact s = std::min(Exact(ldexp(magnitude, -q)), Exact(ldexp(Exact(1), 62)));
  const Exact whole = floor(s), nu = s - whole;
  const Exact scaled = ldexp(nu, 40), kept = floor(scaled);
  b.fraction = static_cast<std::uint64_t>(kept);
  b.fraction_rest = scaled != kept;
  b.half = sign_of(nu - Exact(0.5));
  b.inner = dyadic_of_steps(negative, whole, q);
  b.outer = nu == 0 ? b.inner : dyadic_of_steps(negative, whole + 1, q);
  // With one bit of precision S is 1 in every binade: the parity that matters is the code's, which is that of
  // the exponent field.
  const std::uint64_t steps = b.inner.significand;
  b.inner_is_even =
      fraction_bits == 0 && steps != 0 && !f_.is_fixed_point ? (q + f_.bias) % 2 == 0 : steps % 2 == 0;

  if (!numbers_->ascending.empty()) {
    b.inner_code = numbers_->find(exact_of(b.inner));
    b.outer_code = numbers_->find(exact_of(b.outer));
    return;
  }
  // Too many numbers for a list: fields from the definition, which hold where the result is a number of the
  // format.
  const auto code_of = [&](const Dyadic& value) -> std::uint32_t {
    if (is_zero(value)) return 0;
    const std::uint64_t hidden = std::uint64_t{1} << fraction_bits;
    const int field = q + fraction_bits + f_.bias;
    const std::uint64_t code =
        value.significand < hidden || f_.is_fixed_point
            ? value.significand
            : (static_cast<std::uint64_t>(field) << fraction_bits) + (value.significand - hidden);
    const std::uint64_t sign = std::uint64_t{1} << (f_.exponent_bits + fraction_bits);
    if (!negative) return static_cast<std::uint32_t>(code);
    return static_cast<std::uint32_t>(f_.is_fixed_point ? 2 * sign - code : sign | code);
  };
  b.inner_code = code_of(b.inner);
  b.outer_code = code_of(b.outer);
}

void Oracle::bracket_table(Bracket& b, const Dyadic& divisor) const {
  // Numbers as integers over a common denominator: multiples of 2^-unit of the divisor's significand.
  const bool negative = b.x.negative && f_.is_signed && !is_zero(b.x);
  constexpr int unit = 4000;
  const auto integer = [&](const Dyadic& v, bool minus) {
    const cpp_int magnitude = cpp_int(v.significand) << (v.exponent + unit);
    return minus ? cpp_int(-magnitude) : magnitude;
  };
  // x / (s 2^e) against v: x 2^-e against v s.
  const cpp_int x = integer({b.x.kind, false, b.x.significand, b.x.exponent - divisor.exponent}, negative);
  const auto scaled = [&](std::uint32_t i) -> cpp_int {
    const Dyadic v = exact_number(f_.table[i]);
    return integer(v, v.negative) * divisor.significand;
  };
  const std::uint32_t last = f_.table_size - 1;
  if (x < scaled(0) || x > scaled(last)) {
    b.inner_code = b.outer_code = x < scaled(0) ? 0 : last;
    b.inner = b.outer = exact_number(f_.table[b.inner_code]);
    return;
  }
  std::uint32_t low = 0, high = f_.table_size;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (scaled(middle) <= x ? low : high) = middle;
  }
  const bool exact = scaled(low) == x;
  high = exact ? low : low + 1;
  b.inner_code = negative ? high : low;
  b.outer_code = negative ? low : high;
  b.inner = exact_number(f_.table[b.inner_code]);
  b.outer = exact_number(f_.table[b.outer_code]);
  b.inner_is_even = b.inner_code % 2 == 0;
  if (exact) return;
  const cpp_int part = abs(x - scaled(b.inner_code)), gap = abs(scaled(b.outer_code) - scaled(b.inner_code));
  const cpp_int finer = part << 40, kept = finer / gap, twice = 2 * part;
  b.fraction = static_cast<std::uint64_t>(kept);
  b.fraction_rest = kept * gap != finer;
  b.half = twice > gap ? 1 : twice < gap ? -1 : 0;
}

}  // namespace halfulp::oracle
