#pragma once
#include <string>

#include "tests/reference/madam_reference.h"

namespace halfulp::reference {

inline constexpr double ln2 = 0.69314718055994530942;

/// M+Adam of one weight: w' = w + w u_m + u_a. The additive branch is Adam; the multiplicative one divides the raw
/// gradient of the exponent, ln2 w g, by its own root mean square. mode: "u" adds w u, "2^u" multiplies by 2^u,
/// "u/w" and "log(1 + u/w)" divide by |w| >= tau first, the last one capped twice and multiplied as a power of 2.
template <class Real>
class MAdamReference : public PlainWeight<Real> {
 public:
  struct Options {
    double eta_a, eta_m, beta1, beta2, eps, g_bound, weight_decay;
    std::string mode = "u";
    bool eps_is_floor = false;
    double tau = 0, u_cap = 0, power_cap = 0, exponent_decay = 0;
    double gradient_bound = 0, largest = 0;  ///< 0: none
  };
  explicit MAdamReference(const Options& options)
      : o_(options), first_{o_.beta1}, second_{o_.beta2}, exponent_second_{o_.beta2} {}

  std::array<Real, 1> increments(Rates now, const std::array<Real, 1>& weight,
                                 const std::array<Real, 1>& gradient) {
    const Real& w = weight[0];
    const Real& g = gradient[0];
    ++t_;
    Real exponent_gradient = (Real(ln2) * w) * g;
    if (o_.gradient_bound != 0) exponent_gradient = within(exponent_gradient, Real(o_.gradient_bound));
    first_.feed(g);
    second_.feed(g * g);
    exponent_second_.feed(exponent_gradient * exponent_gradient);

    const double rate_a = o_.eta_a * now.schedule, rate_m = o_.eta_m * now.schedule_m;
    const Real mean = first_.value * Real(correction(first_.beta, t_));
    const Real additive = (Real(rate_a) * mean) / (root(second_) + Real(o_.eps));
    Real below = root(exponent_second_);
    if (!o_.eps_is_floor) below = below + Real(o_.eps);
    if (o_.eps_is_floor && below < Real(o_.eps)) below = Real(o_.eps);
    const Real n = within(Real(exponent_gradient / below), Real(o_.g_bound));
    const Real relative = -(Real(rate_m) * n);
    Real u = w * multiplicative(w, relative, rate_m) - additive;
    if (o_.largest != 0) u = not_beyond(w, u, Real(o_.largest));
    return {o_.weight_decay == 0 ? u : Real(u - Real(rate_a * o_.weight_decay) * w)};
  }

  std::vector<Real> states() const { return {first_.value, second_.value, exponent_second_.value}; }

 private:
  Real root(const MovingAverage<Real>& square) const {
    using std::sqrt;
    return sqrt(square.value * Real(correction(square.beta, t_)));
  }

  /// w' / w - 1 of this branch alone.
  Real multiplicative(const Real& w, const Real& relative, double rate_m) const {
    using std::fabs;
    if (o_.mode == "u") return relative;
    const bool is_power = o_.mode != "u/w";
    Real power = relative;
    if (o_.mode != "2^u") {
      Real magnitude = fabs(w);
      if (magnitude < Real(o_.tau)) magnitude = Real(o_.tau);
      power = relative / magnitude;
    }
    if (o_.mode == "log(1 + u/w)")
      power = within(Real(elementary::log1p(within(power, Real(o_.u_cap))) / Real(ln2)), Real(o_.power_cap));
    if (!is_power) return power;
    if (o_.exponent_decay != 0) power = power - Real(rate_m * o_.exponent_decay) * Real(exponent(w));
    return elementary::exp2m1(power);
  }

  /// How often |w| can be halved until it is below 1, or doubled (negative) until it is at least 1/2.
  static int exponent(const Real& w) {
    using std::fabs;
    Real x = fabs(w);
    if (!(x > Real(0)) || x > std::numeric_limits<Real>::max()) return 0;
    int e = 0;
    for (; x >= Real(1); x = x * Real(0.5)) ++e;
    for (; x < Real(0.5); x = x * Real(2)) --e;
    return e;
  }

  Options o_;
  std::uint64_t t_ = 0;
  MovingAverage<Real> first_, second_, exponent_second_;
};

/// One of the two parameters of the workshop form: Adam without bias correction, its step limited.
template <class Real>
struct LimitedAdam {
  double eta, largest, eps;
  MovingAverage<Real> first, second;

  Real increment(double schedule, const Real& g) {
    using std::sqrt;
    first.feed(g);
    second.feed(g * g);
    const Real ratio = first.value / (sqrt(second.value) + Real(eps));
    return -within(Real(Real(eta * schedule) * ratio), Real(largest));
  }
};

/// The workshop form of one weight: w = mantissa 2^exponent.
template <class Real>
class MAdamWorkshopReference {
 public:
  struct Options {
    double eta_m, eta_e, beta1, beta2, eps, largest_m, largest_e;
    double largest = 0;  ///< of |w|; 0: none
  };
  explicit MAdamWorkshopReference(const Options& o)
      : largest_(o.largest),
        mantissa_{o.eta_m, o.largest_m, o.eps, {o.beta1}, {o.beta2}},
        exponent_{o.eta_e, o.largest_e, o.eps, {o.beta1}, {o.beta2}} {}

  Real view(const std::array<Real, 2>& p, const std::array<Real, 2>&, const Real&) const {
    const Real w = elementary::exp2(p[1]) * p[0], top(largest_);
    if (largest_ == 0 || !(w > top || w < -top)) return w;
    return w > Real(0) ? top : Real(-top);
  }
  std::array<Real, 2> gradients(const std::array<Real, 2>& p, const std::array<Real, 2>& z,
                                const Real& shared, const Real& d) const {
    return {d * elementary::exp2(p[1]), Real(ln2) * view(p, z, shared) * d};
  }
  std::array<Real, 2> increments(Rates now, const std::array<Real, 2>&, const std::array<Real, 2>& g) {
    return {mantissa_.increment(now.schedule, g[0]), exponent_.increment(now.schedule_m, g[1])};
  }
  std::vector<Real> states() const {
    return {mantissa_.first.value, mantissa_.second.value, exponent_.first.value, exponent_.second.value};
  }

 private:
  double largest_;
  LimitedAdam<Real> mantissa_, exponent_;
};

}  // namespace halfulp::reference
