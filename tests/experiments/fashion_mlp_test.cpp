#include "experiments/models/fashion_mlp.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <vector>

#include "emulation/elementary.h"
#include "emulation/normal.h"
#include "emulation/random_bits.h"
#include "experiments/data/fashion_mnist.h"
#include "formats/error.h"

using namespace halfulp;

namespace {

/// Standard normal numbers times deviation, rounded to float as pixels are.
std::vector<double> normal_numbers(std::size_t count, double deviation, std::uint32_t tensor) {
  const RandomStream stream{11, 0, tensor, 0, RandomPurpose::noise, 0};
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(deviation * normal_deviate<double>(random_bits_32(stream, i)));
  return out;
}

std::shared_ptr<const ImageDataset> synthetic_data(std::size_t train_size) {
  auto data = std::make_shared<ImageDataset>();
  data->image_size = 4;
  data->classes = 3;
  std::uint32_t tensor = 20;
  const auto fill = [&](ImageSplit& split, std::size_t size) {
    const std::vector<double> pixels = normal_numbers(4 * size, 1, tensor++);
    split.pixels.assign(pixels.begin(), pixels.end());
    for (std::size_t i = 0; i < size; ++i) split.labels.push_back(static_cast<std::uint8_t>(i * i % 3));
  };
  fill(data->train, train_size);
  fill(data->validation, 5);
  fill(data->test, 2500);
  return data;
}

}  // namespace

TEST_CASE("fashion mlp: initial weights have their shapes and deviations and follow the seed") {
  const auto data = std::make_shared<ImageDataset>();
  data->image_size = 256;
  data->classes = 10;
  data->train.pixels.resize(256);
  data->train.labels.resize(1);
  FashionMlp<float> task(data, {.batch_size = 1});
  const auto& tensors = task.tensors().tensors();
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].name == "hidden.weight");
  CHECK(tensors[0].shape == std::vector<std::size_t>{64, 256});
  CHECK(tensors[1].name == "output.weight");
  CHECK(tensors[1].shape == std::vector<std::size_t>{10, 64});
  const auto weights = task.initial_weights();
  const double variances[] = {2.0 / 256, 1.0 / 64};
  for (std::size_t t = 0; t < 2; ++t) {
    double total = 0, squares = 0;
    for (const double w : weights[t]) total += w, squares += w * w;
    const double n = static_cast<double>(tensors[t].size());
    CHECK(std::fabs(total / n) < 4 * std::sqrt(variances[t] / n));            // 4 sd of a mean
    CHECK(std::fabs(squares / n / variances[t] - 1) < 4 * std::sqrt(2 / n));  // 4 sd of a second moment
  }
  CHECK(FashionMlp<double>(data, {.batch_size = 1}).initial_weights() == weights);
  CHECK(FashionMlp<float>(data, {.data_seed = 1, .batch_size = 1}).initial_weights() == weights);
  CHECK(FashionMlp<float>(data, {.initialization_seed = 1, .batch_size = 1}).initial_weights() != weights);
}

TEST_CASE("fashion mlp: a step's bits do not depend on what was asked before") {
  const auto data = synthetic_data(100);
  const FashionMlpOptions options{.batch_size = 8, .hidden = 6};
  FashionMlp<double> used(data, options), fresh(data, options);
  const auto weights = used.initial_weights();
  TensorList<double> first, again, alone;
  const double loss = used.loss_and_gradient(5, weights, first);
  used.loss_and_gradient(40, weights, again);
  CHECK(again != first);
  used.evaluate("test", 0, weights);
  CHECK(used.loss_and_gradient(5, weights, again) == loss);
  CHECK(again == first);
  CHECK(fresh.loss_and_gradient(5, weights, alone) == loss);
  CHECK(alone == first);
}

TEST_CASE("fashion mlp: over a whole epoch of whole batches the mean mini-batch loss is the training loss") {
  const auto data = synthetic_data(96);
  FashionMlp<double> task(data, {.batch_size = 8, .hidden = 6});
  const auto weights = task.initial_weights();
  TensorList<double> gradients;
  double total = 0;
  for (std::uint64_t step = 12; step < 24; ++step) total += task.loss_and_gradient(step, weights, gradients);
  // The same 96 losses, each below 16, added in another order: off by at most 2 * 96 * 2^-53 * 16.
  CHECK(std::fabs(total / 12 - task.evaluate("train", 0, weights).loss) < 192 * 16 * 0x1p-53);
}

