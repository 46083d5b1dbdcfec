#include "experiments/problems/problems.h"

#include "experiments/problems/flipping_target.h"
#include "experiments/problems/ill_conditioned.h"
#include "experiments/problems/quadratic_1d.h"
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
