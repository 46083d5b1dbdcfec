#pragma once
#include <type_traits>

#include "emulation/argument_reduction.h"
#include "formats/lane.h"
#include "formats/platform.h"

// Elementary functions whose bits are the same on every machine: nothing but + - * /, comparison, selection
// and bit operations, in the order written; no fused product, which some targets lack. One text for numbers
// and lanes.
//
// Largest error, in ulp of the exact result (an ulp of the smallest subnormal where the result is subnormal):
//
//              exp2   exp2m1   exp   expm1   log   log2   log1p
//   float      1.25   2.5      1     2       1     2      1
//   double     1.25   2.5      1     2       1     2      1
//
// Exact: exp2 of integers, log2 of powers of two, +-0 -> +-0 for exp2m1, expm1 and log1p.
// Total: overflow gives Inf, underflow rounds once into the subnormals and to 0; a logarithm of 0 is -Inf and
// of a negative number NaN; every NaN result is the quiet NaN with sign and payload 0. Needs subnormals in
// the floating-point environment and rounding to nearest (FpEnvironment).
namespace halfulp::elementary {

/// 2^x.
/// out: <= 1.25 ulp, exact for integers
template <detail::HasLane Real>
HALFULP_HD constexpr Real exp2(Real x) noexcept {
  using namespace detail;
  // 2^-(bias + F + 1) is a quarter of the smallest subnormal, 2^(bias + 1) overflows
  return value(x, exponential_2(clamp(x, -(bias<Real> + F<Real> + 1), bias<Real> + 1)));
}

/// 2^x - 1, without cancellation.
/// out: <= 2.5 ulp; exp2m1(-0) = -0, exp2m1(-Inf) = -1
template <detail::HasLane Real>
HALFULP_HD constexpr Real exp2m1(Real x) noexcept {
  using namespace detail;
  // below -(F + 4) the result rounds to -1
  return value_minus_1(x, exponential_2(clamp(x, -(F<Real> + 4), bias<Real> + 1)));
}

/// e^x.
/// out: <= 1 ulp
template <detail::HasLane Real>
HALFULP_HD constexpr Real exp(Real x) noexcept {
  using namespace detail;
  // e^-105 < 2^-151 and e^89 > 2^128; e^-746 < 2^-1076 and e^710 > 2^1024
  return value(x, exponential_e(F<Real> == 23 ? clamp(x, -105, 89) : clamp(x, -746, 710)));
}

/// e^x - 1, without cancellation.
/// out: <= 2 ulp; expm1(-0) = -0, expm1(-Inf) = -1
template <detail::HasLane Real>
HALFULP_HD constexpr Real expm1(Real x) noexcept {
  using namespace detail;
  // e^-19 < 2^-27 and e^-39 < 2^-56: the result rounds to -1
  return value_minus_1(x, exponential_e(F<Real> == 23 ? clamp(x, -19, 89) : clamp(x, -39, 710)));
}

/// Natural logarithm.
/// out: <= 1 ulp
template <detail::HasLane Real>
HALFULP_HD constexpr Real log(Real x) noexcept {
  using namespace detail;
  const Reduced<Real> r = reduce_any(x);
  const Real small = r.exponent * lanes<Real>(ln2_low<Real>);
  return log_edges(x, r.exponent * lanes<Real>(ln2_high<Real>) + log_1_plus(r.f, small));
}

/// Logarithm to base 2.
/// out: <= 2 ulp, exact for powers of two
template <detail::HasLane Real>
HALFULP_HD constexpr Real log2(Real x) noexcept {
  using namespace detail;
  const Reduced<Real> r = reduce_any(x);
  return log_edges(x, r.exponent + log_1_plus(r.f, lanes<Real>(0)) * lanes<Real>(log2_e));
}

/// log(1 + x), without cancellation.
/// out: <= 1 ulp; log1p(-0) = -0
template <detail::HasLane Real>
HALFULP_HD constexpr Real log1p(Real x) noexcept {
  using namespace detail;
  const Real one = lanes<Real>(1), zero = lanes<Real>(0);
  // Inside the reduced range f = x, so nothing is lost in 1 + x. Outside, u = fl(1 + x) and the exact
  // remainder (1 + x) - u adds remainder / u to the logarithm: the next term is below (2^-(F+1))^2.
  const typename Lane<Real>::Mask above = x > lanes<Real>(-0.29289), below = x < lanes<Real>(0.41421);
  const typename Lane<Real>::Mask near = above & below;
  const Real u = one + x;
  const Real remainder = select(x < one, x - (u - one), one - (u - x));
  const Reduced<Real> far = reduce(u);
  const Real exponent = select(near, zero, far.exponent), f = select(near, x, far.f);
  const Real small = select(near, zero, far.exponent * lanes<Real>(ln2_low<Real>) + remainder / u);
  const Real result = exponent * lanes<Real>(ln2_high<Real>) + log_1_plus(f, small);
  return select(x == zero, x, log_edges(u, result));
}

}  // namespace halfulp::elementary

namespace halfulp::elementary_by_lookup {
// For number types that bring functions of their own (multiprecision), found by argument-dependent lookup; a
// namespace of its own, so that the lookup cannot find the templates above.
template <class Real>
Real call_exp(const Real& x) {
  return exp(x);
}
template <class Real>
Real call_expm1(const Real& x) {
  return expm1(x);
}
template <class Real>
Real call_log(const Real& x) {
  return log(x);
}
template <class Real>
Real call_log1p(const Real& x) {
  return log1p(x);
}
}  // namespace halfulp::elementary_by_lookup

namespace halfulp::elementary {

/// The same functions for multiprecision numbers: whatever accuracy the type's own functions have.
template <class Real>
concept Multiprecision = !detail::HasLane<Real> && !std::is_arithmetic_v<Real>;

template <Multiprecision Real>
Real exp(const Real& x) {
  return elementary_by_lookup::call_exp<Real>(x);
}
template <Multiprecision Real>
Real expm1(const Real& x) {
  return elementary_by_lookup::call_expm1<Real>(x);
}
template <Multiprecision Real>
Real log(const Real& x) {
  return elementary_by_lookup::call_log<Real>(x);
}
template <Multiprecision Real>
Real log1p(const Real& x) {
  return elementary_by_lookup::call_log1p<Real>(x);
}
template <Multiprecision Real>
Real exp2(const Real& x) {
  return exp<Real>(x * log<Real>(Real(2)));
}
template <Multiprecision Real>
Real exp2m1(const Real& x) {
  return expm1<Real>(x * log<Real>(Real(2)));
}
template <Multiprecision Real>
Real log2(const Real& x) {
  return log<Real>(x) / log<Real>(Real(2));
}

}  // namespace halfulp::elementary