TEST_CASE("fashion mlp: evaluation covers a whole split in chunks, and of train the first 10,000") {
  const auto data = synthetic_data(10001);
  FashionMlp<double> task(data, {.hidden = 6});
  const auto weights = task.initial_weights();
  Mlp<double> mlp({4, 6, 3});
  const std::vector<double> images(data->test.pixels.begin(), data->test.pixels.end());
  const auto scores = mlp.score({weights[0], weights[1]}, images, data->test.labels);
  double total = 0;
  for (const double loss : scores.losses) total += loss;
  const Evaluation test = task.evaluate("test", 0, weights);
  CHECK(test.loss == total / 2500);
  CHECK(*test.accuracy == static_cast<double>(scores.correct) / 2500);

  const double train_loss = task.evaluate("train", 0, weights).loss;
  const auto with_label_moved = [&](std::size_t image) {
    auto changed = std::make_shared<ImageDataset>(*data);
    changed->train.labels[image] = static_cast<std::uint8_t>((changed->train.labels[image] + 1) % 3);
    return FashionMlp<double>(changed, {.hidden = 6}).evaluate("train", 0, weights).loss;
  };
  CHECK(with_label_moved(9999) != train_loss);
  CHECK(with_label_moved(10000) == train_loss);
}

TEST_CASE("fashion mlp: zero weights cost log(classes)") {
  FashionMlp<float> task(synthetic_data(100), {.batch_size = 8, .hidden = 6});
  const TensorList<float> zero{std::vector<float>(24), std::vector<float>(18)};
  TensorList<float> gradients;
  // Eight equal losses: doubling and dividing by 8 are exact.
  CHECK(task.loss_and_gradient(0, zero, gradients) == elementary::log(3.0f));
  CHECK(gradients == zero);
}

TEST_CASE("fashion mlp: bad arguments are errors") {
  const auto data = synthetic_data(100);
  CHECK_THROWS_AS(FashionMlp<float>(nullptr, {}), Error);
  CHECK_THROWS_AS(FashionMlp<float>(std::make_shared<ImageDataset>(), {}), Error);
  CHECK_THROWS_AS(FashionMlp<float>(data, {.batch_size = 101}), Error);
  CHECK_THROWS_AS(FashionMlp<float>(data, {.hidden = 0}), Error);
  auto bad_label = std::make_shared<ImageDataset>(*data);
  bad_label->test.labels[3] = 3;
  CHECK_THROWS_AS(FashionMlp<float>(bad_label, {}), Error);
  FashionMlp<float> task(data, {.hidden = 6});
  TensorList<float> gradients, weights{std::vector<float>(24), std::vector<float>(17)};
  CHECK_THROWS_AS(task.loss_and_gradient(0, weights, gradients), Error);
  CHECK_THROWS_AS(task.evaluate("train", 0, weights), Error);
  weights[1].resize(18);
  CHECK_THROWS_AS(task.evaluate("dev", 0, weights), Error);
}

TEST_CASE("fashion mlp: plain gradient descent learns the real data") {
  if (!std::filesystem::exists(fashion_mnist_directory)) {
    MESSAGE("SKIPPED: ", fashion_mnist_directory, " is missing (apt-get install dataset-fashion-mnist)");
    return;
  }
  FashionMlp<float> task(load_fashion_mnist(), {});
  TensorList<float> weights, gradients;
  for (const auto& tensor : task.initial_weights()) weights.emplace_back(tensor.begin(), tensor.end());
  for (std::uint64_t step = 0; step < 300; ++step) {
    task.loss_and_gradient(step, weights, gradients);
    for (std::size_t t = 0; t < weights.size(); ++t)
      for (std::size_t i = 0; i < weights[t].size(); ++i) weights[t][i] -= 0.1f * gradients[t][i];
  }
  const Evaluation validation = task.evaluate("validation", 0, weights);
  MESSAGE("validation loss ", validation.loss, ", accuracy ", *validation.accuracy);
  CHECK(validation.loss < 0.8);
  CHECK(*validation.accuracy > 0.7);
}
