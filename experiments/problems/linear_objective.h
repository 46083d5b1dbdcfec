#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulation/fp_environment.h"
#include "experiments/problems/log_spaced.h"
#include "experiments/problems/task_checks.h"
#include "experiments/task.h"

namespace halfulp {

/// The objective g(t) sum_i w_i over one tensor "weight" [n]: every element has the gradient g(t), whatever the
/// weights are. A derived problem says how g moves with the step. Elements differ only by the random bits they are
/// rounded with, so n of them are n runs under stochastic rounding and n copies of one run otherwise.
///
/// The loss is computed in double (weights added in index order) and rounded once to R, as is g. It has no
/// minimiser.
template <class R>
class LinearObjective : public Task<R> {
 public:
  const TensorRegistry& tensors() const override { return tensors_; }

  TensorList<double> initial_weights() const override {
    return {std::vector<double>(tensors_.total_size(), start_)};
  }

  R loss_and_gradient(std::uint64_t step, const TensorList<R>& weights, TensorList<R>& gradients) override {
    const FpEnvironment environment;
    check_shapes(name_, tensors_, weights);
    gradients.assign(1, std::vector<R>(tensors_.total_size(), static_cast<R>(gradient(step))));
    return static_cast<R>(loss(step, weights));
  }

  Evaluation evaluate(const std::string& split, std::uint64_t step, const TensorList<R>& weights) override {
    const FpEnvironment environment;
    check_toy_split(name_, split);
    check_shapes(name_, tensors_, weights);
    return {loss(step, weights), std::nullopt};
  }

  std::optional<double> smoothness() const override { return 0.0; }

 protected:
  /// errors: Error on a size of 0 or a start that is not finite
  LinearObjective(std::string name, std::size_t size, double start) : name_(std::move(name)), start_(start) {
    check_finite("start", start);
    tensors_.add("weight", {checked_size(name_, size)});
  }

  /// g at this step.
  virtual double gradient(std::uint64_t step) const = 0;

  /// errors: Error, naming the problem's setting, unless the value is finite
  void check_finite(const char* setting, double value) const {
    halfulp::check_finite(name_ + ", " + setting, value);
  }

 private:
  double loss(std::uint64_t step, const TensorList<R>& weights) const {
    double total = 0;
    for (const R weight : weights[0]) total += static_cast<double>(weight);
    return gradient(step) * total;
  }

  std::string name_;
  double start_;
  TensorRegistry tensors_;
};

}  // namespace halfulp
