#pragma once
#include <string>

#include "emulation/elementary.h"
#include "tests/reference/beta_power.h"
#include "tests/reference/plain_weight.h"

namespace halfulp::reference {

/// x within +-bound; of a NaN 0.
template <class Real>
Real within(const Real& x, const Real& bound) {
  if (x != x) return Real(0);
  if (x > bound) return bound;
  return x < -bound ? Real(-bound) : x;
}

/// u, or what leads from w to +-top where w + u lies beyond.
template <class Real>
Real not_beyond(const Real& w, const Real& u, const Real& top) {
  if (w + u > top) return top - w;
  if (w + u < -top) return -top - w;
  return u;
}

/// x signed as w: sign(+-0) = +-0, sign(NaN) = NaN.
template <class Real>
Real signed_as(const Real& w, const Real& x) {
  if (w > Real(0)) return x;
  return w < Real(0) ? Real(-x) : Real(x * w);
}

/// The integer nearest to x, of two the even one; never -0.
template <class Real>
Real integer_near(const Real& x) {
  using std::floor;
  const Real down = floor(x) + Real(0), half = Real(0.5);
  const Real part = x - down;
  if (part < half) return down;
  if (part > half) return down + Real(1);
  return down - Real(2) * floor(down * half) == Real(0) ? down : Real(down + Real(1));
}

/// g over its root mean square, no epsilon, limited.
template <class Real>
class Normalised {
 public:
  Normalised(double beta2, double bound) : bound_(bound), square_{beta2} {}

  Real feed(const Real& g) {
    using std::sqrt;
    ++t_;
    square_.feed(g * g);
    return within(Real(g / sqrt(square_.value * Real(correction(square_.beta, t_)))), Real(bound_));
  }
  const Real& square() const { return square_.value; }

 private:
  double bound_;
  std::uint64_t t_ = 0;
  MovingAverage<Real> square_;
};

/// Madam of one weight, after Bernstein et al. 2020: the weight times exp(-eta n sign w), clamped to
/// +-largest; as an increment, so w (exp(x) - 1). No epsilon; 0/0 is 0.
template <class Real>
class MadamReference : public PlainWeight<Real> {
 public:
  MadamReference(double eta, double beta2, double g_bound, double largest)
      : eta_(eta), largest_(largest), normalised_(beta2, g_bound) {}

  std::array<Real, 1> increments(Rates now, const std::array<Real, 1>& w, const std::array<Real, 1>& g) {
    const Real n = normalised_.feed(g[0]);
    const Real exponent = signed_as(w[0], Real(-Real(eta_ * now.schedule) * n));
    return {not_beyond(w[0], Real(w[0] * elementary::expm1(exponent)), Real(largest_))};
  }

  std::vector<Real> states() const { return {normalised_.square()}; }

 private:
  double eta_, largest_;
  Normalised<Real> normalised_;
};

/// LNS-Madam of one weight: a whole number of steps of 2^eta. base: of the step with weight decay, "e" or "2".
template <class Real>
class LnsMadamReference : public PlainWeight<Real> {
 public:
  struct Options {
    double eta, beta2, g_bound, largest, lambda;
    std::string base;
  };
  explicit LnsMadamReference(const Options& options)
      : o_(options), normalised_(options.beta2, options.g_bound) {}

  std::array<Real, 1> increments(Rates now, const std::array<Real, 1>& w, const std::array<Real, 1>& g) {
    const double rate = o_.eta * now.schedule;
    const Real n = integer_near(normalised_.feed(g[0]));
    Real exponent = signed_as(w[0], Real(Real(rate) * -n));
    if (o_.lambda != 0) exponent = exponent - Real(rate * o_.lambda);
    const bool natural = o_.lambda != 0 && o_.base == "e";
    const Real factor = natural ? elementary::expm1(exponent) : elementary::exp2m1(exponent);
    return {not_beyond(w[0], Real(factor * w[0]), Real(o_.largest))};
  }

  std::vector<Real> states() const { return {normalised_.square()}; }

 private:
  Options o_;
  Normalised<Real> normalised_;
};

/// IntegerMadam of one weight, as an index into the list of all its magnitudes.
template <class Real>
class IntegerMadamReference : public PlainWeight<Real> {
 public:
  struct Options {
    int levels;
    double base_lr, lr_factor, g_bound, beta2, largest;
  };
  IntegerMadamReference(const Options& options, int first_level)
      : o_(options), level_(first_level), normalised_(options.beta2, options.g_bound) {
    for (int k = 0; k < o_.levels; ++k)
      magnitudes_.push_back(Real(o_.largest) * elementary::exp(Real(-(Real(o_.base_lr) * Real(k)))));
  }

  std::array<Real, 1> increments(Rates now, const std::array<Real, 1>& w, const std::array<Real, 1>& g) {
    const Real wish = integer_near(Real(Real(o_.lr_factor * now.schedule) * normalised_.feed(g[0])));
    // A wish beyond all levels is one of all levels; wishes of a weight that has no sign, or none known, move nothing.
    const Real all(o_.levels);
    const int move = wish > all ? o_.levels : wish < -all ? -o_.levels : static_cast<int>(wish);
    if (w[0] > Real(0)) level_ += move;
    if (w[0] < Real(0)) level_ -= move;
    if (level_ < 0) level_ = 0;
    if (level_ >= o_.levels) level_ = o_.levels - 1;
    return {signed_as(w[0], magnitudes_[static_cast<std::size_t>(level_)]) - w[0]};
  }

  std::vector<Real> states() const { return {Real(level_), normalised_.square()}; }
  const std::vector<Real>& magnitudes() const { return magnitudes_; }

 private:
  Options o_;
  int level_;
  Normalised<Real> normalised_;
  std::vector<Real> magnitudes_;
};

}  // namespace halfulp::reference
