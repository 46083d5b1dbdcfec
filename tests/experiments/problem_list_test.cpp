// What every problem of the list promises, and what the list refuses.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

#include "experiments/problems/problems.h"
#include "formats/error.h"
#include "tests/experiments/five_point.h"

namespace halfulp {
namespace {

template <class R>
TensorList<R> rounded(const TensorList<double>& weights) {
  TensorList<R> out;
  for (const auto& tensor : weights) out.emplace_back(tensor.begin(), tensor.end());
  return out;
}

TensorList<double> widened(const TensorList<float>& weights) {
  TensorList<double> out;
  for (const auto& tensor : weights) out.emplace_back(tensor.begin(), tensor.end());
  return out;
}

std::string message_of(const std::string& name, const ProblemOptions& options) {
  try {
    make_problem<float>(name, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// The problem with its defaults, noise off, small, its mini-batch the whole data set.
ProblemOptions exact_and_small(const std::string& name) {
  ProblemOptions options;
  for (const auto& known : problem_settings(name)) options.settings[known.name] = known.value;
  for (const auto& [key, value] :
       std::map<std::string, double>{{"noise", 0}, {"size", 16}, {"samples", 64}, {"batch_size", 64}})
    if (options.settings.contains(key)) options.settings[key] = value;
  return options;
}

TEST_CASE("problems: every one builds from its name, is stationary at its optimum and knows only train") {
  std::set<std::string> with_optimum, without;
  for (const auto& entry : problem_list<double>()) {
    CAPTURE(entry.name);
    const ProblemOptions options = exact_and_small(entry.name);
    const auto problem = make_problem<double>(entry.name, options);
    const auto in_float = make_problem<float>(entry.name, options);
    const TensorList<double> start = problem->initial_weights();
    TensorList<double> gradients;
    const auto optimum = problem->optimum(0);
    (optimum ? with_optimum : without).insert(entry.name.substr(0, entry.name.find(':')));
    if (optimum) {
      CHECK(problem->loss_and_gradient(0, *optimum, gradients) == 0);
      for (const double g : gradients[0]) CHECK(g == 0);
    }
    CHECK(in_float->initial_weights() == start);
    CHECK(make_problem<double>(entry.name, options)->initial_weights() == start);
    std::size_t elements = 0;
    for (const auto& tensor : start) elements += tensor.size();
    CHECK(elements == problem->tensors().total_size());
    CHECK_NOTHROW(problem->evaluate("train", 0, start));
    CHECK_THROWS_AS(problem->evaluate("test", 0, start), Error);
    CHECK_THROWS_AS(problem->evaluate("train", 0, {}), Error);
    CHECK_THROWS_AS(problem->loss_and_gradient(0, {}, gradients), Error);
    CHECK_THROWS_AS(problem->loss_and_gradient(0, TensorList<double>(start.size()), gradients), Error);
  }
  CHECK(with_optimum == std::set<std::string>{"quadratic_1d", "ill_conditioned", "zero_initialized",
                                              "flipping_target", "rosenbrock"});
  CHECK(without == std::set<std::string>{"constant_gradient", "ema_step_response", "himmelblau",
                                         "logistic_regression", "teacher_student"});
}

TEST_CASE("problems: gradient and loss agree by five-point differences") {
  for (const auto& entry : problem_list<double>()) {
    CAPTURE(entry.name);
    const auto problem = make_problem<double>(entry.name, exact_and_small(entry.name));
    const TensorList<double> at = problem->initial_weights();
    // Exact for polynomials of degree 4 but for rounding: each loss is off by at most (n + 4) 2^-53 of itself, w + h
    // likewise, and the stencil's weights add to 1.5 / h. For the others h^4 / 30 times fifth derivatives below 100.
    const double h = 0x1p-10, loss = std::fabs(problem->evaluate("train", 0, at).loss);
    const bool polynomial = entry.name != "logistic_regression" && entry.name != "teacher_student";
    test::check_gradient(*problem, at, h, 36 * 0x1p-53 * (4 * loss + 1) / h + (polynomial ? 0 : 4e-12));
  }
}

TEST_CASE("problems: float and double differ by one rounding of loss and gradients") {
  for (const auto& entry : problem_list<double>()) {
    CAPTURE(entry.name);
    ProblemOptions options;
    options.seed = 3;
    const auto in_double = make_problem<double>(entry.name, options);
    const auto in_float = make_problem<float>(entry.name, options);
    const TensorList<float> at = rounded<float>(in_double->initial_weights());
    const TensorList<double> same = widened(at);
    for (const std::uint64_t step : {0u, 7u, 1999u}) {
      TensorList<float> gradients;
      TensorList<double> exact;
      CHECK(in_float->loss_and_gradient(step, at, gradients) ==
            static_cast<float>(in_double->loss_and_gradient(step, same, exact)));
      CHECK(gradients == rounded<float>(exact));
      CHECK(in_float->evaluate("train", step, at).loss == in_double->evaluate("train", step, same).loss);
    }
  }
}

TEST_CASE("problems: bad names and options are errors that list what is allowed") {
  const auto with = [](const std::string& key, double value) {
    ProblemOptions options;
    options.settings[key] = value;
    return options;
  };
  const auto says = [](const std::string& message, const std::string& part) {
    INFO(message);
    CHECK(message.find(part) != std::string::npos);
  };
  says(message_of("quadratic", {}), "quadratic_1d:-4->-3");
  says(message_of("quadratic_1d", with("stat", 1)), "given 'stat', allowed: start, target");
  says(message_of("quadratic_1d:4->3", with("start", 1)), "no settings");
  says(message_of("quadratic_1d", with("start", std::nan(""))), "finite");
  says(message_of("ill_conditioned", with("noise", -1)), "at least 0");
  says(message_of("ill_conditioned", with("size", 0)), "1..16777216");
  says(message_of("ill_conditioned", with("size", 2.5)), "integer");
  says(message_of("ill_conditioned", with("smallest_curvature", 0)), "positive");
  says(message_of("ill_conditioned", with("largest_target", -2)), "positive");
  says(message_of("zero_initialized", with("size", 1e9)), "1..16777216");
  says(message_of("zero_initialized", with("smallest_target", INFINITY)), "positive");
  says(message_of("constant_gradient", with("gradient", INFINITY)), "finite");
  says(message_of("constant_gradient", with("start", std::nan(""))), "finite");
  says(message_of("constant_gradient", with("size", 0)), "1..16777216");
  says(message_of("ema_step_response", with("first", INFINITY)), "finite");
  says(message_of("ema_step_response", with("second", -INFINITY)), "finite");
  says(message_of("rosenbrock", with("size", 3)), "even");
  says(message_of("rosenbrock", with("size", 0)), "1..16777216");
  says(message_of("rosenbrock", with("b", 0)), "positive");
  says(message_of("rosenbrock", with("a", INFINITY)), "finite");
  says(message_of("himmelblau", with("start_y", INFINITY)), "finite");
  says(message_of("himmelblau", with("size", 2)), "allowed: start_x, start_y");
  says(message_of("logistic_regression", with("features", 0)), "1..16777216");
  says(message_of("logistic_regression", with("samples", 1048577)), "1..1048576");
  says(message_of("logistic_regression", with("batch_size", 513)), "1..512");
  says(message_of("logistic_regression", with("label_noise", 0.6)), "0..0.5");
  says(message_of("logistic_regression", with("smallest_scale", 0)), "positive");
  says(message_of("logistic_regression", with("initial_deviation", -1)), "at least 0");
  says(message_of("teacher_student", with("teacher_hidden", 17)), "1..16");
  says(message_of("teacher_student", with("hidden", 0)), "1..2097152");
  says(message_of("teacher_student", with("inputs", 0)), "1..16777216");
  says(message_of("teacher_student", with("batch_size", 0)), "1..1024");
  says(message_of("teacher_student", with("relu", 2)), "0 or 1");
  says(message_of("teacher_student", with("data_seed", -1)), "integer");
  ProblemOptions short_run;
  short_run.steps = 1;
  says(message_of("flipping_target", short_run), "at least 2");
  says(message_of("ema_step_response", short_run), "at least 2");
}

}  // namespace
}  // namespace halfulp
