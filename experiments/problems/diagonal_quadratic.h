#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulation/fp_environment.h"
#include "experiments/problems/task_checks.h"
#include "experiments/task.h"

namespace halfulp {

/// The objective sum_i h_i (w_i - w*_i)^2 / 2 over one tensor "weight" [n], which the toy problems are made
/// of; h is constant, a derived problem may move w* between steps and add noise to the gradient.
///
/// Loss and gradient are computed in double from the given weights (terms added in index order); the loss and
/// each gradient element are then rounded once to R.
template <class R>
class DiagonalQuadratic : public Task<R> {
 public:
  const TensorRegistry& tensors() const override { return tensors_; }

  R loss_and_gradient(std::uint64_t step, const TensorList<R>& weights, TensorList<R>& gradients) override {
    const FpEnvironment environment;
    check_shapes(name_, tensors_, weights);
    resize_like(tensors_, gradients);
    for (std::size_t i = 0; i < curvature_.size(); ++i) {
      const double distance = static_cast<double>(weights[0][i]) - target(step, i);
      gradients[0][i] = static_cast<R>(curvature_[i] * distance + gradient_noise(step, i));
    }
    return static_cast<R>(loss(step, weights));
  }

  Evaluation evaluate(const std::string& split, std::uint64_t step, const TensorList<R>& weights) override {
    const FpEnvironment environment;
    check_toy_split(name_, split);
    check_shapes(name_, tensors_, weights);
    return {loss(step, weights), std::nullopt};
  }

  std::optional<TensorList<double>> optimum(std::uint64_t step) const override {
    TensorList<double> targets(1);
    for (std::size_t i = 0; i < curvature_.size(); ++i) targets[0].push_back(target(step, i));
    return targets;
  }

  /// The largest curvature, exact: the gradient of one coordinate does not depend on the others.
  std::optional<double> smoothness() const override {
    return *std::max_element(curvature_.begin(), curvature_.end());
  }

 protected:
  /// curvature: at least one, none negative
  DiagonalQuadratic(std::string name, std::vector<double> curvature)
      : name_(std::move(name)), curvature_(std::move(curvature)) {
    // A row, not a vector: recipes that leave vectors in bf16 mean biases, not the weights of a problem.
    tensors_.add("weight", curvature_.size() == 1 ? std::vector<std::size_t>{1} : std::vector{std::size_t{1}, curvature_.size()});
  }

  /// w*_i at this step.
  virtual double target(std::uint64_t step, std::size_t element) const = 0;
  /// What a noisy gradient adds at this step; zero mean. The reported loss never includes it.
  virtual double gradient_noise(std::uint64_t, std::size_t) const { return 0; }

  double curvature(std::size_t element) const { return curvature_[element]; }

 private:
  double loss(std::uint64_t step, const TensorList<R>& weights) const {
    double total = 0;
    for (std::size_t i = 0; i < curvature_.size(); ++i) {
      const double distance = static_cast<double>(weights[0][i]) - target(step, i);
      total += curvature_[i] * distance * distance / 2;
    }
    return total;
  }

  std::string name_;
  std::vector<double> curvature_;
  TensorRegistry tensors_;
};

}  // namespace halfulp
