// The two-layer network by hand and by a recount in long double, and what teacher and student promise.
#include "experiments/problems/teacher_student.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/experiments/five_point.h"

namespace halfulp {
namespace {

using Weights = TwoLayerNetwork::Weights;

TEST_CASE("two-layer network: one relu unit with biases, by hand") {
  TwoLayerNetwork network({1, 1, 1, true, true});
  const Weights w{{2}, {3}, {-1}, {0.5}};
  // x = 1: h = 1, a = 1, y = 3.5; x = 0: h = -1, a = 0, y = 0.5.
  const std::vector<double> x{1, 0}, targets{1.5, 0.5};
  const auto y = network.outputs(w, x);
  CHECK(std::vector<double>(y.begin(), y.end()) == std::vector<double>{3.5, 0.5});
  // Residuals 2 and 0, mean of squares over 2: 1. Through the first sample alone: E = 2/2, dW2 = E a, dA = 3 E.
  Weights gradients;
  CHECK(network.loss_and_gradient(w, x, targets, gradients) == 1);
  CHECK(gradients == Weights{{3}, {1}, {3}, {1}});
  CHECK(network.loss(w, x, targets) == 1);
}

TEST_CASE("two-layer network: two tanh units without biases, by hand where tanh is 0") {
  TwoLayerNetwork network({2, 2, 1, false, false});
  // h = (1 - 1, 2 - 2) = 0, so tanh = 0 with slope 1, y = 0, E = -3.
  const Weights w{{1, -1, 2, -2}, {5, 7}};
  Weights gradients;
  CHECK(network.loss_and_gradient(w, std::vector<double>{1, 1}, std::vector<double>{3}, gradients) == 4.5);
  CHECK(gradients == Weights{{-15, -15, -21, -21}, {0, 0}});
}

TEST_CASE("two-layer network: tanh to the last digits, odd, saturating; NaN stays under relu") {
  TwoLayerNetwork network({1, 1, 1, false, false});
  const Weights identity{{1}, {1}};
  for (int k = 1; k <= 3000; ++k) {
    const double x = std::ldexp(1 + 1e-3 * k, -k % 60 + 5);
    const double y = network.outputs(identity, std::vector<double>{x})[0];
    const long double exact = std::tanh(static_cast<long double>(x));
    // q has 2 ulp; q / (2 - q) passes on at most twice its relative error, plus two roundings
    if (!(std::fabs(y - exact) <= 5 * 0x1p-52L * exact)) FAIL(x);
    CHECK(network.outputs(identity, std::vector<double>{-x})[0] == -y);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(network.outputs(identity, std::vector<double>{800})[0] == 1);
  CHECK(network.outputs(identity, std::vector<double>{-infinity})[0] == -1);
  CHECK(network.outputs(identity, std::vector<double>{0x1p-1070})[0] == 0x1p-1070);
  TwoLayerNetwork relu({1, 1, 1, true, false});
  CHECK(std::isnan(relu.outputs({{std::nan("")}, {1}}, std::vector<double>{1})[0]));
  CHECK(std::isnan(network.outputs({{std::nan("")}, {1}}, std::vector<double>{1})[0]));
}

TEST_CASE("two-layer network: a sample's outputs do not depend on its batch") {
  TwoLayerNetwork network({3, 5, 2, false, true});
  const auto numbers = [](std::uint8_t table, std::size_t count) {
    return normal_values(data_table(77, table), count, 1);
  };
  const Weights w{numbers(1, 15), numbers(2, 10), numbers(3, 5), numbers(4, 2)};
  const std::vector<double> x = numbers(5, 3 * 41);
  const auto all_span = network.outputs(w, x);
  const std::vector<double> all(all_span.begin(), all_span.end());
  for (std::size_t i = 0; i < 41; ++i) {
    const auto one = network.outputs(w, std::span(x).subspan(3 * i, 3));
    CHECK(one[0] == all[i]);
    CHECK(one[1] == all[41 + i]);
  }
}

/// Loss and gradient sample by sample in long double, from the tables drawn again.
struct Recount {
  TeacherStudentOptions o;

  double normal(std::uint8_t table, std::size_t i) const {
    return normal_deviate<double>(
        random_bits_32({o.data_seed, 0, 0, table, RandomPurpose::data_order, 0}, i));
  }
  long double act(long double h) const { return o.relu ? (h > 0 ? h : 0) : std::tanh(h); }
  long double slope(long double h) const { return o.relu ? (h > 0) : 1 - std::tanh(h) * std::tanh(h); }

  long double answer(std::size_t sample, std::size_t output) const {
    const double into = static_cast<double>(o.inputs), out_of = static_cast<double>(o.teacher_hidden);
    long double y = o.biases ? normal(5, output) / std::sqrt(out_of) : 0;
    for (std::size_t u = 0; u < o.teacher_hidden; ++u) {
      long double h = o.biases ? normal(4, u) / std::sqrt(into) : 0;
      for (std::size_t k = 0; k < o.inputs; ++k)
        h += std::sqrt((o.relu ? 2 : 1) / into) * normal(2, u * o.inputs + k) *
             normal(1, sample * o.inputs + k);
      y += normal(3, output * o.teacher_hidden + u) / std::sqrt(out_of) * act(h);
    }
    return y;
  }

  long double add_sample(std::size_t sample, const TensorList<double>& w,
                         std::vector<std::vector<long double>>& g, long double share) const {
    std::vector<long double> h(o.hidden), from_outputs(o.hidden, 0.0L);
    for (std::size_t u = 0; u < o.hidden; ++u) {
      h[u] = o.biases ? w[2][u] : 0;
      for (std::size_t k = 0; k < o.inputs; ++k)
        h[u] += static_cast<long double>(w[0][u * o.inputs + k]) * normal(1, sample * o.inputs + k);
    }
    long double loss = 0;
    for (std::size_t output = 0; output < o.outputs; ++output) {
      long double residual = (o.biases ? w[3][output] : 0) - answer(sample, output);
      for (std::size_t u = 0; u < o.hidden; ++u) residual += w[1][output * o.hidden + u] * act(h[u]);
      loss += residual * residual / 2 * share;
      if (o.biases) g[3][output] += residual * share;
      for (std::size_t u = 0; u < o.hidden; ++u) {
        g[1][output * o.hidden + u] += residual * act(h[u]) * share;
        from_outputs[u] += residual * w[1][output * o.hidden + u] * slope(h[u]) * share;
      }
    }
    for (std::size_t u = 0; u < o.hidden; ++u) {
      if (o.biases) g[2][u] += from_outputs[u];
      for (std::size_t k = 0; k < o.inputs; ++k)
        g[0][u * o.inputs + k] += from_outputs[u] * normal(1, sample * o.inputs + k);
    }
    return loss;
  }
};

TEST_CASE("teacher_student: mini-batch loss and gradient are those of a recount") {
  for (const bool relu : {false, true})
    for (const bool biases : {false, true}) {
      CAPTURE(relu);
      CAPTURE(biases);
      TeacherStudentOptions o{5, 3, 4, 7, 60, 20, relu, biases, 8, 2};
      TeacherStudent<double> problem(o);
      const Recount recount{o};
      TensorList<double> w = problem.initial_weights(), gradients;
      REQUIRE(w.size() == (biases ? 4 : 2));
      for (std::size_t t = 2; t < w.size(); ++t)
        for (std::size_t i = 0; i < w[t].size(); ++i) w[t][i] = 0.1 * static_cast<double>(i) - 0.2;
      BatchOrder order(o.seed, o.samples, o.batch_size);
      for (const std::uint64_t step : {0u, 4u}) {  // 3 steps an epoch
        std::vector<std::vector<long double>> expected;
        for (const auto& tensor : w) expected.emplace_back(tensor.size(), 0.0L);
        long double loss = 0;
        for (const std::uint32_t i : order.indices(step))
          loss += recount.add_sample(i, w, expected, 1.0L / 20);
        CHECK(std::fabs(problem.loss_and_gradient(step, w, gradients) - loss) < 1e-14);
        for (std::size_t t = 0; t < w.size(); ++t)
          for (std::size_t i = 0; i < w[t].size(); ++i)
            CHECK(std::fabs(gradients[t][i] - expected[t][i]) < 1e-14);
      }
      std::vector<std::vector<long double>> unused;
      for (const auto& tensor : w) unused.emplace_back(tensor.size(), 0.0L);
      long double loss = 0;
      for (std::size_t i = 0; i < o.samples; ++i) loss += recount.add_sample(i, w, unused, 1.0L / 60);
      CHECK(std::fabs(problem.evaluate("train", 0, w).loss - loss) < 1e-14);
      CHECK_FALSE(problem.evaluate("train", 0, w).accuracy.has_value());
    }
}

TEST_CASE("teacher_student: gradient by five-point differences, tanh and relu, with and without biases") {
  for (const bool relu : {false, true})
    for (const bool biases : {false, true}) {
      CAPTURE(relu);
      CAPTURE(biases);
      TeacherStudentOptions o{4, 2, 3, 5, 24, 24, relu, biases, 0, 1};
      TeacherStudent<double> problem(o);
      // relu: no unit of these samples changes sides within 2h, so the loss is a polynomial there; the step is short
      // for that, and rounding grows to 2^-53 / h.
      const double h = relu ? 0x1p-20 : 0x1p-10;
      test::check_gradient(problem, problem.initial_weights(), h, relu ? 2e-9 : 2e-11);
    }
}

TEST_CASE("teacher_student: the teacher inside a wider student has loss exactly 0 and gradient 0") {
  for (const bool relu : {false, true})
    for (const std::size_t hidden : {8u, 9u, 40u}) {
      TeacherStudentOptions o;
      o.relu = relu;
      o.biases = true;
      o.hidden = hidden;
      TeacherStudent<float> in_float(o);
      TeacherStudent<double> problem(o);
      const TensorList<double> teacher = problem.teacher_as_student();
      CHECK(problem.evaluate("train", 0, teacher).loss == 0);
      TensorList<double> gradients;
      CHECK(problem.loss_and_gradient(3, teacher, gradients) == 0);
      for (const auto& tensor : gradients)
        for (const double g : tensor) CHECK(g == 0);
      CHECK(problem.evaluate("train", 0, problem.initial_weights()).loss > 0.01);
      CHECK(in_float.teacher_as_student() == teacher);
    }
}

TEST_CASE("teacher_student: the targets do not depend on the student's width or the run's seed") {
  TeacherStudentOptions o, wide;
  wide.hidden = 24;
  wide.seed = 4;
  TeacherStudent<double> narrow(o), other(wide);
  const TensorList<double> w = narrow.initial_weights();
  TensorList<double> padded{std::vector<double>(24 * 8, 0.0), std::vector<double>(2 * 24, 0.0)};
  std::copy(w[0].begin(), w[0].end(), padded[0].begin());
  for (std::size_t i = 0; i < w[1].size(); ++i) padded[1][i / 16 * 24 + i % 16] = w[1][i];
  CHECK(other.evaluate("train", 0, padded).loss == narrow.evaluate("train", 0, w).loss);
  o.seed = 4;
  TeacherStudent<double> reseeded(o);
  CHECK(reseeded.initial_weights() != w);
  CHECK(reseeded.evaluate("train", 0, w).loss == narrow.evaluate("train", 0, w).loss);
  o.data_seed = 1;
  CHECK(TeacherStudent<double>(o).evaluate("train", 0, w).loss != narrow.evaluate("train", 0, w).loss);
}

TEST_CASE("teacher_student: weights start with deviation sqrt(gain / row length), biases at 0") {
  for (const bool relu : {false, true}) {
    TeacherStudentOptions o;
    o.inputs = 50;
    o.hidden = 200;
    o.outputs = 20;
    o.relu = relu;
    o.biases = true;
    const TensorList<double> w = TeacherStudent<double>(o).initial_weights();
    const auto mean_square = [](const std::vector<double>& x) {
      double total = 0;
      for (const double value : x) total += value * value;
      return total / static_cast<double>(x.size());
    };
    // 10,000 and 4,000 elements: sd of a mean square sqrt(2 / n) = .014 and .022, 4 of them
    CHECK(std::fabs(mean_square(w[0]) * 50 / (relu ? 2 : 1) - 1) < 0.057);
    CHECK(std::fabs(mean_square(w[1]) * 200 - 1) < 0.089);
    CHECK(w[2] == std::vector<double>(200, 0.0));
    CHECK(w[3] == std::vector<double>(20, 0.0));
  }
}

TEST_CASE("teacher_student: gradient descent learns the teacher's answers") {
  TeacherStudent<double> problem({});
  TensorList<double> w = problem.initial_weights(), gradients;
  const double before = problem.evaluate("train", 0, w).loss;
  for (std::uint64_t step = 0; step < 1000; ++step) {
    problem.loss_and_gradient(step, w, gradients);
    for (std::size_t t = 0; t < w.size(); ++t)
      for (std::size_t i = 0; i < w[t].size(); ++i) w[t][i] -= 0.1 * gradients[t][i];
  }
  CHECK(problem.evaluate("train", 0, w).loss < before / 10);
}

}  // namespace
}  // namespace halfulp
