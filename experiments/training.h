#pragma once
#include <cmath>

#include "emulation/reduce.h"
#include "experiments/run_config.h"
#include "optimizers/step.h"

namespace halfulp {

/// One rule at work on one task: the tensors as stored, and the loop of view, gradient, step.
template <class Rule, class R>
class Training {
 public:
  /// task and pool are not owned. seed: of rounding and sampling.
  Training(Task<R>& task, const typename Rule::Config& config, const Plan& plan, std::uint64_t seed,
           ThreadPool* pool)
      : task_(task), config_(config), seed_(seed), pool_(pool) {
    const TensorList<double> initial = task.initial_weights();
    for (const TensorInfo& info : task.tensors().tensors())
      tensors_.emplace_back(info, plan.of(info), std::span<const double>(initial[info.id]));
    gradients_.resize(tensors_.size());
    views_.resize(tensors_.size());
    seen_.resize(tensors_.size());
  }

  /// One step t = 1, 2, ...: the gradient at the view (mean over the samples), then the update of every
  /// tensor.
  /// out: the loss of the mini-batch before the step (mean over the samples).
  template <class P>
  double step(std::uint64_t t, double schedule, P& probe) {
    const StepInfo now{t, schedule, seed_};
    const int samples = Rule::samples(config_);
    for (auto& slots : gradients_)
      for (auto& gradient : slots) gradient.clear();
    double loss = 0;
    for (int sample = 0; sample < std::max(samples, 1); ++sample) {
      const int noise = samples == 0 ? -1 : sample;
      look(now, noise);
      const R share = R(1) / static_cast<R>(std::max(samples, 1));
      loss += static_cast<double>(task_.loss_and_gradient(t - 1, seen_, derivative_)) *
              static_cast<double>(share);
      for (std::size_t i = 0; i < tensors_.size(); ++i)
        tensors_[i].pull_back(views_[i], std::span<const R>(derivative_[i]), share, gradients_[i]);
    }
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      tensors_[i].step(config_, now, gradients_[i], pool_, probe);
    return loss;
  }

  /// The weights without noise: what a trained model is judged by.
  const TensorList<R>& weights() {
    look({1, 1, seed_}, -1);
    return seen_;
  }

  /// FNV-1a over every stored byte, in a fixed order.
  std::uint64_t hash() const {
    std::uint64_t hash = 0xcbf29ce484222325u;
    const auto add = [&](const std::uint8_t* bytes, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    };
    for (const auto& tensor : tensors_) {
      for (std::size_t slot = 0; slot < tensor.weight_count; ++slot) tensor.weight(slot).visit_bytes(add);
      for (std::size_t slot = 0; slot < tensor.state_count; ++slot) tensor.state(slot).visit_bytes(add);
    }
    return hash;
  }

 private:
  void look(const StepInfo& now, int noise) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      views_[i] = tensors_[i].look(config_, now, noise);
      seen_[i] = std::move(views_[i].weights);
    }
  }

  Task<R>& task_;
  typename Rule::Config config_;
  std::uint64_t seed_;
  ThreadPool* pool_;
  std::vector<OptimizedTensor<Rule, R>> tensors_;
  std::vector<std::array<std::vector<R>, OptimizedTensor<Rule, R>::weight_count>> gradients_;
  std::vector<typename OptimizedTensor<Rule, R>::View> views_;
  TensorList<R> seen_, derivative_;
};

/// All tensors one after the other, in double.
template <class R>
std::vector<double> flatten(const TensorList<R>& tensors) {
  std::vector<double> all;
  for (const auto& tensor : tensors) all.insert(all.end(), tensor.begin(), tensor.end());
  return all;
}

}  // namespace halfulp
