#include "experiments/problems/problems.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "experiments/problems/flipping_target.h"
#include "experiments/problems/ill_conditioned.h"
#include "experiments/problems/quadratic_1d.h"
#include "experiments/problems/zero_initialized.h"

using namespace halfulp;

TEST_CASE_TEMPLATE("quadratic_1d: loss (w - target)^2 / 2 and gradient w - target", R, float, double) {
  Quadratic1d<R> problem({4, 3});
  TensorList<R> gradients;
  CHECK(problem.initial_weights() == TensorList<double>{{4}});
  CHECK(problem.tensors().total_size() == 1);
  CHECK(problem.loss_and_gradient(0, {{R(4)}}, gradients) == R(0.5));
  CHECK(gradients == TensorList<R>{{R(1)}});
  CHECK(problem.loss_and_gradient(17, {{R(-1)}}, gradients) == R(8));
  CHECK(gradients == TensorList<R>{{R(-4)}});
  CHECK(problem.evaluate("train", 0, {{R(2.5)}}).loss == 0.125);
  CHECK_FALSE(problem.evaluate("train", 0, {{R(2.5)}}).accuracy.has_value());
  CHECK(problem.optimum(5) == TensorList<double>{{3}});
}

TEST_CASE("quadratic_1d: the five named cases start and end where their names say") {
  const std::vector<std::pair<std::string, std::pair<double, double>>> cases{{"4->3", {4, 3}},
                                                                             {"-4->-3", {-4, -3}},
                                                                             {"0->0.5", {0, 0.5}},
                                                                             {"0.5->-0.5", {0.5, -0.5}},
                                                                             {"-0.5->0.5", {-0.5, 0.5}}};
  for (const auto& one : cases) {
    const auto& name = one.first;
    const auto& ends = one.second;
    CAPTURE(name);
    const auto problem = make_problem<double>("quadratic_1d:" + name);
    CHECK(problem->initial_weights() == TensorList<double>{{ends.first}});
    CHECK(problem->optimum(0) == TensorList<double>{{ends.second}});
  }
}

TEST_CASE_TEMPLATE("ill_conditioned: without noise the gradient is h (w - w*)", R, float, double) {
  // Two coordinates: curvatures 1/4 and 4, |w*| 1/8 (positive, rank 0) and 8 (negative, rank 1), in either
  // order.
  IllConditioned<R> problem({2, 0.25, 4, 0.125, 8, 0, 3});
  const std::vector<double> target = (*problem.optimum(0))[0];
  const bool swapped = target[0] < 0;
  CHECK(target == (swapped ? std::vector<double>{-8, 0.125} : std::vector<double>{0.125, -8}));
  TensorList<R> gradients;
  const R loss = problem.loss_and_gradient(0, {{R(1), R(1)}}, gradients);
  // Straight: h d = .25 * .875, 4 * 9; loss .25 * .875^2 / 2 + 4 * 81 / 2. Swapped: .25 * 9, 4 * .875.
  CHECK(gradients == (swapped ? TensorList<R>{{R(2.25), R(3.5)}} : TensorList<R>{{R(0.21875), R(36)}}));
  CHECK(loss == (swapped ? R(0.25 * 81 / 2 + 4 * 0.765625 / 2) : R(0.25 * 0.765625 / 2 + 162)));
}

TEST_CASE(
    "ill_conditioned: curvatures and optimal magnitudes span their decades, uncorrelated, signs mixed") {
  IllConditioned<double> problem({});
  const std::vector<double> target = (*problem.optimum(0))[0];
  REQUIRE(target.size() == 1024);
  TensorList<double> at_target, gradients{{}};
  // One unit away from the optimum the noiseless gradient is the curvature, to the rounding of target + 1.
  IllConditionedOptions quiet;
  quiet.noise = 0;
  IllConditioned<double> exact(quiet);
  TensorList<double> weights{target};
  for (double& weight : weights[0]) weight += 128;  // above every |w*|
  exact.loss_and_gradient(0, weights, gradients);
  CHECK(gradients[0].front() / 128 == doctest::Approx(1e-2).epsilon(1e-12));
  CHECK(gradients[0].back() / 128 == doctest::Approx(1e2).epsilon(1e-12));
  CHECK(std::is_sorted(gradients[0].begin(), gradients[0].end()));

  std::vector<double> magnitudes;
  double correlation = 0, variance = 0;
  for (std::size_t i = 0; i < 1024; ++i) {
    magnitudes.push_back(std::fabs(target[i]));
    const double x = static_cast<double>(i) - 511.5;      // log curvature, up to scale
    const double y = std::log10(magnitudes[i]) - (-0.5);  // the ends are -3 and 2
    correlation += x * y;
    variance += x * x;
  }
  // sd of the correlation of random orders is 1/sqrt(1023) = 0.031; 4 of them. y is x permuted times 5/1023.
  CHECK(std::fabs(correlation / (variance * 5 / 1023)) < 0.125);
  std::sort(magnitudes.begin(), magnitudes.end());
  CHECK(magnitudes.front() == 1e-3);
  CHECK(magnitudes.back() == 1e2);
  // Constant ratio 10^(5/1023); the elementary functions' 1 ulp, at |log| <= 6.9, moves a ratio by below
  // 1e-14.
  for (std::size_t i = 1; i < 1024; ++i)
    CHECK(std::fabs(magnitudes[i] / magnitudes[i - 1] / std::pow(10, 5.0 / 1023) - 1) < 1e-14);
  CHECK(std::count_if(target.begin(), target.end(), [](double w) { return w < 0; }) == 512);
}

