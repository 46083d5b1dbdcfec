#pragma once
#include "emulation/elementary.h"
#include "tests/reference/beta_power.h"

namespace halfulp::reference {

/// Madam of one weight, after Bernstein et al. 2020: the weight times exp(-eta n sign w), clamped to
/// +-largest; as an increment, so w (exp(x) - 1). No epsilon; 0/0 is 0.
template <class Real>
class MadamReference {
 public:
  MadamReference(double eta, double beta2, double g_bound, double largest)
      : eta_(eta), g_bound_(g_bound), largest_(largest), square_{beta2} {}

  Real increment(double schedule, const Real& w, const Real& g) {
    using std::sqrt;
    ++t_;
    square_.feed(g * g);
    Real n = g / sqrt(square_.value * Real(correction(square_.beta, t_)));
    const Real bound(g_bound_);
    if (n != n) {
      n = Real(0);
    } else if (n > bound) {
      n = bound;
    } else if (n < -bound) {
      n = -bound;
    }
    const Real rate = -Real(eta_ * schedule);
    Real exponent = rate * n;
    if (w < Real(0)) exponent = -exponent;
    if (w == Real(0) || w != w) exponent = exponent * w;  // sign(+-0) = +-0, sign(NaN) = NaN
    const Real u = w * elementary::expm1(exponent);
    const Real top(largest_);
    if (w + u > top) return top - w;
    if (w + u < -top) return -top - w;
    return u;
  }

  std::vector<Real> states() const { return {square_.value}; }

 private:
  double eta_, g_bound_, largest_;
  std::uint64_t t_ = 0;
  MovingAverage<Real> square_;
};

}  // namespace halfulp::reference
