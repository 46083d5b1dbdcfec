#pragma once
#include "tests/reference/beta_power.h"

namespace halfulp::reference {

/// AdamW of one weight, after Loshchilov & Hutter 2019, Algorithm 2 (lines 6-12), with the decay inside the
/// increment. Operation order: numerator eta (m^), m^ = m times the correction; denominator sqrt(v^) + eps;
/// one quotient; decay last.
template <class Real>
class AdamWReference {
 public:
  AdamWReference(double eta, double beta1, double beta2, double eps, double weight_decay)
      : eta_(eta), eps_(eps), weight_decay_(weight_decay), first_{beta1}, second_{beta2} {}

  /// What is added to w at the next step.
  Real increment(double schedule, const Real& w, const Real& g) {
    using std::sqrt;
    ++t_;
    const double rate = eta_ * schedule;
    first_.feed(g);
    second_.feed(g * g);
    const Real mean = first_.value * Real(correction(first_.beta, t_));
    const Real square = second_.value * Real(correction(second_.beta, t_));
    const Real numerator = Real(rate) * mean;
    const Real denominator = sqrt(square) + Real(eps_);
    const Real decayed = Real(rate * weight_decay_) * w;
    return -(numerator / denominator) - decayed;
  }

  std::vector<Real> states() const { return {first_.value, second_.value}; }

 private:
  double eta_, eps_, weight_decay_;
  std::uint64_t t_ = 0;
  MovingAverage<Real> first_, second_;
};

}  // namespace halfulp::reference
