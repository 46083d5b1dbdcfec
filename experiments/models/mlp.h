#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulation/parallel.h"

namespace halfulp {

struct MlpShape {
  std::size_t inputs = 256;
  std::size_t hidden = 64;
  std::size_t classes = 10;
};

/// Weights, or their gradients: rows are output units, so blocks along the last axis run along the
/// contraction.
template <class T>
struct MlpTensors {
  std::span<T> hidden;  ///< [hidden, inputs]
  std::span<T> output;  ///< [classes, hidden]
};

/// logits = output relu(hidden x), no biases, judged by softmax cross-entropy.
///
/// Every product is a matmul with a stated order and every sum a fixed-order reduction, so the bits depend on
/// neither threads nor machine, and a sample's bits not on its batch. Activations are kept unit by sample
/// ([units, batch]): then the weights are left operands as they stand, and the axis the matmul runs over in
/// lanes is the batch, not the 10 classes. Gradients, for P = (softmax - onehot) / batch [classes, batch],
/// H = hidden X', A = relu(H):
///   d output = P A',   d A = output' P,   d H = d A where H > 0 else 0,   d hidden = d H X
/// relu'(0) = 0; relu keeps a NaN, so a diverged weight is seen in the loss.
template <class R>
class Mlp {
 public:
  explicit Mlp(const MlpShape& shape, ThreadPool* pool = nullptr) : shape_(shape), pool_(pool) {}

  const MlpShape& shape() const { return shape_; }

  /// Computes the logits of a batch.
  /// in:  images [batch, inputs] row-major, batch > 0
  /// out: logits [batch, classes] row-major, valid until the next call
  std::span<const R> logits(const MlpTensors<const R>& weights, std::span<const R> images);

  /// Computes each sample's loss, and counts those whose label has the largest logit.
  struct Scores {
    std::span<const R> losses;  ///< [batch], natural logarithm; valid until the next call
    std::size_t correct;
  };
  Scores score(const MlpTensors<const R>& weights, std::span<const R> images,
               std::span<const std::uint8_t> labels);

  /// Returns the mean loss of the batch and overwrites `gradients` with its gradient.
  R loss_and_gradient(const MlpTensors<const R>& weights, std::span<const R> images,
                      std::span<const std::uint8_t> labels, const MlpTensors<R>& gradients);

 private:
  void backward(const MlpTensors<const R>& weights, std::span<const R> images,
                const MlpTensors<R>& gradients);

  MlpShape shape_;
  ThreadPool* pool_;
  // Kept between calls, so that a training run allocates once. by_sample: [batch, units]; else [units,
  // batch].
  std::vector<R> inputs_, pre_activations_, activations_, activations_by_sample_, logits_, logits_by_sample_;
  std::vector<R> losses_, logit_gradients_, logit_gradients_by_sample_, activation_gradients_,
      output_transposed_;
};

extern template class Mlp<float>;
extern template class Mlp<double>;

}  // namespace halfulp
