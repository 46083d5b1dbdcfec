// Logistic regression: a recount of data, loss and gradient in long double, and the Lipschitz bound.
#include "experiments/problems/logistic_regression.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>

#include "tests/experiments/five_point.h"

namespace halfulp {
namespace {

/// The data set, drawn again entry by entry.
struct Recount {
  std::size_t samples, features;
  std::vector<std::vector<double>> x;
  std::vector<int> y;
  std::vector<double> truth;  ///< weights and bias
  std::size_t flips = 0;

  explicit Recount(const LogisticRegressionOptions& o) : samples(o.samples), features(o.features) {
    const auto normal = [&](std::uint8_t table, std::size_t i) {
      return normal_deviate<double>(
          random_bits_32({o.data_seed, 0, 0, table, RandomPurpose::data_order, 0}, i));
    };
    std::vector<double> scale;
    for (std::size_t j = 0; j < features; ++j) {
      scale.push_back(
          o.smallest_scale *
          std::pow(o.largest_scale / o.smallest_scale,
                   features == 1 ? 0 : static_cast<double>(j) / static_cast<double>(features - 1)));
      truth.push_back(normal(2, j) / scale[j]);
    }
    truth.push_back(normal(2, features));
    for (std::size_t i = 0; i < samples; ++i) {
      x.emplace_back();
      long double logit = truth.back();
      for (std::size_t j = 0; j < features; ++j) {
        x.back().push_back(scale[j] * normal(1, i * features + j));
        logit += static_cast<long double>(truth[j]) * x.back().back();
      }
      const double draw =
          random_bits_32({o.data_seed, 0, 0, 3, RandomPurpose::data_order, 0}, i) / 4294967296.0;
      const bool flip = draw < o.label_noise;
      flips += flip;
      y.push_back((logit >= 0) != flip ? 1 : -1);
    }
  }

