#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulation/parallel.h"
#include "experiments/data/image_dataset.h"
#include "experiments/task.h"

namespace halfulp {

/// What to minimise.
struct ProblemConfig {
  std::string name;                        ///< fashion_mlp or a toy problem
  std::map<std::string, double> settings;  ///< every setting of the problem, defaults included
  std::string data_set;                    ///< folder of the data files; empty for toy problems
};

/// Data sets that several runs share, each loaded once. Safe to use from several threads.
class DataSets {
 public:
  /// errors: throws Error if a file is missing or damaged.
  std::shared_ptr<const ImageDataset> fashion_mnist(const std::string& folder);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const ImageDataset>> loaded_;
};

/// A task with the splits it can be evaluated on; the last is what a model is finally judged by.
template <class R>
struct NamedTask {
  std::unique_ptr<Task<R>> task;
  std::vector<std::string> splits;
};

/// Names of all problems and models.
std::vector<std::string> task_names();

/// Every setting that a problem knows, with its default.
/// errors: throws Error on an unknown name.
std::map<std::string, double> default_settings(const std::string& problem);

/// seed: of initial weights, data order and noise. data_seed_shift: added to the seed of the data order
/// alone.
/// errors: throws Error on an unknown name or setting, or missing data.
template <class R>
NamedTask<R> make_task(const ProblemConfig& problem, std::uint64_t steps, std::uint64_t seed,
                       std::uint64_t data_seed_shift, DataSets& data, ThreadPool* pool);

extern template NamedTask<float> make_task(const ProblemConfig&, std::uint64_t, std::uint64_t, std::uint64_t,
                                           DataSets&, ThreadPool*);
extern template NamedTask<double> make_task(const ProblemConfig&, std::uint64_t, std::uint64_t, std::uint64_t,
                                            DataSets&, ThreadPool*);

}  // namespace halfulp
