#include "experiments/models/mlp.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "emulation/elementary.h"
#include "emulation/normal.h"
#include "emulation/random_bits.h"

using namespace halfulp;

namespace {

/// Normal numbers that float holds exactly, so that float and double runs have the same inputs.
std::vector<double> normal_numbers(std::size_t count, double deviation, std::uint32_t tensor) {
  const RandomStream stream{11, 0, tensor, 0, RandomPurpose::noise, 0};
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(deviation * normal_deviate<double>(random_bits_32(stream, i)));
  return out;
}

/// A model with data, in double.
struct Case {
  MlpShape shape;
  std::size_t batch;
  std::vector<double> hidden, output, images;
  std::vector<std::uint8_t> labels;

  Case(MlpShape s, std::size_t samples, double hidden_deviation, double output_deviation)
      : shape(s),
        batch(samples),
        hidden(normal_numbers(s.hidden * s.inputs, hidden_deviation, 1)),
        output(normal_numbers(s.classes * s.hidden, output_deviation, 2)),
        images(normal_numbers(samples * s.inputs, 1, 3)) {
    for (std::size_t i = 0; i < samples; ++i)
      labels.push_back(static_cast<std::uint8_t>((3 * i + 1) % s.classes));
  }
};

const Case& small_case() {
  static const Case one({6, 5, 4}, 7, 0.5, 0.5);
  return one;
}

template <class R>
struct Result {
  R loss;
  std::vector<R> hidden, output;
  bool operator==(const Result&) const = default;
};

template <class R>
Result<R> run(const Case& c, ThreadPool* pool = nullptr) {
  const std::vector<R> hidden(c.hidden.begin(), c.hidden.end()), output(c.output.begin(), c.output.end());
  const std::vector<R> images(c.images.begin(), c.images.end());
  Result<R> result{0, std::vector<R>(hidden.size()), std::vector<R>(output.size())};
  Mlp<R> mlp(c.shape, pool);
  result.loss = mlp.loss_and_gradient({hidden, output}, images, c.labels, {result.hidden, result.output});
  return result;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Matrix> as_matrix(const std::vector<double>& values, std::size_t columns) {
  return {values.data(), static_cast<Eigen::Index>(values.size() / columns),
          static_cast<Eigen::Index>(columns)};
}

/// [batch, hidden] before relu, by Eigen.
Matrix pre_activations(const Case& c) {
  return as_matrix(c.images, c.shape.inputs) * as_matrix(c.hidden, c.shape.inputs).transpose();
}

/// Largest sum of |terms| behind one logit: what every rounding error of the logits is proportional to.
double logit_mass(const Case& c) {
  const Matrix activations = as_matrix(c.images, c.shape.inputs).cwiseAbs() *
                             as_matrix(c.hidden, c.shape.inputs).transpose().cwiseAbs();
  return (activations * as_matrix(c.output, c.shape.hidden).transpose().cwiseAbs()).maxCoeff();
}

/// Bound on the rounding error of a loss in a format of unit roundoff u. A logit is off by at most
/// (inputs + hidden) u S (two chains of fma), S the logit mass; a loss depends on logits with derivatives of
/// absolute sum <= 2; exp, sum, log and mean add below (20 + classes + batch) u (loss + 1),
/// where loss <= 2 S + log(classes) <= 2 S + 3.
double loss_error(const Case& c, double u) {
  const double mass = logit_mass(c);
  const auto terms = [](std::size_t n) { return static_cast<double>(n); };
  return u * (2 * terms(c.shape.inputs + c.shape.hidden) * mass +
              (20 + terms(c.shape.classes + c.batch)) * (2 * mass + 4));
}

constexpr double double_roundoff = 0x1p-53, float_roundoff = 0x1p-24;

}  // namespace

TEST_CASE("mlp: one sample worked by hand") {
  // x = 1/2, w = 2, so h = 1; logits (1, -1), label 0: p1 = 1 / (1 + e^2), loss = log(1 + e^-2).
  Mlp<double> mlp({1, 1, 2});
  const std::vector<double> hidden{2}, output{1, -1}, image{0.5};
  const std::vector<std::uint8_t> label{0};
  std::vector<double> hidden_gradient(1), output_gradient(2);
  const double loss =
      mlp.loss_and_gradient({hidden, output}, image, label, {hidden_gradient, output_gradient});
  const double p = 1 / (1 + std::exp(2.0));
  CHECK(loss == doctest::Approx(std::log1p(std::exp(-2.0))).epsilon(1e-14));
  CHECK(output_gradient[0] == doctest::Approx(-p).epsilon(1e-14));
  CHECK(output_gradient[1] == doctest::Approx(p).epsilon(1e-14));
  CHECK(hidden_gradient[0] == doctest::Approx(-p).epsilon(1e-14));  // (1 * -p - 1 * p) * x
  // The dead unit: h = -1, logits 0, no gradient at all.
  const std::vector<double> dead{-2};
  CHECK(mlp.loss_and_gradient({dead, output}, image, label, {hidden_gradient, output_gradient}) ==
        elementary::log(2.0));
  CHECK(hidden_gradient == std::vector<double>{0});
  CHECK(output_gradient == std::vector<double>{0, 0});
}

TEST_CASE("mlp: the gradient agrees with central differences in double") {
  const Case& c = small_case();
  const double h = 0x1p-17;
  // No unit may cross relu's kink within h of a weight.
  REQUIRE(pre_activations(c).cwiseAbs().minCoeff() > 2 * h * largest(c.images));
  // One weight moves the logits of a sample along a line; along it the third derivative of the loss is the
  // third central moment of a variable that takes one logit velocity per class, so at most D^3 / 4 where D is
  // the range of the velocities: |activation| for an output weight, range(output column) |x| for a hidden
  // one.
  const double range =
      std::max(largest({pre_activations(c).maxCoeff()}), 2 * largest(c.output) * largest(c.images));
  const double tolerance = h * h / 6 * range * range * range / 4 + loss_error(c, double_roundoff) / h;
  const Result<double> exact = run<double>(c);
  double worst = 0, worst_relative = 0;
  const auto compare = [&](std::vector<double> Case::*weights, const std::vector<double>& gradient) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      Case up = c, down = c;
      (up.*weights)[i] += h;
      (down.*weights)[i] -= h;
      const double difference = (run<double>(up).loss - run<double>(down).loss) / (2 * h);
      const double error = std::fabs(difference - gradient[i]);
      worst = std::max(worst, error);
      worst_relative = std::max(worst_relative, error / largest(gradient));
      CHECK(error <= tolerance);
    }
  };
  compare(&Case::hidden, exact.hidden);
  compare(&Case::output, exact.output);
  MESSAGE("worst error ", worst, " (", worst_relative, " of the largest gradient), allowed ", tolerance);
  // The bound is far below the gradients, so a wrong formula cannot hide in it.
  CHECK(tolerance < 1e-6 * largest(exact.hidden));
  CHECK(tolerance < 1e-6 * largest(exact.output));
}