  long double margin(std::size_t i, const TensorList<double>& w) const {
    long double logit = w[1][0];
    for (std::size_t j = 0; j < features; ++j) logit += static_cast<long double>(w[0][j]) * x[i][j];
    return y[i] * logit;
  }
};

LogisticRegressionOptions wide_scales() {
  LogisticRegressionOptions o;
  o.samples = 300;
  o.features = 37;
  o.batch_size = 50;
  o.smallest_scale = 1e-2;
  o.largest_scale = 1e1;
  o.seed = 5;
  o.data_seed = 9;
  return o;
}

TEST_CASE_TEMPLATE("logistic_regression: mini-batch loss and gradient are those of a recount", R, float,
                   double) {
  const LogisticRegressionOptions o = wide_scales();
  LogisticRegression<R> problem(o);
  const Recount data(o);
  BatchOrder order(o.seed, o.samples, o.batch_size);
  TensorList<R> at;
  for (const auto& tensor : problem.initial_weights()) at.emplace_back(tensor.begin(), tensor.end());
  at[1][0] = R(0.25);
  TensorList<double> w;
  for (const auto& tensor : at) w.emplace_back(tensor.begin(), tensor.end());
  const double unit = sizeof(R) == 4 ? 0x1p-24 : 1e-14;
  for (const std::uint64_t step : {0u, 5u, 6u, 700u}) {  // 6 steps an epoch
    TensorList<R> gradients;
    const R loss = problem.loss_and_gradient(step, at, gradients);
    long double total = 0;
    std::vector<long double> slope(o.features + 1, 0.0L), size(o.features + 1, 0.0L);
    for (const std::uint32_t i : order.indices(step)) {
      const long double m = data.margin(i, w), p = 1 / (1 + std::exp(m));
      total += std::log1p(std::exp(-m));
      for (std::size_t j = 0; j <= o.features; ++j) {
        const long double term = -data.y[i] * p * (j < o.features ? data.x[i][j] : 1.0L);
        slope[j] += term / 50;
        size[j] += std::fabs(term) / 50;
      }
    }
    CHECK(std::fabs(loss - total / 50) <= 1.01 * unit * std::fabs(total / 50));
    for (std::size_t j = 0; j <= o.features; ++j) {
      const R got = j < o.features ? gradients[0][j] : gradients[1][0];
      CHECK(std::fabs(got - slope[j]) <= unit * std::fabs(slope[j]) + 1e-14 * size[j]);
    }
  }
}

TEST_CASE("logistic_regression: evaluation takes all samples; the truth misses exactly the flipped ones") {
  LogisticRegressionOptions o = wide_scales();
  for (const double noise : {0.0, 0.1, 0.5}) {
    o.label_noise = noise;
    LogisticRegression<double> problem(o);
    const Recount data(o);
    const TensorList<double> truth{{data.truth.begin(), data.truth.end() - 1}, {data.truth.back()}};
    long double total = 0;
    for (std::size_t i = 0; i < o.samples; ++i) total += std::log1p(std::exp(-data.margin(i, truth)));
    const Evaluation judged = problem.evaluate("train", 3, truth);
    CHECK(judged.loss == doctest::Approx(static_cast<double>(total / 300)).epsilon(1e-13));
    CHECK(judged.accuracy == static_cast<double>(300 - data.flips) / 300);
    // sd sqrt(300 noise (1 - noise)), 4 of them
    CHECK(std::fabs(static_cast<double>(data.flips) - 300 * noise) <=
          4 * std::sqrt(300 * noise * (1 - noise)));
    CHECK(problem.evaluate("train", 8, truth).loss == judged.loss);
  }
  // At zero every margin is 0, which names no class.
  LogisticRegression<double> problem(o);
  const Evaluation nothing = problem.evaluate("train", 0, {std::vector<double>(37, 0.0), {0.0}});
  CHECK(nothing.loss == doctest::Approx(std::log(2.0)).epsilon(1e-14));
  CHECK(nothing.accuracy == 0);
}

TEST_CASE(
    "logistic_regression: the start is deviation z / scale, the bias 0; a run's seed leaves the data alone") {
  LogisticRegressionOptions o = wide_scales();
  LogisticRegression<double> problem(o);
  const TensorList<double> start = problem.initial_weights();
  CHECK(start[1] == std::vector<double>{0});
  double sum_of_squares = 0;
  for (std::size_t j = 0; j < o.features; ++j) {
    const double scale = 1e-2 * std::pow(1e3, static_cast<double>(j) / 36);
    const double z =
        normal_deviate<double>(random_bits_32({5, 0, 0, 0, RandomPurpose::initialization, 0}, j));
    CHECK(start[0][j] * scale / 0.1 == doctest::Approx(z).epsilon(1e-12));
    sum_of_squares += start[0][j] * scale * start[0][j] * scale;
  }
  CHECK(std::fabs(sum_of_squares / 37 / 0.01 - 1) < 4 * std::sqrt(2.0 / 37));

  LogisticRegressionOptions other = o;
  other.seed = 6;
  LogisticRegression<double> reseeded(other);
  CHECK(reseeded.initial_weights() != start);
  CHECK(reseeded.evaluate("train", 0, start).loss == problem.evaluate("train", 0, start).loss);
  TensorList<double> one, two;
  CHECK(reseeded.loss_and_gradient(0, start, one) !=
        problem.loss_and_gradient(0, start, two));  // another order
  other.seed = o.seed;
  other.data_seed = 10;
  CHECK(LogisticRegression<double>(other).evaluate("train", 0, start).loss !=
        problem.evaluate("train", 0, start).loss);
  CHECK(LogisticRegression<double>(other).initial_weights() == start);
  other.initial_deviation = 0;
  CHECK(LogisticRegression<double>(other).initial_weights()[0] == std::vector<double>(37, 0.0));
}

TEST_CASE("logistic_regression: gradient by five-point differences away from the start") {
  LogisticRegressionOptions o;
  o.samples = o.batch_size = 40;
  o.features = 5;
  LogisticRegression<double> problem(o);
  // Fifth derivatives are below |x|^5 / 4, of features below 4: 256 h^4 / 30 < 2e-12 at the most.
  test::check_gradient(problem, {{3, -2, 1, 0.5, -4}, {-1}}, 0x1p-10, 1e-11);
}

TEST_CASE("smoothness: of one sample (|x|^2 + 1) / 4, attained along (x, 1) where the margin is 0") {
  LogisticRegressionOptions o;
  o.samples = o.batch_size = 1;
  o.features = 6;
  LogisticRegression<double> problem(o);
  const Recount data(o);
  double squares = 1;
  for (const double x : data.x[0]) squares += x * x;
  CHECK(*problem.smoothness() >= squares / 4);
  CHECK(*problem.smoothness() <= squares / 4 * (1 + 0x1p-31));
  // p (1 - p) is flat at margin 0, so a short step sees the bound but for its square.
  TensorList<double> up{{}, {1e-4}}, down{{}, {-1e-4}}, at_up, at_down;
  for (const double x : data.x[0]) up[0].push_back(1e-4 * x), down[0].push_back(-1e-4 * x);
  problem.loss_and_gradient(0, up, at_up);
  problem.loss_and_gradient(0, down, at_down);
  double difference = (at_up[1][0] - at_down[1][0]) * (at_up[1][0] - at_down[1][0]);
  for (std::size_t j = 0; j < 6; ++j)
    difference += (at_up[0][j] - at_down[0][j]) * (at_up[0][j] - at_down[0][j]);
  CHECK(std::sqrt(difference) / (2e-4 * std::sqrt(squares)) == doctest::Approx(squares / 4).epsilon(1e-6));
}

TEST_CASE("smoothness: of many samples above every eigenvalue of the Hessian at 0, whatever the batch") {
  for (const double largest : {1.0, 1e3}) {
    LogisticRegressionOptions o;
    o.largest_scale = largest;
    LogisticRegression<double> problem(o);
    const Recount data(o);
    Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(17, 17);
    double longest = 0;
    for (std::size_t i = 0; i < o.samples; ++i) {
      Eigen::VectorXd x(17);
      for (int j = 0; j < 16; ++j) x[j] = data.x[i][static_cast<std::size_t>(j)];
      x[16] = 1;
      hessian += x * x.transpose() / 4 / static_cast<double>(o.samples);
      longest = std::max(longest, x.squaredNorm());
    }
    const double eigenvalue =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(hessian).eigenvalues().maxCoeff();
    CHECK(*problem.smoothness() > eigenvalue);
    CHECK(*problem.smoothness() == doctest::Approx(longest / 4).epsilon(1e-9));
    CHECK(*problem.smoothness() >= longest / 4);
  }
}

}  // namespace
}  // namespace halfulp
