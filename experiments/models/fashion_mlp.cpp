#include "experiments/models/fashion_mlp.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "emulation/fp_environment.h"
#include "emulation/normal.h"
#include "emulation/random_bits.h"
#include "experiments/problems/task_checks.h"
#include "formats/error.h"

namespace halfulp {
namespace {

constexpr std::size_t train_evaluation_size = 10000;
// Bounds the buffers of an evaluation; a sample's bits do not depend on it.
constexpr std::size_t evaluation_chunk = 1000;

std::shared_ptr<const ImageDataset> checked(std::shared_ptr<const ImageDataset> data, std::size_t hidden) {
  if (!data || data->train.size() == 0)
    throw Error("FashionMlp", "no training images", data ? "an empty split" : "null", "a loaded data set");
  if (hidden == 0) throw Error("FashionMlp, hidden", "layer without units", "0", "at least 1");
  for (const ImageSplit* split : {&data->train, &data->validation, &data->test}) {
    if (split->pixels.size() != split->size() * data->image_size)
      throw Error("FashionMlp", "pixels do not fit labels", std::to_string(split->pixels.size()) + " pixels",
                  std::to_string(split->size() * data->image_size));
    for (const std::uint8_t label : split->labels)
      if (label >= data->classes)
        throw Error("FashionMlp", "label without a class", std::to_string(label),
                    "below " + std::to_string(data->classes));
  }
  return data;
}

}  // namespace

template <class R>
FashionMlp<R>::FashionMlp(std::shared_ptr<const ImageDataset> data, const FashionMlpOptions& options,
                          ThreadPool* pool)
    : data_(checked(std::move(data), options.hidden)),
      initialization_seed_(options.initialization_seed),
      order_(options.data_seed, data_->train.size(), options.batch_size),
      mlp_({data_->image_size, options.hidden, data_->classes}, pool) {
  tensors_.add("hidden.weight", {options.hidden, data_->image_size});
  tensors_.add("output.weight", {data_->classes, options.hidden});
}

template <class R>
TensorList<double> FashionMlp<R>::initial_weights() const {
  const FpEnvironment environment;
  TensorList<double> weights;
  for (const TensorInfo& tensor : tensors_.tensors()) {
    const double gain = tensor.name == "hidden.weight" ? 2 : 1;
    const double deviation = std::sqrt(gain / static_cast<double>(tensor.row_length()));
    const RandomStream stream{initialization_seed_, 0, tensor.id, 0, RandomPurpose::initialization, 0};
    std::vector<double>& out = weights.emplace_back(tensor.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = deviation * normal_deviate<double>(random_bits_32(stream, i));
  }
  return weights;
}

template <class R>
R FashionMlp<R>::loss_and_gradient(std::uint64_t step, const TensorList<R>& weights,
                                   TensorList<R>& gradients) {
  check_shapes("FashionMlp", tensors_, weights);
  const std::size_t size = data_->image_size;
  const auto indices = order_.indices(step);
  images_.resize(indices.size() * size);
  labels_.resize(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::copy_n(&data_->train.pixels[indices[i] * size], size, &images_[i * size]);
    labels_[i] = data_->train.labels[indices[i]];
  }
  resize_like(tensors_, gradients);
  return mlp_.loss_and_gradient({weights[0], weights[1]}, images_, labels_, {gradients[0], gradients[1]});
}

template <class R>
Evaluation FashionMlp<R>::evaluate(const std::string& split, std::uint64_t, const TensorList<R>& weights) {
  check_shapes("FashionMlp", tensors_, weights);
  const std::size_t size = data_->image_size;
  const ImageSplit& images = data_->split(split);
  const std::size_t count = split == "train" ? std::min(images.size(), train_evaluation_size) : images.size();
  if (count == 0) throw Error("split " + split, "nothing to evaluate", "no images", "at least 1 image");
  const FpEnvironment environment;
  double loss = 0;
  std::size_t correct = 0;
  for (std::size_t begin = 0; begin < count; begin += evaluation_chunk) {
    const std::size_t chunk = std::min(evaluation_chunk, count - begin);
    images_.resize(chunk * size);
    std::copy_n(&images.pixels[begin * size], chunk * size, images_.begin());
    const auto labels = std::span<const std::uint8_t>(images.labels).subspan(begin, chunk);
    const auto scores = mlp_.score({weights[0], weights[1]}, images_, labels);
    for (const R sample_loss : scores.losses) loss += static_cast<double>(sample_loss);
    correct += scores.correct;
  }
  return {loss / static_cast<double>(count), static_cast<double>(correct) / static_cast<double>(count)};
}

template class FashionMlp<float>;
template class FashionMlp<double>;

}  // namespace halfulp
