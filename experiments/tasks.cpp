#include "experiments/tasks.h"

#include "experiments/data/fashion_mnist.h"
#include "experiments/models/fashion_mlp.h"
#include "experiments/problems/problems.h"
#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {
namespace {

constexpr const char* fashion_mlp = "fashion_mlp";

}  // namespace

std::shared_ptr<const ImageDataset> DataSets::fashion_mnist(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  auto& data = loaded_[folder];
  if (!data) data = load_fashion_mnist(folder);
  return data;
}

std::vector<std::string> task_names() {
  std::vector<std::string> names{fashion_mlp};
  for (const auto& entry : problem_list<double>()) names.push_back(entry.name);
  return names;
}

std::map<std::string, double> default_settings(const std::string& problem) {
  const FashionMlpOptions mlp;
  if (problem == fashion_mlp)
    return {{"batch_size", static_cast<double>(mlp.batch_size)}, {"hidden", static_cast<double>(mlp.hidden)}};
  const std::vector<std::string> names = task_names();
  if (std::find(names.begin(), names.end(), problem) == names.end())
    throw Error("problem", "no such problem (nearest is " + nearest_name(problem, names) + ")", problem, name_list(names));
  std::map<std::string, double> settings;
  for (const auto& known : problem_settings(problem)) settings[known.name] = known.value;
  return settings;
}

template <class R>
NamedTask<R> make_task(const ProblemConfig& problem, std::uint64_t steps, std::uint64_t seed,
                       std::uint64_t data_seed_shift, DataSets& data, ThreadPool* pool) {
  if (problem.name != fashion_mlp)
    return {make_problem<R>(problem.name, {seed, steps, problem.settings}), {"train"}};
  FashionMlpOptions options;
  options.initialization_seed = seed;
  options.data_seed = seed + data_seed_shift;
  options.batch_size = static_cast<std::size_t>(problem.settings.at("batch_size"));
  options.hidden = static_cast<std::size_t>(problem.settings.at("hidden"));
  return {std::make_unique<FashionMlp<R>>(data.fashion_mnist(problem.data_set), options, pool),
          {"train", "validation", "test"}};
}

template NamedTask<float> make_task(const ProblemConfig&, std::uint64_t, std::uint64_t, std::uint64_t,
                                    DataSets&, ThreadPool*);
template NamedTask<double> make_task(const ProblemConfig&, std::uint64_t, std::uint64_t, std::uint64_t,
                                     DataSets&, ThreadPool*);

}  // namespace halfulp
