#pragma once
#include "tests/reference/beta_power.h"

namespace halfulp::reference {

/// M+Adam of one weight, relative mode: w' = w + w u_m + u_a. The additive branch is Adam; the multiplicative
/// one divides the raw gradient of the exponent, ln2 w g, by its own root mean square.
template <class Real>
class MAdamReference {
 public:
  MAdamReference(double eta_a, double eta_m, double beta1, double beta2, double eps, double g_bound,
                 double weight_decay)
      : eta_a_(eta_a),
        eta_m_(eta_m),
        eps_(eps),
        g_bound_(g_bound),
        weight_decay_(weight_decay),
        first_{beta1},
        second_{beta2},
        exponent_second_{beta2} {}

  Real increment(double schedule, const Real& w, const Real& g) {
    ++t_;
    const Real exponent_gradient = (Real(ln2) * w) * g;
    first_.feed(g);
    second_.feed(g * g);
    exponent_second_.feed(exponent_gradient * exponent_gradient);

    const double rate_a = eta_a_ * schedule, rate_m = eta_m_ * schedule;
    const Real mean = first_.value * Real(correction(first_.beta, t_));
    const Real additive = (Real(rate_a) * mean) / root(second_);
    const Real n = bounded(exponent_gradient / root(exponent_second_));
    const Real relative = Real(rate_m) * n;
    const Real multiplicative = w * -relative;
    const Real decayed = Real(rate_a * weight_decay_) * w;
    return (multiplicative - additive) - decayed;
  }

  std::vector<Real> states() const { return {first_.value, second_.value, exponent_second_.value}; }

 private:
  static constexpr double ln2 = 0.69314718055994530942;

  Real root(const MovingAverage<Real>& square) const {
    using std::sqrt;
    return sqrt(square.value * Real(correction(square.beta, t_))) + Real(eps_);
  }
  Real bounded(const Real& n) const {
    const Real bound(g_bound_);
    if (n != n) return Real(0);
    if (n > bound) return bound;
    return n < -bound ? Real(-bound) : n;
  }

  double eta_a_, eta_m_, eps_, g_bound_, weight_decay_;
  std::uint64_t t_ = 0;
  MovingAverage<Real> first_, second_, exponent_second_;
};

}  // namespace halfulp::reference
