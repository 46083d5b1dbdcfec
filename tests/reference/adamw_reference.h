#pragma once
#include "tests/reference/beta_power.h"
#include "tests/reference/plain_weight.h"

namespace halfulp::reference {

/// AdamW of one weight, after Loshchilov & Hutter 2019, Algorithm 2 (lines 6-12), with the decay inside the
/// increment. Operation order: numerator eta (m^), m^ = m times the correction; denominator sqrt(v^) + eps;
/// one quotient; decay last.
template <class Real>
class AdamWReference : public PlainWeight<Real> {
 public:
  AdamWReference(double eta, double beta1, double beta2, double eps, double weight_decay)
      : eta_(eta), eps_(eps), weight_decay_(weight_decay), first_{beta1}, second_{beta2} {}

  /// What is added to w at the next step.
  std::array<Real, 1> increments(Rates now, const std::array<Real, 1>& w,
                                 const std::array<Real, 1>& gradient) {
    using std::sqrt;
    const Real& g = gradient[0];
    ++t_;
    const double rate = eta_ * now.schedule;
    first_.feed(g);
    second_.feed(g * g);
    const Real mean = first_.value * Real(correction(first_.beta, t_));
    const Real square = second_.value * Real(correction(second_.beta, t_));
    const Real numerator = Real(rate) * mean;
    const Real denominator = sqrt(square) + Real(eps_);
    const Real step = -(numerator / denominator);
    return {weight_decay_ == 0 ? step : Real(step - Real(rate * weight_decay_) * w[0])};
  }

  std::vector<Real> states() const { return {first_.value, second_.value}; }

 private:
  double eta_, eps_, weight_decay_;
  std::uint64_t t_ = 0;
  MovingAverage<Real> first_, second_;
};

/// Adam on a loss that has lambda w^2 / 2 added: its gradient has lambda w added, before any moment.
template <class Real>
class AdamReference : public PlainWeight<Real> {
 public:
  AdamReference(double eta, double beta1, double beta2, double eps, double lambda)
      : lambda_(lambda), on_the_sum_(eta, beta1, beta2, eps, 0) {}

  std::array<Real, 1> increments(Rates now, const std::array<Real, 1>& w, const std::array<Real, 1>& g) {
    std::array<Real, 1> total = g;
    if (lambda_ != 0) total[0] = total[0] + Real(lambda_) * w[0];
    return on_the_sum_.increments(now, w, total);
  }
  std::vector<Real> states() const { return on_the_sum_.states(); }

 private:
  double lambda_;
  AdamWReference<Real> on_the_sum_;
};

}  // namespace halfulp::reference
