#pragma once
#include <array>

#include "emulation/elementary.h"
#include "tests/reference/beta_power.h"

namespace halfulp::reference {

/// One of the two positive parts of a weight under LMD. direction: +1 where the part is added, -1 where it is
/// subtracted.
template <class Real>
struct LmdPart {
  int direction;
  double beta1, beta2;
  Real momentum = Real(0);

  /// Contribution to the sampled weight under noise z.
  Real sampled(double sigma, const Real& m, const Real& z) const {
    return m * elementary::exp(Real(sigma) * z);
  }
  /// d loss / d log m, given the gradient d of the sampled weight.
  Real log_gradient(double sigma, const Real& m, const Real& z, const Real& d) const {
    const Real product = sampled(sigma, m, z) * d;
    return direction > 0 ? product : Real(-product);
  }
  /// What is added to m: m (exp(-alpha (sign + lambda)) - 1), the sign of a look-ahead average, which is then
  /// discarded; the stored average decays by beta2.
  Real increment(double alpha, double lambda, const Real& m, const Real& gradient) {
    MovingAverage<Real> ahead{beta1, momentum}, stored{beta2, momentum};
    ahead.feed(gradient);
    stored.feed(gradient);
    momentum = stored.value;
    Real sign = ahead.value;  // of +-0 and NaN: itself
    if (ahead.value > Real(0)) sign = Real(1);
    if (ahead.value < Real(0)) sign = Real(-1);
    return m * elementary::expm1(-Real(alpha) * (sign + Real(lambda)));
  }
};

/// LMD of one weight, reconstructed: w = m+ e+ - m- e-, e = exp(sigma z).
template <class Real>
class LmdReference {
 public:
  LmdReference(double alpha, double beta1, double beta2, double sigma, double lambda)
      : alpha_(alpha), sigma_(sigma), lambda_(lambda), parts_{{{+1, beta1, beta2}, {-1, beta1, beta2}}} {}

  Real view(const std::array<Real, 2>& m, const std::array<Real, 2>& z) const {
    return parts_[0].sampled(sigma_, m[0], z[0]) - parts_[1].sampled(sigma_, m[1], z[1]);
  }
  std::array<Real, 2> log_gradients(const std::array<Real, 2>& m, const std::array<Real, 2>& z,
                                    const Real& d) const {
    return {parts_[0].log_gradient(sigma_, m[0], z[0], d), parts_[1].log_gradient(sigma_, m[1], z[1], d)};
  }
  std::array<Real, 2> increments(double schedule, const std::array<Real, 2>& m,
                                 const std::array<Real, 2>& gradients) {
    const double rate = alpha_ * schedule;
    return {parts_[0].increment(rate, lambda_, m[0], gradients[0]),
            parts_[1].increment(rate, lambda_, m[1], gradients[1])};
  }

  std::vector<Real> states() const { return {parts_[0].momentum, parts_[1].momentum}; }

 private:
  double alpha_, sigma_, lambda_;
  std::array<LmdPart<Real>, 2> parts_;
};

}  // namespace halfulp::reference
