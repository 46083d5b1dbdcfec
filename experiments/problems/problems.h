#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiments/problems/problem_settings.h"
#include "experiments/task.h"

namespace halfulp {

struct ProblemOptions {
  std::uint64_t seed = 0;      ///< of start, noise and order of mini-batches, where a problem has them
  std::uint64_t steps = 2000;  ///< of the whole run, for problems that change on the way
  std::map<std::string, double>
      settings;  ///< named in the problem's Options; those left out keep their default
};

/// One toy problem by name.
template <class R>
struct ProblemEntry {
  std::string name;
  std::string summary;
  std::unique_ptr<Task<R>> (*make)(const std::string& name, const ProblemOptions&, ProblemSettings&);
};

/// Every toy problem: "quadratic_1d", its five cases "quadratic_1d:4->3" and so on, "ill_conditioned",
/// "zero_initialized", "flipping_target", "constant_gradient", "ema_step_response", "rosenbrock", "himmelblau",
/// "logistic_regression", "teacher_student".
template <class R>
std::vector<ProblemEntry<R>> problem_list();

/// Builds a problem of the list.
/// errors: Error on a name or a setting that is not known, or a setting out of range
template <class R>
std::unique_ptr<Task<R>> make_problem(const std::string& name, const ProblemOptions& options = {});

/// Returns the settings a problem knows, with their defaults.
/// errors: Error on an unknown name
std::vector<ProblemSettings::Known> problem_settings(const std::string& name);

extern template std::vector<ProblemEntry<float>> problem_list<float>();
extern template std::vector<ProblemEntry<double>> problem_list<double>();
extern template std::unique_ptr<Task<float>> make_problem<float>(const std::string&, const ProblemOptions&);
extern template std::unique_ptr<Task<double>> make_problem<double>(const std::string&, const ProblemOptions&);

}  // namespace halfulp
