#pragma once
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "experiments/problems/pairwise_objective.h"
#include "formats/error.h"

namespace halfulp {

struct RosenbrockOptions {
  std::size_t size = 2;  ///< even
  double a = 1;          ///< x of the minimum
  double b = 100;        ///< how steep the walls of the valley are
  double start_x = -1.2, start_y = 1;
};

/// Rosenbrock's curved valley (The Computer Journal 3, 1960), one for each pair (x, y): with r = y - x^2,
///   f = (a - x)^2 + b r^2,   df/dx = -2 (a - x) - 4 b x r,   df/dy = 2 b r
/// minimum: 0 at (a, a^2), and nowhere else since b > 0. There the Hessian is (2 + 8 a^2 b, -4 a b; -4 a b, 2 b): with
///   the defaults its eigenvalues are 1001.6 and 0.399, a condition number of 2508 along no coordinate.
/// smoothness: none, the curvature grows with x^2.
template <class R>
class Rosenbrock final : public PairwiseObjective<R> {
 public:
  /// errors: Error on an odd size or 0, a start or a that is not finite, or a b that is not positive
  explicit Rosenbrock(const RosenbrockOptions& options)
      : PairwiseObjective<R>("rosenbrock", options.size, options.start_x, options.start_y),
        a_(options.a),
        b_(options.b) {
    check_finite("rosenbrock, a", a_);
    if (!(b_ > 0) || !std::isfinite(b_))
      throw Error("rosenbrock, b", "no walls", std::to_string(b_), "a positive finite number");
  }

  std::optional<TensorList<double>> optimum(std::uint64_t) const override {
    return this->repeated(a_, a_ * a_);
  }

 protected:
  PlaneValue at(double x, double y) const override {
    const double short_of = a_ - x, off_floor = y - x * x;
    return {short_of * short_of + b_ * off_floor * off_floor, -2 * short_of - 4 * b_ * x * off_floor,
            2 * b_ * off_floor};
  }

 private:
  double a_, b_;
};

}  // namespace halfulp