TEST_CASE("mlp: float and double gradients agree to float accuracy") {
  const Case& c = small_case();
  REQUIRE(pre_activations(c).cwiseAbs().minCoeff() > 1e-4);  // both take the same side of every kink
  const Result<double> exact = run<double>(c);
  const Result<float> rounded = run<float>(c);
  CHECK(std::fabs(rounded.loss - exact.loss) <= loss_error(c, float_roundoff));
  // A gradient is a mean over the batch of products of a probability error term, off by at most twice the
  // error of a loss, and a factor of at most M; the products' own chains add (batch + classes + 2) u M.
  const double factor = std::max(pre_activations(c).maxCoeff(), static_cast<double>(c.shape.classes) *
                                                                    largest(c.output) * largest(c.images));
  const double tolerance = factor * 3 * loss_error(c, float_roundoff);
  double worst = 0;
  for (std::size_t i = 0; i < exact.hidden.size(); ++i)
    worst = std::max(worst, std::fabs(rounded.hidden[i] - exact.hidden[i]));
  for (std::size_t i = 0; i < exact.output.size(); ++i)
    worst = std::max(worst, std::fabs(rounded.output[i] - exact.output[i]));
  MESSAGE("worst difference ", worst, ", allowed ", tolerance);
  CHECK(worst <= tolerance);
  // Worst cases do not add up in practice; a product or sum in a narrower type would show here (half: 1e-4).
  CHECK(worst < 1e-6);
}

TEST_CASE("mlp: losses and counts agree with Eigen") {
  const Case c({256, 64, 10}, 64, 0.1, 0.2);
  Mlp<double> mlp(c.shape);
  const auto scores = mlp.score({c.hidden, c.output}, c.images, c.labels);
  const Matrix activations = pre_activations(c).cwiseMax(0);
  const Matrix logits = activations * as_matrix(c.output, c.shape.hidden).transpose();
  std::size_t correct = 0;
  for (Eigen::Index i = 0; i < 64; ++i) {
    Eigen::Index best = 0;
    const double top = logits.row(i).maxCoeff(&best);
    const double log_total = std::log((logits.row(i).array() - top).exp().sum()) + top;
    const auto sample = static_cast<std::size_t>(i);
    // Both sides are off by at most the bound; Eigen's products are sums in another order.
    CHECK(std::fabs(scores.losses[sample] - (log_total - logits(i, c.labels[sample]))) <=
          2 * loss_error(c, double_roundoff));
    correct += best == c.labels[sample];
  }
  CHECK(scores.correct == correct);
}

TEST_CASE_TEMPLATE("mlp: the bits do not depend on threads", R, float, double) {
  const Case c({256, 64, 10}, 64, 0.1, 0.2);
  const Result<R> alone = run<R>(c);
  for (const unsigned threads : {1u, 2u}) {
    ThreadPool pool(threads);
    CHECK(run<R>(c, &pool) == alone);
  }
}

TEST_CASE("mlp: a sample's loss does not depend on its batch") {
  const Case c({256, 64, 10}, 64, 0.1, 0.2);
  Mlp<double> mlp(c.shape);
  const auto together = mlp.score({c.hidden, c.output}, c.images, c.labels).losses;
  const std::vector<double> losses(together.begin(), together.end());
  const std::span<const double> images = c.images;
  const std::span<const std::uint8_t> labels = c.labels;
  for (const std::size_t i : {0u, 17u, 63u})
    CHECK(mlp.score({c.hidden, c.output}, images.subspan(256 * i, 256), labels.subspan(i, 1)).losses[0] ==
          losses[i]);
}

TEST_CASE("mlp: a NaN weight is seen in the loss and names no class") {
  Case c = small_case();
  c.hidden[0] = std::numeric_limits<double>::quiet_NaN();
  Mlp<double> mlp(c.shape);
  CHECK(mlp.score({c.hidden, c.output}, c.images, c.labels).correct == 0);
  CHECK(std::isnan(run<double>(c).loss));
}