TEST_CASE("ill_conditioned: the start spans decades and about half of it has the wrong sign") {
  IllConditioned<double> problem({});
  const auto start = problem.initial_weights()[0];
  const auto target = (*problem.optimum(0))[0];
  int wrong = 0;
  double sum_of_squares = 0;
  for (std::size_t i = 0; i < 1024; ++i) {
    wrong += start[i] * target[i] < 0;
    sum_of_squares += (start[i] / target[i]) * (start[i] / target[i]);
  }
  CHECK(std::abs(wrong - 512) < 64);                   // sd 16, 4 of them
  CHECK(std::fabs(sum_of_squares / 1024 - 1) < 0.18);  // sd sqrt(2/1024) = .044, 4 of them
}

TEST_CASE(
    "ill_conditioned: label noise has deviation noise sqrt(h), is fresh each step and never in the loss") {
  IllConditionedOptions options;
  IllConditioned<double> noisy(options);
  options.noise = 0;
  IllConditioned<double> quiet(options);
  const TensorList<double> weights = *noisy.optimum(0);  // where the exact gradient is 0
  TensorList<double> gradients, exact, again;
  double sum_of_squares = 0, product = 0;
  std::vector<double> before(1024, 0.0);
  quiet.loss_and_gradient(0, {std::vector<double>(1024, 200.0)}, exact);
  for (std::uint64_t step = 0; step < 100; ++step) {
    CHECK(noisy.loss_and_gradient(step, weights, gradients) == 0);
    for (std::size_t i = 0; i < 1024; ++i) {
      const double curvature = exact[0][i] / (200.0 - weights[0][i]);
      const double z = gradients[0][i] / (0.3 * std::sqrt(curvature));
      sum_of_squares += z * z;
      product += z * before[i];
      before[i] = z;
    }
  }
  const double n = 102400;
  CHECK(std::fabs(sum_of_squares / n - 1) < 4 * std::sqrt(2 / n));
  CHECK(std::fabs(product / n) < 4 / std::sqrt(n));
  noisy.loss_and_gradient(99, weights, again);  // asked again, the same bits
  CHECK(again == gradients);
  CHECK(quiet.loss_and_gradient(5, {std::vector<double>(1024, 1.0)}, gradients) ==
        noisy.loss_and_gradient(5, {std::vector<double>(1024, 1.0)}, gradients));
}

TEST_CASE("ill_conditioned: a seed changes start and noise, not the objective") {
  ProblemOptions zero, one;
  one.seed = 1;
  const auto a = make_problem<double>("ill_conditioned", zero),
             b = make_problem<double>("ill_conditioned", one);
  CHECK(a->optimum(0) == b->optimum(0));
  CHECK(a->initial_weights() != b->initial_weights());
  const TensorList<double> weights = *a->optimum(0);
  TensorList<double> from_a, from_b;
  a->loss_and_gradient(0, weights, from_a);
  b->loss_and_gradient(0, weights, from_b);
  CHECK(from_a != from_b);
}

TEST_CASE_TEMPLATE("zero_initialized: starts at exactly 0; targets span decades with alternating signs", R,
                   float, double) {
  ZeroInitialized<R> problem({3, 0.25, 4});
  CHECK(problem.initial_weights() == TensorList<double>{{0, 0, 0}});
  const auto target = (*problem.optimum(0))[0];
  CHECK(target[0] == 0.25);
  CHECK(std::fabs(target[1] + 1) <=
        0x1p-51);  // -exp((log .25 + log 4) / 2): two values within 1 ulp of +-1.386
  CHECK(target[2] == 4);
  TensorList<R> gradients;
  problem.loss_and_gradient(0, {{R(0), R(0), R(1)}}, gradients);
  CHECK(gradients[0][0] == R(-0.25));
  CHECK(gradients[0][2] == R(-3));
  const auto whole = make_problem<R>("zero_initialized");
  CHECK(whole->tensors().total_size() == 256);
  CHECK((*whole->optimum(0))[0].front() == 1e-3);
  CHECK((*whole->optimum(0))[0].back() == -1e1);
}

TEST_CASE_TEMPLATE(
    "flipping_target: the optimum changes sign at half of the steps, gradient and loss with it", R, float,
    double) {
  FlippingTarget<R> problem({2, 0.5, 2, 10});
  CHECK(problem.initial_weights() == TensorList<double>{{0.25, -1}});
  CHECK(problem.optimum(0) == TensorList<double>{{0.5, -2}});
  CHECK(problem.optimum(4) == TensorList<double>{{0.5, -2}});
  CHECK(problem.optimum(5) == TensorList<double>{{-0.5, 2}});
  CHECK(problem.optimum(11) == TensorList<double>{{-0.5, 2}});
  TensorList<R> gradients;
  CHECK(problem.loss_and_gradient(4, {{R(1), R(-2)}}, gradients) == R(0.125));
  CHECK(gradients == TensorList<R>{{R(0.5), R(0)}});
  CHECK(problem.loss_and_gradient(5, {{R(1), R(-2)}}, gradients) == R(1.125 + 8));
  CHECK(gradients == TensorList<R>{{R(1.5), R(-4)}});
  CHECK(problem.evaluate("train", 5, {{R(1), R(-2)}}).loss == 9.125);
  const FlippingTarget<R> odd({1, 1, 1, 3});
  CHECK(odd.optimum(0) == TensorList<double>{{1}});
  CHECK(odd.optimum(1) == TensorList<double>{{-1}});
}
