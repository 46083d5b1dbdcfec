// Linear and polynomial objectives on numbers worked by hand, and the Lipschitz constants.
#include <doctest/doctest.h>

#include <cmath>

#include "experiments/problems/constant_gradient.h"
#include "experiments/problems/ema_step_response.h"
#include "experiments/problems/himmelblau.h"
#include "experiments/problems/problems.h"
#include "experiments/problems/rosenbrock.h"
#include "tests/experiments/five_point.h"

namespace halfulp {
namespace {

TEST_CASE_TEMPLATE("constant_gradient: loss g w, gradient g, at every step and weight", R, float, double) {
  ConstantGradient<R> problem({3, 0.5, -0.25});
  CHECK(problem.initial_weights() == TensorList<double>{{0.5, 0.5, 0.5}});
  TensorList<R> gradients;
  for (const std::uint64_t step : {0u, 1u, 5000u}) {
    CHECK(problem.loss_and_gradient(step, {{R(1), R(2), R(5)}}, gradients) == R(-2));
    CHECK(gradients == TensorList<R>{{R(-0.25), R(-0.25), R(-0.25)}});
    CHECK(problem.evaluate("train", step, {{R(1), R(2), R(-5)}}).loss == 0.5);
  }
  CHECK_FALSE(problem.evaluate("train", 0, {{R(1), R(2), R(5)}}).accuracy.has_value());
  CHECK(problem.smoothness() == 0);
  // By default one weight at 1 that descent raises.
  const auto whole = make_problem<R>("constant_gradient");
  CHECK(whole->initial_weights() == TensorList<double>{{1}});
  CHECK(whole->loss_and_gradient(0, {{R(3)}}, gradients) == R(-3));
  CHECK(gradients == TensorList<R>{{R(-1)}});
}

TEST_CASE_TEMPLATE("ema_step_response: the gradient jumps at half of the steps and the loss with it", R,
                   float, double) {
  EmaStepResponse<R> problem({2, 1, 2, -0.5, 7});
  TensorList<R> gradients;
  for (std::uint64_t step = 0; step < 9;
       ++step) {  // 3 of 7 steps come first; beyond the end the second level stays
    const R level = step < 3 ? R(2) : R(-0.5);
    CHECK(problem.loss_and_gradient(step, {{R(1), R(3)}}, gradients) == R(4) * level);
    CHECK(gradients == TensorList<R>{{level, level}});
    CHECK(problem.evaluate("train", step, {{R(1), R(3)}}).loss == 4 * static_cast<double>(level));
  }
  ProblemOptions options;
  options.steps = 10;
  const auto whole = make_problem<R>("ema_step_response", options);
  const TensorList<R> ones{std::vector<R>(64, R(1))}, zeros{std::vector<R>(64, R(0))};
  CHECK(whole->initial_weights() == TensorList<double>{std::vector<double>(64, 1.0)});
  whole->loss_and_gradient(4, ones, gradients);
  CHECK(gradients == ones);
  whole->loss_and_gradient(5, ones, gradients);
  CHECK(gradients == zeros);
}

TEST_CASE("ema_step_response: an exact average reaches the new level by beta^k") {
  EmaStepResponse<double> problem({1, 1, 1, 0, 40});
  TensorList<double> gradients;
  double m = 0;
  for (std::uint64_t step = 0; step < 40; ++step) {
    problem.loss_and_gradient(step, {{1}}, gradients);
    m += 0.5 * (gradients[0][0] - m);
    const double k = static_cast<double>(step % 20) + 1;
    const double expected = step < 20 ? 1 - std::ldexp(1, -static_cast<int>(k))
                                      : (1 - 0x1p-20) * std::ldexp(1, -static_cast<int>(k));
    CHECK(m == expected);
  }
}

TEST_CASE_TEMPLATE("rosenbrock: values and gradients by hand", R, float, double) {
  Rosenbrock<R> problem({4, 1, 100, -1.2, 1});
  CHECK(problem.initial_weights() == TensorList<double>{{-1.2, 1, -1.2, 1}});
  CHECK(problem.optimum(9) == TensorList<double>{{1, 1, 1, 1}});
  TensorList<R> gradients;
  // (2, 1): 1 - x = -1, r = 1 - 4 = -3: f = 1 + 900, f_x = 2 + 400 * 2 * 3, f_y = -600.
  // (-1, 2): 1 - x = 2, r = 1: f = 4 + 100, f_x = -4 + 400, f_y = 200.
  CHECK(problem.loss_and_gradient(0, {{R(2), R(1), R(-1), R(2)}}, gradients) == R(901 + 104));
  CHECK(gradients == TensorList<R>{{R(2402), R(-600), R(396), R(200)}});
  CHECK(problem.evaluate("train", 0, {{R(2), R(1), R(1), R(1)}}).loss == 901);
  CHECK_FALSE(problem.smoothness().has_value());
  // Another valley: a = 3, b = 1/2 at (1, 2): 3 - x = 2, r = 1: f = 4 + 1/2, f_x = -4 - 2, f_y = 1.
  Rosenbrock<R> flat({2, 3, 0.5, 0, 0});
  CHECK(flat.optimum(0) == TensorList<double>{{3, 9}});
  CHECK(flat.loss_and_gradient(0, {{R(1), R(2)}}, gradients) == R(4.5));
  CHECK(gradients == TensorList<R>{{R(-6), R(1)}});
}

TEST_CASE("rosenbrock: the Hessian at the minimum has eigenvalues 1001.6 and 0.399") {
  Rosenbrock<double> problem({});
  const auto gradient_at = [&](double x, double y) {
    TensorList<double> gradients;
    problem.loss_and_gradient(0, {{x, y}}, gradients);
    return gradients[0];
  };
  // The gradient is a cubic, for which the stencil is exact; rounding is below 1e-10.
  const auto slope = [&](std::size_t of, bool by_x) {
    return test::five_point_slope(
        [&](double h) { return gradient_at(by_x ? 1 + h : 1, by_x ? 1 : 1 + h)[of]; }, 0x1p-6);
  };
  CHECK(std::fabs(slope(0, true) - 802) < 1e-9);
  CHECK(std::fabs(slope(0, false) + 400) < 1e-9);
  CHECK(std::fabs(slope(1, true) + 400) < 1e-9);
  CHECK(std::fabs(slope(1, false) - 200) < 1e-9);
  // Their sum is the trace 1002 and their product the determinant 802 * 200 - 400^2 = 400.
  CHECK(1001.6 + 0.399 == doctest::Approx(1002).epsilon(1e-5));
  CHECK(1001.6 * 0.39936 == doctest::Approx(400).epsilon(1e-5));
}

TEST_CASE_TEMPLATE("himmelblau: values and gradients by hand", R, float, double) {
  Himmelblau<R> problem({});
  CHECK(problem.initial_weights() == TensorList<double>{{1, 1}});
  TensorList<R> gradients;
  // (1, 1): p = -9, q = -5. (-2, 3): p = -4, q = 0.
  CHECK(problem.loss_and_gradient(0, {{R(1), R(1)}}, gradients) == R(106));
  CHECK(gradients == TensorList<R>{{R(-46), R(-38)}});
  CHECK(problem.loss_and_gradient(3, {{R(-2), R(3)}}, gradients) == R(16));
  CHECK(gradients == TensorList<R>{{R(32), R(-8)}});
  CHECK_FALSE(problem.optimum(0).has_value());
  CHECK_FALSE(problem.smoothness().has_value());
}

TEST_CASE("himmelblau: four minima, one a quadrant; gradient descent from each quadrant finds its own") {
  Himmelblau<double> problem({});
  TensorList<double> gradients;
  int quadrants = 0;
  for (const auto& minimum : himmelblau_minima) {
    const TensorList<double> at{{minimum[0], minimum[1]}};
    // Half an ulp of a coordinate, 2.3e-16, times slopes of p and q below 9: squares below 1e-28 and, with the factors
    // 4 x and 2, a gradient below 1e-13.
    CHECK(problem.loss_and_gradient(0, at, gradients) < 1e-28);
    CHECK(std::fabs(gradients[0][0]) < 1e-13);
    CHECK(std::fabs(gradients[0][1]) < 1e-13);
    quadrants |= 1 << ((minimum[0] < 0) + 2 * (minimum[1] < 0));
    TensorList<double> w{{minimum[0] < 0 ? -2.5 : 2.5, minimum[1] < 0 ? -2.5 : 2.5}};
    for (int step = 0; step < 2000; ++step) {
      problem.loss_and_gradient(0, w, gradients);
      for (std::size_t i = 0; i < 2; ++i) w[0][i] -= 0.01 * gradients[0][i];
    }
    CHECK(std::fabs(w[0][0] - minimum[0]) < 1e-12);
    CHECK(std::fabs(w[0][1] - minimum[1]) < 1e-12);
  }
  CHECK(quadrants == 15);
}

TEST_CASE("smoothness: of a diagonal quadratic its largest curvature, attained") {
  ProblemOptions options;
  options.settings["noise"] = 0;
  const auto steep = make_problem<double>("ill_conditioned", options);
  CHECK(steep->smoothness() == 1e2);
  TensorList<double> at = *steep->optimum(0), gradients;
  const double before = at[0].back();
  at[0].back() += 1;
  steep->loss_and_gradient(0, at, gradients);
  CHECK(gradients[0].back() == 1e2 * (at[0].back() - before));
  for (const char* name : {"quadratic_1d", "quadratic_1d:4->3", "zero_initialized", "flipping_target"}) {
    CAPTURE(name);
    CHECK(make_problem<double>(name)->smoothness() == 1);
    CHECK(make_problem<float>(name)->smoothness() == 1);
  }
  CHECK(make_problem<double>("ema_step_response")->smoothness() == 0);
  CHECK_FALSE(make_problem<double>("teacher_student")->smoothness().has_value());
}

}  // namespace
}  // namespace halfulp
