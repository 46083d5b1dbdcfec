#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#include "formats/lane.h"
#include "formats/platform.h"

// What the elementary functions are made of: exact argument reduction, short series and exact scaling.
namespace halfulp::elementary {

namespace detail {

template <class Real>
concept HasLane = requires {
  Lane<Real>::fraction_bits;
};

template <class Real>
inline constexpr int F = Lane<Real>::fraction_bits;
template <class Real>
inline constexpr int bias = Lane<Real>::exponent_bias;
template <class Real>
using Number = std::conditional_t<F<Real> == 23, float, double>;
template <class Real>
using Bits = typename Lane<Real>::Bits;

/// A constant in every lane.
template <class Real>
HALFULP_HD constexpr Real lanes(double value) noexcept {
  return Real(static_cast<Number<Real>>(value));
}
template <class Real>
HALFULP_HD constexpr Real quiet_nan() noexcept {
  return Real(std::numeric_limits<Number<Real>>::quiet_NaN());
}
template <class Real>
HALFULP_HD constexpr Real infinity() noexcept {
  return Real(std::numeric_limits<Number<Real>>::infinity());
}

/// sum of Series::at(k) x^(k - first) over k = first..last, by Horner's rule.
template <class Series, int first, int last, class Real>
HALFULP_HD constexpr Real polynomial(Real x) noexcept {
  constexpr double coefficient = Series::at(first);
  if constexpr (first == last)
    return lanes<Real>(coefficient);
  else
    return lanes<Real>(coefficient) + x * polynomial<Series, first + 1, last>(x);
}

inline constexpr double ln2 = 0x1.62e42fefa39efp-1, log2_e = 0x1.71547652b82fep+0;

/// base^k / k!, the Taylor coefficients of 2^x (base ln 2) and of e^x (base 1).
HALFULP_HD constexpr double power_over_factorial(double base, int k) noexcept {
  double term = 1;
  for (int i = 1; i <= k; ++i) term = term * base / i;
  return term;
}
struct Exp2Series {
  HALFULP_HD static constexpr double at(int k) noexcept { return power_over_factorial(ln2, k); }
};
struct ExpSeries {
  HALFULP_HD static constexpr double at(int k) noexcept { return power_over_factorial(1, k); }
};
/// 2 / (2k + 1): log((1 + s) / (1 - s)) = 2s + s * sum over k >= 1 of 2/(2k+1) s^(2k).
struct LogSeries {
  HALFULP_HD static constexpr double at(int k) noexcept { return 2.0 / (2 * k + 1); }
};

// With |y| <= ln2 / 2 (1 + 2^-15) = 0.34659, e^y has the remainder after degree d < 1.02 y^(d+1) / (d+1)!
// (the ratio of terms is below 0.04), to be compared with e^y >= 0.7071 and with |e^y - 1| >= 0.84 |y|:
//   float,  d = 8:   1.02 * 0.34659^8  / 9!  / 0.84 < 7.0e-10 = 2^-30.4   (2^-24 is half an ulp)
//   double, d = 14:  1.02 * 0.34659^14 / 15! / 0.84 < 3.4e-19 = 2^-61.3   (2^-53)
template <class Real>
inline constexpr int exp_degree = F<Real> == 23 ? 8 : 14;
// With s = f / (2 + f), |s| <= (sqrt2 - 1) / (sqrt2 + 1) = 0.17158 and z = s^2 <= 0.02944, the terms after
// k = K add less than s * 1.04 * 2/(2K+3) z^(K+1) to log(1 + f), which is 2s or more in magnitude:
//   float,  K = 4:   1.04 / 11 * 0.02944^5  < 2.1e-9  = 2^-28.8
//   double, K = 10:  1.04 / 23 * 0.02944^11 < 6.5e-19 = 2^-60.4
template <class Real>
inline constexpr int log_terms = F<Real> == 23 ? 4 : 10;

/// ln2 in two parts; the first has at most F - 11 bits, so its product with an exponent (11 bits) is exact.
template <class Real>
inline constexpr double ln2_high = F<Real> == 23 ? 0x1.62ep-1 : 0x1.62e42feep-1;
template <class Real>
inline constexpr double ln2_low = F<Real> == 23 ? 0x1.0bfbe8e7bcd5ep-15 : 0x1.a39ef35793c76p-33;

/// 2^n, n in two's complement and -bias < n <= bias.
template <class Real>
HALFULP_HD constexpr Real power_of_two(Bits<Real> n) noexcept {
  return real_of((n + Bits<Real>(bias<Real>)) << F<Real>);
}

/// n as two summands, each of which is a normal exponent; their order makes every product but the last exact.
template <class Real>
struct SplitExponent {
  Real first, second;  // 2^first part, 2^second part
};
template <class Real>
HALFULP_HD constexpr SplitExponent<Real> split_exponent(Bits<Real> n) noexcept {
  const Bits<Real> half = ((n + Bits<Real>(4096)) >> 1) - Bits<Real>(2048);  // floor(n / 2), unsigned shift
  return {power_of_two<Real>(half), power_of_two<Real>(n - half)};
}

/// An integer as number and in two's complement.
template <class Real>
struct Whole {
  Real value;
  Bits<Real> bits;
};
/// The integer nearest to x, |x| < 2^(F-1): the last place of 1.5 * 2^F + x is 1.
template <class Real>
HALFULP_HD constexpr Whole<Real> nearest_integer(Real x) noexcept {
  const Real anchor = lanes<Real>(1.5) * power_of_two<Real>(Bits<Real>(F<Real>));
  const Real sum = x + anchor;
  return {sum - anchor, bits_of(sum) - bits_of(anchor)};
}

template <class Real>
HALFULP_HD constexpr Real clamp(Real x, double low, double high) noexcept {  // NaN stays
  const Real above = select(x < lanes<Real>(low), lanes<Real>(low), x);
  return select(above > lanes<Real>(high), lanes<Real>(high), above);
}

/// 2^n (1 + q).
template <class Real>
struct Exponential {
  Bits<Real> n;
  Real q;
};

/// 2^x: f = x - n is exact.
template <class Real>
HALFULP_HD constexpr Exponential<Real> exponential_2(Real x) noexcept {
  const Whole<Real> n = nearest_integer(x);
  const Real f = x - n.value;
  return {n.bits, f * polynomial<Exp2Series, 1, exp_degree<Real>>(f)};
}
/// e^x: x - n ln2_high is exact, since it is a multiple of the last place of x and smaller than x.
template <class Real>
HALFULP_HD constexpr Exponential<Real> exponential_e(Real x) noexcept {
  const Whole<Real> n = nearest_integer(x * lanes<Real>(log2_e));
  const Real r = (x - n.value * lanes<Real>(ln2_high<Real>)) - n.value * lanes<Real>(ln2_low<Real>);
  return {n.bits, r + r * r * polynomial<ExpSeries, 2, exp_degree<Real>>(r)};
}

template <class Real>
HALFULP_HD constexpr Real value(Real x, Exponential<Real> e) noexcept {
  const auto scale = split_exponent<Real>(e.n);
  return select(x != x, quiet_nan<Real>(), (lanes<Real>(1) + e.q) * scale.first * scale.second);
}
/// 2^n (1 + q) - 1 = 2^n (q + (1 - 2^-n)): for n = 0 nothing cancels, and 1 - 2^-n is exact up to n = F + 1.
template <class Real>
HALFULP_HD constexpr Real value_minus_1(Real x, Exponential<Real> e) noexcept {
  const auto scale = split_exponent<Real>(e.n);
  const auto inverse = split_exponent<Real>(Bits<Real>(0) - e.n);
  const Real rest = e.q + (lanes<Real>(1) - inverse.first * inverse.second);
  const Real result = select(x == lanes<Real>(0), x, rest * scale.first * scale.second);
  return select(x != x, quiet_nan<Real>(), result);
}

/// x = 2^exponent (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for x normal and positive; f is exact.
template <class Real>
struct Reduced {
  Real exponent, f;
};
template <class Real>
HALFULP_HD constexpr Reduced<Real> reduce(Real x) noexcept {
  const Bits<Real> one = bits_of(lanes<Real>(1)), sqrt_half = bits_of(lanes<Real>(0x1.6a09e667f3bcdp-1));
  const Bits<Real> biased = (bits_of(x) + (one - sqrt_half)) >> F<Real>;
  const Real mantissa = real_of(bits_of(x) - ((biased - Bits<Real>(bias<Real>)) << F<Real>));
  const Real integers = power_of_two<Real>(Bits<Real>(F<Real>));  // 2^F + k has k in its last bits
  const Real exponent = real_of(bits_of(integers) + biased) - (integers + lanes<Real>(bias<Real>));
  return {exponent, mantissa - lanes<Real>(1)};
}
/// The same for subnormals too.
template <class Real>
HALFULP_HD constexpr Reduced<Real> reduce_any(Real x) noexcept {
  const typename Lane<Real>::Mask subnormal = x < power_of_two<Real>(Bits<Real>(1) - Bits<Real>(bias<Real>));
  const Real up = power_of_two<Real>(Bits<Real>(F<Real> + 1));
  const Reduced<Real> r = reduce(select(subnormal, x * up, x));
  return {select(subnormal, r.exponent - lanes<Real>(F<Real> + 1), r.exponent), r.f};
}

/// log(1 + f) + small, where |small| is far below |f| or nothing: f - (f^2/2 - (s (f^2/2 + R) + small)),
/// since 2s = f - s f and s f = f^2/2 - s f^2/2. The leading term is exact. (The arrangement of fdlibm's log,
/// Sun 1993.)
template <class Real>
HALFULP_HD constexpr Real log_1_plus(Real f, Real small) noexcept {
  const Real s = f / (lanes<Real>(2) + f), z = s * s, half_square = lanes<Real>(0.5) * f * f;
  const Real series = z * polynomial<LogSeries, 1, log_terms<Real>>(z);
  return f - (half_square - (s * (half_square + series) + small));
}

/// result, or the logarithm's value where the distance to its pole is not in (0, Inf).
template <class Real>
HALFULP_HD constexpr Real log_edges(Real from_pole, Real result) noexcept {
  const Real zero = lanes<Real>(0);
  const Real upper = select(from_pole == infinity<Real>(), infinity<Real>(), result);
  const Real positive = select(from_pole == zero, zero - infinity<Real>(), upper);
  return select(from_pole >= zero, positive, quiet_nan<Real>());
}

}  // namespace detail

}  // namespace halfulp::elementary
