#pragma once
#include <array>

#include "experiments/problems/pairwise_objective.h"

namespace halfulp {

struct HimmelblauOptions {
  double start_x = 1, start_y = 1;
};

/// The four minima (x, y), all of value 0. (3, 2) is exact. The others solve x^2 + y = 11 and x + y^2 = 7 with
/// y = 11 - x^2: x^4 - 22 x^2 + x + 114 = (x - 3) (x^3 + 3 x^2 - 13 x - 38); to the nearest double.
inline constexpr std::array<std::array<double, 2>, 4> himmelblau_minima{{
    {3, 2},
    {3.58442834033049174494, -1.84812652696440355354},
    {-3.77931025337774689189, -3.28318599128616941227},
    {-2.80511808695274485305, 3.13131251825057296580},
}};

/// Himmelblau's function (Applied Nonlinear Programming, 1972): with p = x^2 + y - 11 and q = x + y^2 - 7,
///   f = p^2 + q^2,   df/dx = 4 x p + 2 q,   df/dy = 2 p + 4 y q
/// One minimum in each quadrant, so the way to three of them crosses zero from the start (1, 1).
/// optimum: none is named, since which of the four a run should reach depends on its path.
/// smoothness: none, the curvature grows with x^2 and y^2.
template <class R>
class Himmelblau final : public PairwiseObjective<R> {
 public:
  /// errors: Error on a start that is not finite
  explicit Himmelblau(const HimmelblauOptions& options)
      : PairwiseObjective<R>("himmelblau", 2, options.start_x, options.start_y) {}

 protected:
  PlaneValue at(double x, double y) const override {
    const double p = x * x + y - 11, q = x + y * y - 7;
    return {p * p + q * q, 4 * x * p + 2 * q, 2 * p + 4 * y * q};
  }
};

}  // namespace halfulp
