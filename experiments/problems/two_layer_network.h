#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "emulation/registry.h"

namespace halfulp {

struct TwoLayerShape {
  std::size_t inputs, hidden, outputs;
  bool relu;    ///< max(0, x) instead of tanh
  bool biases;  ///< one for each hidden unit and each output
};

/// "hidden.weight" [hidden, inputs], "output.weight" [outputs, hidden] and, with biases, "hidden.bias" [hidden] and
/// "output.bias" [outputs].
TensorRegistry two_layer_tensors(const TwoLayerShape& shape);

/// y = output act(hidden x + hidden.bias) + output.bias, in double, judged by half the squared error.
///
/// Every product is a matmul with a stated order and every sum a fixed-order reduction, so the bits depend on no
/// machine, and a sample's outputs not on its batch. Arrays are kept unit by sample ([units, batch]). Gradients, for
/// the residual E = (Y - T) / batch, H = hidden X' + hidden.bias, A = act(H):
///   d output = E A',   d output.bias = row sums of E,   d A = output' E,   d H = d A act'(H),
///   d hidden = d H X,  d hidden.bias = row sums of d H
/// with tanh' = (1 - A) (1 + A), and relu' = 1 where H > 0 else 0; relu keeps a NaN.
class TwoLayerNetwork {
 public:
  using Weights =
      std::vector<std::vector<double>>;  ///< one buffer a tensor, in the order of two_layer_tensors

  explicit TwoLayerNetwork(const TwoLayerShape& shape) : shape_(shape) {}

  /// Computes the outputs of a batch.
  /// in:  inputs [batch, inputs] row-major
  /// out: [outputs, batch] row-major, valid until the next call
  std::span<const double> outputs(const Weights& weights, std::span<const double> inputs);

  /// Returns the mean over the batch of |y - target|^2 / 2.
  /// in: targets [outputs, batch], the layout of outputs()
  double loss(const Weights& weights, std::span<const double> inputs, std::span<const double> targets);

  /// The same, and overwrites `gradients` with the gradient.
  double loss_and_gradient(const Weights& weights, std::span<const double> inputs,
                           std::span<const double> targets, Weights& gradients);

 private:
  TwoLayerShape shape_;
  // Kept between calls, so that a training run allocates once. residuals_: y - target, then over the batch.
  std::vector<double> inputs_by_unit_, activations_, outputs_, residuals_, activations_by_sample_,
      output_transposed_, activation_gradients_;
};

}  // namespace halfulp
