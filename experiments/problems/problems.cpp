#include "experiments/problems/problems.h"

#include "experiments/problems/constant_gradient.h"
#include "experiments/problems/ema_step_response.h"
#include "experiments/problems/flipping_target.h"
#include "experiments/problems/himmelblau.h"
#include "experiments/problems/ill_conditioned.h"
#include "experiments/problems/logistic_regression.h"
#include "experiments/problems/quadratic_1d.h"
#include "experiments/problems/rosenbrock.h"
#include "experiments/problems/teacher_student.h"
#include "experiments/problems/zero_initialized.h"
#include "formats/error.h"

namespace halfulp {
namespace {

constexpr const char* case_prefix = "quadratic_1d:";

template <class R>
using Made = std::unique_ptr<Task<R>>;

template <class R>
Made<R> make_quadratic_1d(const std::string&, const ProblemOptions&, ProblemSettings& settings) {
  Quadratic1dOptions o;
  o.start = settings.number("start", o.start);
  o.target = settings.number("target", o.target);
  settings.check_all_known();
  return std::make_unique<Quadratic1d<R>>(o);
}

template <class R>
Made<R> make_quadratic_1d_case(const std::string& name, const ProblemOptions&, ProblemSettings& settings) {
  settings.check_all_known();
  for (const Quadratic1dCase& one : quadratic_1d_cases)
    if (case_prefix + std::string(one.name) == name) return std::make_unique<Quadratic1d<R>>(one.options);
  throw Error("problem", "no such case", name, "a case of quadratic_1d_cases");
}

template <class R>
Made<R> make_ill_conditioned(const std::string&, const ProblemOptions& options, ProblemSettings& settings) {
  IllConditionedOptions o;
  o.size = settings.count("size", o.size);
  o.smallest_curvature = settings.number("smallest_curvature", o.smallest_curvature);
  o.largest_curvature = settings.number("largest_curvature", o.largest_curvature);
  o.smallest_target = settings.number("smallest_target", o.smallest_target);
  o.largest_target = settings.number("largest_target", o.largest_target);
  o.noise = settings.number("noise", o.noise);
  o.seed = options.seed;
  settings.check_all_known();
  return std::make_unique<IllConditioned<R>>(o);
}

template <class R>
Made<R> make_zero_initialized(const std::string&, const ProblemOptions&, ProblemSettings& settings) {
  ZeroInitializedOptions o;
  o.size = settings.count("size", o.size);
  o.smallest_target = settings.number("smallest_target", o.smallest_target);
  o.largest_target = settings.number("largest_target", o.largest_target);
  settings.check_all_known();
  return std::make_unique<ZeroInitialized<R>>(o);
}

template <class R>
Made<R> make_flipping_target(const std::string&, const ProblemOptions& options, ProblemSettings& settings) {
  FlippingTargetOptions o;
  o.size = settings.count("size", o.size);
  o.smallest_target = settings.number("smallest_target", o.smallest_target);
  o.largest_target = settings.number("largest_target", o.largest_target);
  o.steps = options.steps;
  settings.check_all_known();
  return std::make_unique<FlippingTarget<R>>(o);
}

template <class R>
Made<R> make_constant_gradient(const std::string&, const ProblemOptions&, ProblemSettings& settings) {
  ConstantGradientOptions o;
  o.size = settings.count("size", o.size);
  o.start = settings.number("start", o.start);
  o.gradient = settings.number("gradient", o.gradient);
  settings.check_all_known();
  return std::make_unique<ConstantGradient<R>>(o);
}

template <class R>
Made<R> make_ema_step_response(const std::string&, const ProblemOptions& options, ProblemSettings& settings) {
  EmaStepResponseOptions o;
  o.size = settings.count("size", o.size);
  o.start = settings.number("start", o.start);
  o.first = settings.number("first", o.first);
  o.second = settings.number("second", o.second);
  o.steps = options.steps;
  settings.check_all_known();
  return std::make_unique<EmaStepResponse<R>>(o);
}

template <class R>
Made<R> make_rosenbrock(const std::string&, const ProblemOptions&, ProblemSettings& settings) {
  RosenbrockOptions o;
  o.size = settings.count("size", o.size);
  o.a = settings.number("a", o.a);
  o.b = settings.number("b", o.b);
  o.start_x = settings.number("start_x", o.start_x);
  o.start_y = settings.number("start_y", o.start_y);
  settings.check_all_known();
  return std::make_unique<Rosenbrock<R>>(o);
}

template <class R>
Made<R> make_himmelblau(const std::string&, const ProblemOptions&, ProblemSettings& settings) {
  HimmelblauOptions o;
  o.start_x = settings.number("start_x", o.start_x);
  o.start_y = settings.number("start_y", o.start_y);
  settings.check_all_known();
  return std::make_unique<Himmelblau<R>>(o);
}

template <class R>
Made<R> make_logistic_regression(const std::string&, const ProblemOptions& options,
                                 ProblemSettings& settings) {
  LogisticRegressionOptions o;
  o.samples = settings.count("samples", o.samples);
  o.features = settings.count("features", o.features);
  o.batch_size = settings.count("batch_size", o.batch_size);
  o.label_noise = settings.number("label_noise", o.label_noise);
  o.smallest_scale = settings.number("smallest_scale", o.smallest_scale);
  o.largest_scale = settings.number("largest_scale", o.largest_scale);
  o.initial_deviation = settings.number("initial_deviation", o.initial_deviation);
  o.data_seed = settings.count("data_seed", o.data_seed);
  o.seed = options.seed;
  settings.check_all_known();
  return std::make_unique<LogisticRegression<R>>(o);
}

template <class R>
Made<R> make_teacher_student(const std::string&, const ProblemOptions& options, ProblemSettings& settings) {
  TeacherStudentOptions o;
  o.inputs = settings.count("inputs", o.inputs);
  o.outputs = settings.count("outputs", o.outputs);
  o.teacher_hidden = settings.count("teacher_hidden", o.teacher_hidden);
  o.hidden = settings.count("hidden", o.hidden);
  o.samples = settings.count("samples", o.samples);
  o.batch_size = settings.count("batch_size", o.batch_size);
  o.relu = settings.yes_or_no("relu", o.relu);
  o.biases = settings.yes_or_no("biases", o.biases);
  o.data_seed = settings.count("data_seed", o.data_seed);
  o.seed = options.seed;
  settings.check_all_known();
  return std::make_unique<TeacherStudent<R>>(o);
}

template <class R>
ProblemEntry<R> find_problem(const std::string& name) {
  std::string known;
  for (const ProblemEntry<R>& entry : problem_list<R>()) {
    if (entry.name == name) return entry;
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  throw Error("problem", "unknown name", name, known);
}

}  // namespace

template <class R>
std::vector<ProblemEntry<R>> problem_list() {
  std::vector<ProblemEntry<R>> list;
  list.push_back({"quadratic_1d", "one weight, loss (w - target)^2 / 2", make_quadratic_1d<R>});
  for (const Quadratic1dCase& one : quadratic_1d_cases)
    list.push_back(
        {case_prefix + std::string(one.name), "one weight from start to target", make_quadratic_1d_case<R>});
  list.push_back({"ill_conditioned", "curvatures and optimal magnitudes over decades, label noise",
                  make_ill_conditioned<R>});
  list.push_back({"zero_initialized", "from exactly 0 to targets over decades", make_zero_initialized<R>});
  list.push_back({"flipping_target", "targets that change sign half way", make_flipping_target<R>});
  list.push_back({"constant_gradient", "an accumulator: the same gradient in every step, 1 + k d",
                  make_constant_gradient<R>});
  list.push_back({"ema_step_response", "a noise-free gradient that jumps half way, for moments to follow",
                  make_ema_step_response<R>});
  list.push_back({"rosenbrock", "curved valleys, one for each pair of weights", make_rosenbrock<R>});
  list.push_back({"himmelblau", "two weights, four minima, one in each quadrant", make_himmelblau<R>});
  list.push_back({"logistic_regression", "two synthetic classes with flipped labels, mini-batches",
                  make_logistic_regression<R>});
  list.push_back({"teacher_student", "a two-layer network learns what another says, mini-batches",
                  make_teacher_student<R>});
  return list;
}

template <class R>
std::unique_ptr<Task<R>> make_problem(const std::string& name, const ProblemOptions& options) {
  ProblemSettings settings("problem " + name, options.settings);
  return find_problem<R>(name).make(name, options, settings);
}

std::vector<ProblemSettings::Known> problem_settings(const std::string& name) {
  ProblemSettings settings("problem " + name, {});
  find_problem<double>(name).make(name, {}, settings);
  return settings.known();
}

template std::vector<ProblemEntry<float>> problem_list<float>();
template std::vector<ProblemEntry<double>> problem_list<double>();
template std::unique_ptr<Task<float>> make_problem<float>(const std::string&, const ProblemOptions&);
template std::unique_ptr<Task<double>> make_problem<double>(const std::string&, const ProblemOptions&);

}  // namespace halfulp
