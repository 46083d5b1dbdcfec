#pragma once
#include <functional>
#include <future>
#include <nlohmann/json.hpp>

#include "experiments/counted_training.h"

namespace halfulp {

/// What runs of one process share: data, and the twins that signs are compared with, each trained once.
class SharedWork {
 public:
  DataSets& data() { return data_; }

  /// Loads what the run needs and checks what only the task can check, before anything is written.
  /// errors: throws Error on missing data, or an override that matches no tensor.
  void prepare(const RunConfig& config);

  /// Final weights of the fp32 AdamW twin of this run (on its own data order, or on another one), from the
  /// first caller who needs it; the others wait.
  std::vector<double> twin_weights(const RunConfig& config, bool other_data_order);

 private:
  DataSets data_;
  std::mutex mutex_;
  std::map<std::string, std::shared_future<std::vector<double>>> twins_;
};

/// Trains once and returns the record: key, version, commit, config, status, results, measurements, trace,
/// hash of all stored bytes. Same config, same bytes, whatever the pool. Divergence is a result: status
/// "diverged" with the step.
/// errors: throws Error on missing data.
nlohmann::ordered_json run(const RunConfig& config, SharedWork& shared, ThreadPool* pool,
                           const StepProgress& progress);

/// Raised whenever any bit of any result could change: records of other versions are not reused.
inline constexpr int bits_version = 1;

/// Key of a config: 16 hex digits of FNV-1a over bits version and config.
std::string record_key(const RunConfig& config);

}  // namespace halfulp
