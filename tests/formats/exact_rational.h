#pragma once
#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "formats/conformance/oracle.h"

namespace halfulp::test {

using Rational = boost::multiprecision::cpp_rational;
using Integer = boost::multiprecision::cpp_int;

inline Rational power(int n) {
  const Integer one = 1;
  return n >= 0 ? Rational(one << n) : Rational(one, one << -n);
}

inline Rational exact(double x) {
  if (x == 0) return 0;
  int exponent = 0;
  const auto integer = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  return Rational(Integer(integer)) * power(exponent - 53);
}

/// floor(log2 x) of a positive rational.
inline int floor_log2_exact(const Rational& x) {
  const Integer n = numerator(x), d = denominator(x);
  int k = static_cast<int>(msb(n)) - static_cast<int>(msb(d));
  while (power(k) > x) --k;
  while (power(k + 1) <= x) ++k;
  return k;
}

/// Nearest fp32 value, ties to even, of a rational below fp32's overflow.
inline double nearest_float(const Rational& x) {
  if (x == 0) return 0;
  const Rational magnitude = abs(x);
  const int q = std::max(floor_log2_exact(magnitude), -126) - 23;
  const Rational s = magnitude / power(q);
  Integer whole = numerator(s) / denominator(s);
  const Rational rest = s - Rational(whole), half(1, 2);
  if (rest > half || (rest == half && whole % 2 == 1)) ++whole;
  const double value = std::ldexp(static_cast<double>(whole), q);
  return x < 0 ? -value : value;
}

/// Rounds rationals to a format in the deterministic modes, saturating: by search among the format's values,
/// by comparison with the midpoint of the two around |x|.
class RationalRounding {
 public:
  explicit RationalRounding(const ScalarFormat& f)
      : sign_(f.is_signed ? std::uint32_t{1} << (f.exponent_bits + f.fraction_bits) : 0) {
    for (std::uint32_t code = 0; sign_ == 0 || code < sign_; ++code) {
      const double value = oracle::decode(f, code);
      if (!std::isfinite(value)) break;
      values_.push_back(exact(value));
    }
  }

  std::uint32_t code(const Rational& x, RoundingMode mode) const {
    const Rational magnitude = abs(x);
    const auto above = std::upper_bound(values_.begin(), values_.end(), magnitude);
    auto lower = static_cast<std::uint32_t>(above - values_.begin()) - 1;
    const std::uint32_t sign = x < 0 ? sign_ : 0;
    if (above == values_.end() || values_[lower] == magnitude) return lower | sign;
    const Rational twice = 2 * magnitude, sum = values_[lower] + *above;
    const bool odd = lower % 2 == 1;
    switch (mode) {
      case RoundingMode::nearest_even:
        lower += twice > sum || (twice == sum && odd) ? 1 : 0;
        break;
      case RoundingMode::nearest_away:
        lower += twice >= sum ? 1 : 0;
        break;
      case RoundingMode::nearest_to_zero:
        lower += twice > sum ? 1 : 0;
        break;
      case RoundingMode::away_from_zero:
        ++lower;
        break;
      case RoundingMode::up:
        lower += x > 0 ? 1 : 0;
        break;
      case RoundingMode::down:
        lower += x < 0 ? 1 : 0;
        break;
      case RoundingMode::odd:
        lower += odd ? 0 : 1;
        break;
      case RoundingMode::toward_zero:
      case RoundingMode::stochastic_a:
      case RoundingMode::stochastic_b:
      case RoundingMode::stochastic_c:
      case RoundingMode::stochastic_odd:
      case RoundingMode::stochastic_equal:
        break;
    }
    return lower | sign;
  }

 private:
  std::uint32_t sign_;
  std::vector<Rational> values_;
};

}  // namespace halfulp::test
