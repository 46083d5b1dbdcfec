#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "experiments/data/batch_order.h"
#include "experiments/data/image_dataset.h"
#include "experiments/models/mlp.h"
#include "experiments/task.h"

namespace halfulp {

struct FashionMlpOptions {
  std::uint64_t initialization_seed = 0;
  std::uint64_t data_seed = 0;  ///< of the data order
  std::size_t batch_size = 64;
  std::size_t hidden = 64;
};

/// The MLP as a task: "hidden.weight" [hidden, pixels] and "output.weight" [classes, hidden].
///
/// initial weights: normal with mean 0 and standard deviation sqrt(2 / inputs) for hidden.weight (He et al.
///   2015: relu halves the second moment) and sqrt(1 / hidden) for output.weight (no relu follows), one
///   normal deviate an element from the counter generator (purpose initialization, tensor id, element index).
/// mini-batches: the training split in the order of BatchOrder(data_seed).
/// evaluate: all of "validation" and "test"; of "train" the first 10,000 images, whatever was trained on.
/// Losses
///   are added in double in image order. The step does not matter.
template <class R>
class FashionMlp final : public Task<R> {
 public:
  /// pool: runs the matmuls, not owned, may be null; the bits are the same
  /// errors: Error where data is null, where a label has no class, or where the batch or the hidden layer has
  /// no
  ///         valid size
  FashionMlp(std::shared_ptr<const ImageDataset> data, const FashionMlpOptions& options,
             ThreadPool* pool = nullptr);

  const TensorRegistry& tensors() const override { return tensors_; }
  TensorList<double> initial_weights() const override;
  R loss_and_gradient(std::uint64_t step, const TensorList<R>& weights, TensorList<R>& gradients) override;
  Evaluation evaluate(const std::string& split, std::uint64_t step, const TensorList<R>& weights) override;

 private:
  std::shared_ptr<const ImageDataset> data_;
  std::uint64_t initialization_seed_;
  TensorRegistry tensors_;
  BatchOrder order_;
  Mlp<R> mlp_;
  std::vector<R> images_;
  std::vector<std::uint8_t> labels_;
};

extern template class FashionMlp<float>;
extern template class FashionMlp<double>;

}  // namespace halfulp
