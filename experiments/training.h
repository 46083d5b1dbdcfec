#pragma once
#include <cmath>
#include <functional>
#include <memory>

#include "experiments/rule_config.h"
#include "experiments/task.h"
#include "optimizers/gradient_clipping.h"
#include "optimizers/tensor_optimizer.h"

namespace halfulp {

/// What a training needs to know besides its task.
struct TrainingSetup {
  AnyRule rule;
  std::vector<RuleOverride> rule_overrides{};
  Plan plan;
  std::uint64_t seed = 0;           ///< of rounding and sampling
  std::uint64_t micro_batches = 1;  ///< whose gradients are added up for one step; 1..256 with the samples of each
  GradientClipping clipping{};
  double rate_reference = 0;  ///< of rate_factor(); 0: learning rates are not scaled
  bool twin = false;          ///< whether a double twin runs beside, on the same gradients
};

/// Called with the derivative of one tensor at the view of one micro-batch and sample.
template <class R>
using SeeDerivative = std::function<void(std::uint32_t tensor, std::span<const R> derivative)>;

/// One rule at work on one task: the tensors as stored, and the loop of view, gradient, step.
template <class R>
class Training {
 public:
  /// task and pool are not owned.
  Training(Task<R>& task, const TrainingSetup& setup, ThreadPool* pool);

  /// One step t = 1, 2, ...: the gradient at the view (mean over micro-batches and samples), then the update of every
  /// tensor. additive, multiplicative: what multiplies the learning rates. probe, see: may be null.
  /// out: the loss before the step (mean over micro-batches and samples).
  double step(std::uint64_t t, double additive, double multiplicative, StepProbe<R>* probe,
              const SeeDerivative<R>& see = nullptr);
  double step(std::uint64_t t, double schedule, StepProbe<R>* probe = nullptr) {
    return step(t, schedule, schedule, probe);
  }

  /// The weights without noise: what a trained model is judged by.
  const TensorList<R>& weights();
  /// The same of the twin.
  /// in: setup.twin
  TensorList<double> twin_weights() const;

  const std::vector<std::unique_ptr<TensorOptimizer<R>>>& tensors() const { return tensors_; }
  const std::vector<std::unique_ptr<TensorOptimizer<double>>>& twins() const { return twins_; }
  /// The derivative of the last micro-batch, by tensor.
  const TensorList<R>& derivative() const { return derivative_; }

  /// FNV-1a over every stored byte, in a fixed order.
  std::uint64_t hash() const;

 private:
  void look(const StepInfo& now, int noise);
  /// All gradients together, by their global norm.
  void clip(std::uint64_t step);

  Task<R>& task_;
  TrainingSetup setup_;
  ThreadPool* pool_;
  std::vector<std::unique_ptr<TensorOptimizer<R>>> tensors_;
  std::vector<std::unique_ptr<TensorOptimizer<double>>> twins_;
  std::vector<typename TensorOptimizer<R>::Gradients> gradients_;
  std::vector<std::unique_ptr<typename TensorOptimizer<R>::View>> views_;
  TensorList<R> seen_, derivative_;
};

extern template class Training<float>;
extern template class Training<double>;

/// All tensors one after the other, in double.
template <class R>
std::vector<double> flatten(const TensorList<R>& tensors) {
  std::vector<double> all;
  for (const auto& tensor : tensors) all.insert(all.end(), tensor.begin(), tensor.end());
  return all;
}

}  // namespace halfulp
