#pragma once
#include <array>
#include <string>

#include "emulation/elementary.h"
#include "tests/reference/beta_power.h"
#include "tests/reference/plain_weight.h"

namespace halfulp::reference {

/// LMD of one weight, reconstructed: two positive parts, w = m+ e+ - m- e-, each e = exp(sigma z).
template <class Real>
class LmdReference {
 public:
  struct Options {
    double alpha, beta1, beta2, sigma;
    double lambda = 0;
    bool exponent_is_gradient = false;
    std::string regulariser = "constant";                   ///< or "prior" or "energy"
    double prior_log = 0, prior_width = 1;                  ///< of prior: log m0 and s0
    double delta = 0, temperature = 0;                      ///< of energy
    double sigma_shared = 0;                                ///< of the deviate that a tensor shares
    double knee = std::numeric_limits<double>::infinity();  ///< where the view turns logarithmic
  };
  explicit LmdReference(const Options& options) : o_(options) {}

  Real view(const std::array<Real, 2>& m, const std::array<Real, 2>& z, const Real& shared) const {
    const Real w = sample(m, z, shared);
    const Real knee(o_.knee);
    if (w > knee) return knee + elementary::log1p(Real(w - knee));
    if (w < -knee) return -(knee + elementary::log1p(Real(-w - knee)));
    return w;
  }

  /// d loss / d log m of both parts, given the derivative d by the view.
  std::array<Real, 2> gradients(const std::array<Real, 2>& m, const std::array<Real, 2>& z,
                                const Real& shared, const Real& d) const {
    using std::fabs;
    const Real beyond = fabs(sample(m, z, shared)) - Real(o_.knee);
    const Real by_sample = beyond > Real(0) ? Real(d / (Real(1) + beyond)) : d;
    return {m[0] * factor(z[0], shared) * by_sample, Real(-(m[1] * factor(z[1], shared) * by_sample))};
  }

  /// What is added to each part: m (exp(-alpha (direction + regulariser)) - 1). The direction is the sign of a
  /// look-ahead average, which is then discarded, or the gradient; the stored average decays by beta2.
  std::array<Real, 2> increments(Rates now, const std::array<Real, 2>& m,
                                 const std::array<Real, 2>& gradients) {
    const Real rate(o_.alpha * now.schedule);
    std::array<Real, 2> u;
    for (std::size_t part = 0; part < 2; ++part) {
      MovingAverage<Real> ahead{o_.beta1, momentum_[part]}, stored{o_.beta2, momentum_[part]};
      ahead.feed(gradients[part]);
      stored.feed(gradients[part]);
      momentum_[part] = stored.value;
      Real direction = ahead.value;  // the sign of +-0 and NaN is itself
      if (ahead.value > Real(0)) direction = Real(1);
      if (ahead.value < Real(0)) direction = Real(-1);
      if (o_.exponent_is_gradient) direction = gradients[part];
      u[part] = elementary::expm1(Real(-rate * (direction + pull(m, part)))) * m[part];
    }
    return u;
  }

  std::vector<Real> states() const { return {momentum_[0], momentum_[1]}; }

 private:
  Real factor(const Real& z, const Real& shared) const {
    Real exponent = Real(o_.sigma) * z;
    if (o_.sigma_shared != 0) exponent = exponent + Real(o_.sigma_shared) * shared;
    return elementary::exp(exponent);
  }
  Real sample(const std::array<Real, 2>& m, const std::array<Real, 2>& z, const Real& shared) const {
    return m[0] * factor(z[0], shared) - m[1] * factor(z[1], shared);
  }
  /// The regulariser's part of d / d log m.
  Real pull(const std::array<Real, 2>& m, std::size_t part) const {
    if (o_.regulariser == "prior") {
      if (m[part] == Real(0)) return Real(0);
      const Real away = elementary::log(m[part]) - Real(o_.prior_log);
      return away * Real(1 / (o_.prior_width * o_.prior_width));
    }
    if (o_.regulariser == "energy") {
      const Real weight = m[0] - m[1], own = Real(o_.delta) * m[part];
      return (part == 0 ? own * weight : own * -weight) - Real(o_.temperature);
    }
    return Real(o_.lambda);
  }

  Options o_;
  std::array<Real, 2> momentum_{Real(0), Real(0)};
};

}  // namespace halfulp::reference
