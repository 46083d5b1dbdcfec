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
#include "formats/error.h"

namespace halfulp {

/// A function of the plane at a point, with its two partial derivatives.
struct PlaneValue {
  double value, d_x, d_y;
};

/// The objective sum over p of f(w_2p, w_2p+1) over one tensor "weight" [2 pairs]: copies of one function of the
/// plane that do not touch each other, all from the same start.
///
/// f and its derivatives are computed in double from the given weights (pairs added in index order); the loss and
/// each gradient element are then rounded once to R.
template <class R>
class PairwiseObjective : public Task<R> {
 public:
  const TensorRegistry& tensors() const override { return tensors_; }

  TensorList<double> initial_weights() const override { return repeated(start_x_, start_y_); }

  R loss_and_gradient(std::uint64_t, const TensorList<R>& weights, TensorList<R>& gradients) override {
    const FpEnvironment environment;
    check_shapes(name_, tensors_, weights);
    resize_like(tensors_, gradients);
    double total = 0;
    for (std::size_t i = 0; i < weights[0].size(); i += 2) {
      const PlaneValue f = at_pair(weights[0], i);
      total += f.value;
      gradients[0][i] = static_cast<R>(f.d_x);
      gradients[0][i + 1] = static_cast<R>(f.d_y);
    }
    return static_cast<R>(total);
  }

  Evaluation evaluate(const std::string& split, std::uint64_t, const TensorList<R>& weights) override {
    const FpEnvironment environment;
    check_toy_split(name_, split);
    check_shapes(name_, tensors_, weights);
    double total = 0;
    for (std::size_t i = 0; i < weights[0].size(); i += 2) total += at_pair(weights[0], i).value;
    return {total, std::nullopt};
  }

 protected:
  /// errors: Error on an odd size, a size of 0, or a start that is not finite
  PairwiseObjective(std::string name, std::size_t size, double start_x, double start_y)
      : name_(std::move(name)), start_x_(start_x), start_y_(start_y) {
    check_finite(name_ + ", start_x", start_x);
    check_finite(name_ + ", start_y", start_y);
    if (size % 2 != 0)
      throw Error(name_ + ", size", "coordinates come in pairs", std::to_string(size), "an even number");
    tensors_.add("weight", {checked_size(name_, size)});
  }

  virtual PlaneValue at(double x, double y) const = 0;

  TensorList<double> repeated(double x, double y) const {
    TensorList<double> all{std::vector<double>(tensors_.total_size(), x)};
    for (std::size_t i = 1; i < all[0].size(); i += 2) all[0][i] = y;
    return all;
  }

 private:
  PlaneValue at_pair(const std::vector<R>& w, std::size_t i) const {
    return at(static_cast<double>(w[i]), static_cast<double>(w[i + 1]));
  }

  std::string name_;
  double start_x_, start_y_;
  TensorRegistry tensors_;
};

}  // namespace halfulp
