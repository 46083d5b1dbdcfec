#include "experiments/models/mlp.h"

#include "emulation/fp_environment.h"
#include "emulation/matmul.h"
#include "emulation/reduce.h"
#include "experiments/models/softmax_cross_entropy.h"

namespace halfulp {

template <class R>
std::span<const R> Mlp<R>::logits(const MlpTensors<const R>& weights, std::span<const R> images) {
  const FpEnvironment environment;
  const auto [inputs, hidden, classes] = shape_;
  const std::size_t batch = images.size() / inputs;
  inputs_.resize(inputs * batch);
  pre_activations_.resize(hidden * batch);
  activations_.resize(hidden * batch);
  logits_.resize(classes * batch);
  logits_by_sample_.resize(batch * classes);
  transpose(images.data(), inputs_.data(), batch, inputs);
  matmul(weights.hidden.data(), inputs_.data(), pre_activations_.data(), hidden, inputs, batch, pool_);
  for (std::size_t i = 0; i < activations_.size(); ++i)
    activations_[i] = pre_activations_[i] <= R(0) ? R(0) : pre_activations_[i];
  matmul(weights.output.data(), activations_.data(), logits_.data(), classes, hidden, batch, pool_);
  transpose(logits_.data(), logits_by_sample_.data(), classes, batch);
  return logits_by_sample_;
}

template <class R>
typename Mlp<R>::Scores Mlp<R>::score(const MlpTensors<const R>& weights, std::span<const R> images,
                                      std::span<const std::uint8_t> labels) {
  const FpEnvironment environment;
  const std::size_t classes = shape_.classes;
  const std::span<const R> all_logits = logits(weights, images);
  losses_.resize(labels.size());
  logit_gradients_by_sample_.resize(all_logits.size());
  std::size_t correct = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto sample_logits = all_logits.subspan(i * classes, classes);
    const auto sample_gradient = std::span<R>(logit_gradients_by_sample_).subspan(i * classes, classes);
    losses_[i] = softmax_cross_entropy<R>(sample_logits, labels[i], sample_gradient);
    correct += names_label<R>(sample_logits, labels[i]);
  }
  return {losses_, correct};
}

template <class R>
R Mlp<R>::loss_and_gradient(const MlpTensors<const R>& weights, std::span<const R> images,
                            std::span<const std::uint8_t> labels, const MlpTensors<R>& gradients) {
  const FpEnvironment environment;
  const R batch = static_cast<R>(labels.size());
  const R total = sum(score(weights, images, labels).losses);
  for (R& value : logit_gradients_by_sample_) value = value / batch;
  backward(weights, images, gradients);
  return total / batch;
}

template <class R>
void Mlp<R>::backward(const MlpTensors<const R>& weights, std::span<const R> images,
                      const MlpTensors<R>& gradients) {
  const auto [inputs, hidden, classes] = shape_;
  const std::size_t batch = images.size() / inputs;
  logit_gradients_.resize(classes * batch);
  activations_by_sample_.resize(batch * hidden);
  activation_gradients_.resize(hidden * batch);
  output_transposed_.resize(hidden * classes);
  transpose(logit_gradients_by_sample_.data(), logit_gradients_.data(), batch, classes);
  transpose(activations_.data(), activations_by_sample_.data(), hidden, batch);
  transpose(weights.output.data(), output_transposed_.data(), classes, hidden);
  matmul(logit_gradients_.data(), activations_by_sample_.data(), gradients.output.data(), classes, batch,
         hidden, pool_);
  matmul(output_transposed_.data(), logit_gradients_.data(), activation_gradients_.data(), hidden, classes,
         batch, pool_);
  for (std::size_t i = 0; i < activation_gradients_.size(); ++i)
    if (pre_activations_[i] <= R(0)) activation_gradients_[i] = R(0);
  matmul(activation_gradients_.data(), images.data(), gradients.hidden.data(), hidden, batch, inputs, pool_);
}

template class Mlp<float>;
template class Mlp<double>;

}  // namespace halfulp
