#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulation/fp_environment.h"
#include "emulation/reduce.h"
#include "experiments/data/batch_order.h"
#include "experiments/problems/log_spaced.h"
#include "experiments/problems/logistic_loss.h"
#include "experiments/problems/synthetic_data.h"
#include "experiments/problems/task_checks.h"
#include "experiments/task.h"
#include "formats/error.h"

namespace halfulp {

struct LogisticRegressionOptions {
  std::size_t samples = 512, features = 16;
  std::size_t batch_size = 32;
  double label_noise = 0.1;                      ///< share of labels that are flipped, 0..0.5
  double smallest_scale = 1, largest_scale = 1;  ///< standard deviations of the features
  double initial_deviation = 0.1;                ///< of the weights at the start; 0: they start at 0
  std::uint64_t data_seed = 0;                   ///< of samples and labels
  std::uint64_t seed = 0;                        ///< of the start and the order of mini-batches
};

/// Two classes told apart by "weight" [features] and "bias" [1]: the mean over samples i of log(1 + e^-m_i) with the
/// margin m_i = y_i (w . x_i + b), y_i = +-1.
///
/// features: x_ij = s_j z, scales s_j log-spaced, rising with j, z standard normal (data table 1).
/// labels: the sign of w* . x_i + b* with w*_j = z / s_j and b* = z (table 2, the bias last; 0 counts as positive):
///   each feature matters as much as any other, so weights that fit span the decades of the scales. A label is flipped
///   where 32 random bits (table 3) over 2^32 are below label_noise. Without flips the classes are separable and the
///   loss has no minimiser: it falls towards 0 as the weights grow.
/// start: initial_deviation z / s_j, the bias at 0.
/// mini-batches: in the order of BatchOrder(seed). Only start and order depend on the run's seed.
/// evaluate: the loss over all samples, and the share of them with m_i > 0.
/// Computed in double from the given weights: dots and the sum of losses by the fixed-order reductions, the gradient
/// sample by sample; the loss and each gradient element are then rounded once to R.
template <class R>
class LogisticRegression final : public Task<R> {
 public:
  /// errors: Error on a count that is 0, too large (2^24 features of all samples) or a batch above the samples, an end
  ///         of the scales that is not positive, a noise outside 0..0.5 or a negative deviation
  explicit LogisticRegression(const LogisticRegressionOptions& options)
      : options_(checked(options)),
        scales_(log_spaced(std::string(name) + ", scale", options.smallest_scale, options.largest_scale,
                           options.features)),
        features_(normal_values(data_table(options.data_seed, 1), options.samples * options.features, 1)),
        order_(options.seed, options.samples, options.batch_size) {
    const FpEnvironment environment;
    tensors_.add("weight", {options.features});
    tensors_.add("bias", {1});
    const auto truth = normal_values(data_table(options.data_seed, 2), options.features + 1, 1);
    for (std::size_t i = 0; i < options.samples; ++i) {
      // Before scaling: w* . x_i is the sum of z z' whatever the scales are.
      const bool positive = dot(sample(i), std::span(truth).first(options.features)) + truth.back() >= 0;
      const double draw = random_bits_32(data_table(options.data_seed, 3), i) * 0x1p-32;
      labels_.push_back(positive == (draw >= options.label_noise) ? 1 : -1);
      for (std::size_t j = 0; j < options.features; ++j) features_[i * options.features + j] *= scales_[j];
    }
  }

  const TensorRegistry& tensors() const override { return tensors_; }

  TensorList<double> initial_weights() const override {
    const FpEnvironment environment;
    const RandomStream stream{options_.seed, 0, 0, 0, RandomPurpose::initialization, 0};
    TensorList<double> weights{normal_values(stream, options_.features, options_.initial_deviation), {0.0}};
    for (std::size_t j = 0; j < options_.features; ++j) weights[0][j] /= scales_[j];
    return weights;
  }

