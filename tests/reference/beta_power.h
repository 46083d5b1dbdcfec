#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

namespace halfulp::reference {

/// beta^t from the squares beta, beta^2, beta^4, ...: the product of those whose bit is set in t, lowest
/// first. Each step rounds, so the order is part of the result.
inline double beta_power(double beta, std::uint64_t t) {
  std::vector<double> squares{beta};
  while (squares.size() < 64) squares.push_back(squares.back() * squares.back());
  double product = 1;
  for (std::size_t bit = 0; bit < squares.size(); ++bit)
    if (t >> bit & 1) product *= squares[bit];
  return product;
}

/// What a moment is multiplied by instead of being divided by 1 - beta^t.
inline double correction(double beta, std::uint64_t t) { return 1.0 / (1.0 - beta_power(beta, t)); }

/// An exponential moving average: two rounded products, one rounded sum.
template <class Real>
struct MovingAverage {
  double beta;
  Real value = Real(0);

  void feed(const Real& x) {
    const Real kept = Real(beta) * value;
    const Real added = Real(1.0 - beta) * x;
    value = kept + added;
  }
};

}  // namespace halfulp::reference
