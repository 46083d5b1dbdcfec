#pragma once
#include <doctest/doctest.h>

#include <cmath>

#include "experiments/task.h"

namespace halfulp::test {

/// (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h: the slope of f at 0, exact for polynomials up to degree 4, else off by
/// h^4 / 30 times the fifth derivative.
template <class F>
double five_point_slope(F f, double h) {
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

/// Every element of the gradient at `at` against the slopes of the evaluated loss; the mini-batch must be the whole
/// split.
inline void check_gradient(Task<double>& task, const TensorList<double>& at, double h, double tolerance) {
  TensorList<double> gradients;
  const double loss = task.loss_and_gradient(0, at, gradients);
  CHECK(std::fabs(loss - task.evaluate("train", 0, at).loss) <= 1e-15 * std::fabs(loss));
  REQUIRE(gradients.size() == at.size());
  for (std::size_t t = 0; t < at.size(); ++t) {
    REQUIRE(gradients[t].size() == at[t].size());
    for (std::size_t i = 0; i < at[t].size(); ++i) {
      CAPTURE(t);
      CAPTURE(i);
      TensorList<double> moved = at;
      const double slope = five_point_slope(
          [&](double offset) {
            moved[t][i] = at[t][i] + offset;
            return task.evaluate("train", 0, moved).loss;
          },
          h);
      CHECK(std::fabs(slope - gradients[t][i]) <= tolerance);
    }
  }
}

}  // namespace halfulp::test
