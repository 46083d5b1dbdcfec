#pragma once
#include <array>
#include <cmath>
#include <string>

#include "experiments/problems/diagonal_quadratic.h"

namespace halfulp {

struct Quadratic1dOptions {
  double start = 4;
  double target = 3;
};

/// loss (w - target)^2 / 2 of one weight, gradient w - target, starting at `start`.
template <class R>
class Quadratic1d final : public DiagonalQuadratic<R> {
 public:
  /// errors: Error on a start or target that is not finite
  explicit Quadratic1d(const Quadratic1dOptions& options)
      : DiagonalQuadratic<R>("quadratic_1d", {1.0}), options_(options) {
    for (const double value : {options.start, options.target})
      if (!std::isfinite(value))
        throw Error("quadratic_1d", "start or target", std::to_string(value), "a finite number");
  }

  TensorList<double> initial_weights() const override { return {{options_.start}}; }

 protected:
  double target(std::uint64_t, std::size_t) const override { return options_.target; }

 private:
  Quadratic1dOptions options_;
};

/// The smallest runs that separate the failure modes.
struct Quadratic1dCase {
  const char* name;
  Quadratic1dOptions options;
};

inline constexpr std::array<Quadratic1dCase, 5> quadratic_1d_cases{{
    {"4->3", {4, 3}},            // an additive step below half an ulp of the weight
    {"-4->-3", {-4, -3}},        // the same at a negative weight: an update must not depend on sign(w)
    {"0->0.5", {0, 0.5}},        // a multiplicative step cannot leave zero
    {"0.5->-0.5", {0.5, -0.5}},  // nor cross it
    {"-0.5->0.5", {-0.5, 0.5}},
}};

}  // namespace halfulp
