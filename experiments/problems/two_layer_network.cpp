#include "experiments/problems/two_layer_network.h"

#include "emulation/elementary.h"
#include "emulation/fp_environment.h"
#include "emulation/matmul.h"
#include "emulation/reduce.h"

namespace halfulp {
namespace {

/// Positions in two_layer_tensors.
enum Tensor : std::size_t { hidden_weight, output_weight, hidden_bias, output_bias };

/// Sign of x times q / (2 - q) for q = 1 - e^(-2 |x|): the exponential never overflows, and q keeps its digits where
/// it is small.
double tanh_of(double x) noexcept {
  const double q = -elementary::expm1<double>(-2 * (x < 0 ? -x : x));
  const double magnitude = q / (2 - q);
  return x < 0 ? -magnitude : magnitude;
}

void add_to_rows(std::span<const double> bias, std::span<double> rows) noexcept {
  const std::size_t length = rows.size() / bias.size();
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += bias[i / length];
}

void sum_rows(std::span<const double> rows, std::span<double> sums) noexcept {
  const std::size_t length = rows.size() / sums.size();
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sum(rows.subspan(i * length, length));
}

}  // namespace

TensorRegistry two_layer_tensors(const TwoLayerShape& shape) {
  TensorRegistry tensors;
  tensors.add("hidden.weight", {shape.hidden, shape.inputs});
  tensors.add("output.weight", {shape.outputs, shape.hidden});
  if (shape.biases) {
    tensors.add("hidden.bias", {shape.hidden});
    tensors.add("output.bias", {shape.outputs});
  }
  return tensors;
}

std::span<const double> TwoLayerNetwork::outputs(const Weights& weights, std::span<const double> inputs) {
  const FpEnvironment environment;
  const std::size_t batch = inputs.size() / shape_.inputs;
  inputs_by_unit_.resize(inputs.size());
  activations_.resize(shape_.hidden * batch);
  outputs_.resize(shape_.outputs * batch);
  transpose(inputs.data(), inputs_by_unit_.data(), batch, shape_.inputs);
  matmul(weights[hidden_weight].data(), inputs_by_unit_.data(), activations_.data(), shape_.hidden,
         shape_.inputs, batch);
  if (shape_.biases) add_to_rows(weights[hidden_bias], activations_);
  for (double& a : activations_) a = !shape_.relu ? tanh_of(a) : a <= 0 ? 0 : a;
  matmul(weights[output_weight].data(), activations_.data(), outputs_.data(), shape_.outputs, shape_.hidden,
         batch);
  if (shape_.biases) add_to_rows(weights[output_bias], outputs_);
  return outputs_;
}

double TwoLayerNetwork::loss(const Weights& weights, std::span<const double> inputs,
                             std::span<const double> targets) {
  const FpEnvironment environment;
  const std::span<const double> y = outputs(weights, inputs);
  residuals_.resize(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) residuals_[i] = y[i] - targets[i];
  const double batch = static_cast<double>(y.size() / shape_.outputs);
  return sum_of_squares(std::span<const double>(residuals_)) / 2 / batch;
}

double TwoLayerNetwork::loss_and_gradient(const Weights& weights, std::span<const double> inputs,
                                          std::span<const double> targets, Weights& gradients) {
  const FpEnvironment environment;
  const double total = loss(weights, inputs, targets);
  const std::size_t batch = inputs.size() / shape_.inputs, hidden = shape_.hidden, count = shape_.outputs;
  gradients.resize(shape_.biases ? 4 : 2);
  for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i].resize(weights[i].size());
  for (double& residual : residuals_) residual = residual / static_cast<double>(batch);

  activations_by_sample_.resize(activations_.size());
  transpose(activations_.data(), activations_by_sample_.data(), hidden, batch);
  matmul(residuals_.data(), activations_by_sample_.data(), gradients[output_weight].data(), count, batch,
         hidden);
  output_transposed_.resize(hidden * count);
  transpose(weights[output_weight].data(), output_transposed_.data(), count, hidden);
  activation_gradients_.resize(activations_.size());
  matmul(output_transposed_.data(), residuals_.data(), activation_gradients_.data(), hidden, count, batch);
  for (std::size_t i = 0; i < activations_.size(); ++i) {
    const double a = activations_[i];
    // relu(H) is positive exactly where H is
    activation_gradients_[i] *= shape_.relu ? (a <= 0 ? 0 : 1) : (1 - a) * (1 + a);
  }
  matmul(activation_gradients_.data(), inputs.data(), gradients[hidden_weight].data(), hidden, batch,
         shape_.inputs);
  if (shape_.biases) {
    sum_rows(residuals_, gradients[output_bias]);
    sum_rows(activation_gradients_, gradients[hidden_bias]);
  }
  return total;
}

}  // namespace halfulp