  R loss_and_gradient(std::uint64_t step, const TensorList<R>& weights, TensorList<R>& gradients) override {
    const FpEnvironment environment;
    check_shapes(name, tensors_, weights);
    resize_like(tensors_, gradients);
    const auto batch = order_.indices(step);
    const double count = static_cast<double>(batch.size());
    const std::vector<double> w(weights[0].begin(), weights[0].end());
    std::vector<double> losses, gradient(options_.features, 0.0);
    double bias_gradient = 0;
    for (const std::uint32_t i : batch) {
      const LogisticLoss one = logistic_loss(margin(i, w, static_cast<double>(weights[1][0])));
      losses.push_back(one.loss);
      const double d = labels_[i] * one.derivative;
      for (std::size_t j = 0; j < gradient.size(); ++j) gradient[j] += d * sample(i)[j];
      bias_gradient += d;
    }
    for (std::size_t j = 0; j < gradient.size(); ++j) gradients[0][j] = static_cast<R>(gradient[j] / count);
    gradients[1][0] = static_cast<R>(bias_gradient / count);
    return static_cast<R>(sum(std::span<const double>(losses)) / count);
  }

  Evaluation evaluate(const std::string& split, std::uint64_t, const TensorList<R>& weights) override {
    const FpEnvironment environment;
    check_toy_split(name, split);
    check_shapes(name, tensors_, weights);
    const std::vector<double> w(weights[0].begin(), weights[0].end());
    std::vector<double> losses;
    std::size_t correct = 0;
    for (std::size_t i = 0; i < options_.samples; ++i) {
      const double m = margin(i, w, static_cast<double>(weights[1][0]));
      losses.push_back(logistic_loss(m).loss);
      correct += m > 0;
    }
    const double count = static_cast<double>(options_.samples);
    return {sum(std::span<const double>(losses)) / count, static_cast<double>(correct) / count};
  }

  /// An upper bound, of the mean over any samples: the Hessian of log(1 + e^-m) is p (1 - p) times the outer product
  /// of (x_i, 1) with itself, p (1 - p) <= 1/4, and that product's norm is |x_i|^2 + 1; so the largest |x_i|^2 + 1 over
  /// 4. The factor exceeds the rounding of the squares' sum, below 2^-33 of it for up to 2^24 features.
  std::optional<double> smoothness() const override {
    const FpEnvironment environment;
    double largest = 0;
    for (std::size_t i = 0; i < options_.samples; ++i) largest = std::max(largest, sum_of_squares(sample(i)));
    return (largest + 1) / 4 * (1 + 0x1p-32);
  }

 private:
  static constexpr const char* name = "logistic_regression";

  static LogisticRegressionOptions checked(const LogisticRegressionOptions& o) {
    const std::size_t most = std::size_t{1} << 24;
    checked_count(std::string(name) + ", features", o.features, most);
    checked_count(std::string(name) + ", samples", o.samples, most / o.features);
    if (!(o.label_noise >= 0 && o.label_noise <= 0.5))
      throw Error(std::string(name) + ", label_noise", "not a share of flipped labels",
                  std::to_string(o.label_noise), "a number in 0..0.5");
    if (!(o.initial_deviation >= 0) || !std::isfinite(o.initial_deviation))
      throw Error(std::string(name) + ", initial_deviation", "not a standard deviation",
                  std::to_string(o.initial_deviation), "a finite number of at least 0");
    return o;
  }

  std::span<const double> sample(std::size_t i) const {
    return std::span(features_).subspan(i * options_.features, options_.features);
  }
  double margin(std::size_t i, std::span<const double> weight, double bias) const {
    return labels_[i] * (dot(sample(i), weight) + bias);
  }

  LogisticRegressionOptions options_;
  std::vector<double> scales_, features_, labels_;
  TensorRegistry tensors_;
  BatchOrder order_;
};

}  // namespace halfulp
