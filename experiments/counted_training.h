#pragma once
#include <nlohmann/json.hpp>

#include "analysis/dwell.h"
#include "analysis/harmful_stagnation.h"
#include "analysis/per_tensor_counters.h"
#include "experiments/run_config.h"
#include "experiments/run_trace.h"

namespace halfulp {

/// A record lists weights one by one only where a person could follow them.
inline constexpr std::size_t followed_weights = 4;

/// Called now and then with the number of finished steps.
using StepProgress = std::function<void(std::uint64_t steps)>;

/// The steps of one run, with counters over all measured steps and over those of the last tenth, each tensor apart, and
/// whatever else the config asks for.
template <class R>
class CountedTraining {
 public:
  /// task, config and pool are not owned.
  CountedTraining(Task<R>& task, const RunConfig& config, ThreadPool* pool);

  /// The first step whose loss or weights are not finite; nullopt if none was.
  std::optional<std::uint64_t> train(const StepProgress& progress);

  nlohmann::ordered_json measurements() const;
  nlohmann::ordered_json trace() const { return trace_.to_json(); }
  Training<R>& training() { return training_; }
  const std::vector<double>& start() const { return start_; }

 private:
  /// How often a step had to lower the loss, and did.
  struct Descent {
    std::uint64_t steps = 0, guaranteed = 0, condition_holds = 0, decreased = 0, guaranteed_yet_risen = 0;
  };

  double step(std::uint64_t t, bool measure);
  void count(std::uint64_t t, PerTensorCounters& counted);
  void follow(std::uint64_t t, double loss);
  void check_descent(std::uint64_t t, const std::vector<double>& before);
  nlohmann::ordered_json twin_to_json() const;

  Task<R>& task_;
  const RunConfig& config_;
  Training<R> training_;
  std::vector<double> start_;
  PerTensorCounters all_, last_;
  CounterProbe all_together_, last_together_, since_row_;
  std::optional<DwellProbe> dwell_;
  std::optional<HarmfulStagnationProbe> harmful_;
  Descent descent_;
  std::vector<double> gradient_variance_;  // of each tensor in the last step that had several micro-gradients
  std::uint64_t changed_steps_ = 0, rows_measured_ = 0, last_measured_ = 0;
  RunTrace trace_;
};

extern template class CountedTraining<float>;
extern template class CountedTraining<double>;

}  // namespace halfulp
