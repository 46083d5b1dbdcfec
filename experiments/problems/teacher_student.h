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
#include "experiments/data/batch_order.h"
#include "experiments/problems/synthetic_data.h"
#include "experiments/problems/task_checks.h"
#include "experiments/problems/two_layer_network.h"
#include "experiments/task.h"
#include "formats/error.h"

namespace halfulp {

struct TeacherStudentOptions {
  std::size_t inputs = 8, outputs = 2;
  std::size_t teacher_hidden = 8;
  std::size_t hidden = 16;  ///< of the student, at least teacher_hidden
  std::size_t samples = 1024, batch_size = 32;
  bool relu = false;            ///< instead of tanh
  bool biases = false;          ///< in teacher and student
  std::uint64_t data_seed = 0;  ///< of teacher and inputs
  std::uint64_t seed = 0;       ///< of the student's start and the order of mini-batches
};

/// A two-layer network learns what another one, as wide or narrower, says about normal inputs; loss |y - target|^2 / 2,
/// mean over samples.
///
/// inputs: standard normal (data table 1). targets: what the teacher answers, without noise, so the loss can reach 0.
/// teacher: normal weights of deviation sqrt(gain / row length), gain 1 but 2 into relu units, and biases of deviation
///   1 / sqrt(row length of their matrix) (tables 2 to 5: hidden.weight, output.weight, hidden.bias, output.bias).
/// start: the student's weights as the teacher's, by the run's seed; its biases at 0.
/// mini-batches: in the order of BatchOrder(seed). evaluate: all samples.
/// optimum: none is named. Units can be permuted, of tanh also negated, and spare ones placed anywhere, so a student
///   that fits need not lie near the teacher.
/// Computed in double from the given weights; the loss and each gradient element are then rounded once to R.
template <class R>
class TeacherStudent final : public Task<R> {
 public:
  /// errors: Error on a count that is 0, too large (2^24 numbers in a table) or a batch above the samples, and on a
  ///         student narrower than its teacher
  explicit TeacherStudent(const TeacherStudentOptions& options)
      : options_(checked(options)),
        tensors_(two_layer_tensors(student_shape(options))),
        network_(student_shape(options)),
        order_(options.seed, options.samples, options.batch_size),
        inputs_(normal_values(data_table(options.data_seed, 1), options.samples * options.inputs, 1)) {
    const std::span<const double> answers = network_.outputs(teacher_as_student(), inputs_);
    targets_.assign(answers.begin(), answers.end());
  }

  const TensorRegistry& tensors() const override { return tensors_; }

  TensorList<double> initial_weights() const override {
    TensorList<double> weights;
    for (const TensorInfo& tensor : tensors_.tensors()) {
      const RandomStream stream{options_.seed, 0, tensor.id, 0, RandomPurpose::initialization, 0};
      const bool is_bias = tensor.shape.size() == 1;
      weights.push_back(is_bias ? std::vector<double>(tensor.size(), 0.0)
                                : normal_values(stream, tensor.size(), deviation(tensor)));
    }
    return weights;
  }

  R loss_and_gradient(std::uint64_t step, const TensorList<R>& weights, TensorList<R>& gradients) override {
    const FpEnvironment environment;
    check_shapes(name, tensors_, weights);
    const auto indices = order_.indices(step);
    const std::size_t batch = indices.size(), width = options_.inputs;
    batch_inputs_.resize(batch * width);
    batch_targets_.resize(batch * options_.outputs);
    for (std::size_t i = 0; i < batch; ++i) {
      std::copy_n(&inputs_[indices[i] * width], width, &batch_inputs_[i * width]);
      for (std::size_t o = 0; o < options_.outputs; ++o)
        batch_targets_[o * batch + i] = targets_[o * options_.samples + indices[i]];
    }
    const double loss =
        network_.loss_and_gradient(in_double(weights), batch_inputs_, batch_targets_, gradients_);
    resize_like(tensors_, gradients);
    for (std::size_t t = 0; t < gradients.size(); ++t)
      for (std::size_t i = 0; i < gradients[t].size(); ++i)
        gradients[t][i] = static_cast<R>(gradients_[t][i]);
    return static_cast<R>(loss);
  }

  Evaluation evaluate(const std::string& split, std::uint64_t, const TensorList<R>& weights) override {
    const FpEnvironment environment;
    check_toy_split(name, split);
    check_shapes(name, tensors_, weights);
    return {network_.loss(in_double(weights), inputs_, targets_), std::nullopt};
  }

  /// The teacher as a student whose spare units have zero weights: its loss is exactly 0.
  TensorList<double> teacher_as_student() const {
    const FpEnvironment environment;
    TwoLayerShape shape = student_shape(options_);
    shape.hidden = options_.teacher_hidden;
    const TensorRegistry registry = two_layer_tensors(shape);
    const auto& own = registry.tensors();
    TensorList<double> weights;
    for (std::size_t t = 0; t < own.size(); ++t) {
      const std::size_t row = own[t % 2].row_length();  // a bias is scaled as its matrix
      const double spread = t < 2 ? deviation(own[t]) : 1 / std::sqrt(static_cast<double>(row));
      const RandomStream table = data_table(options_.data_seed, static_cast<std::uint8_t>(2 + t));
      const auto values = normal_values(table, own[t].size(), spread);
      const TensorInfo& wide = tensors_.tensors()[t];
      auto& padded = weights.emplace_back(wide.size(), 0.0);
      const std::size_t from = own[t].row_length(), to = wide.row_length();
      for (std::size_t i = 0; i < values.size(); ++i) padded[i / from * to + i % from] = values[i];
    }
    return weights;
  }

 private:
  static constexpr const char* name = "teacher_student";

  static TwoLayerShape student_shape(const TeacherStudentOptions& o) {
    return {o.inputs, o.hidden, o.outputs, o.relu, o.biases};
  }

  static TeacherStudentOptions checked(const TeacherStudentOptions& o) {
    const std::string where = std::string(name) + ", ";
    const std::size_t most = std::size_t{1} << 24;
    checked_count(where + "inputs", o.inputs, most);
    checked_count(where + "outputs", o.outputs, most);
    const std::size_t widest = most / std::max(o.inputs, o.outputs);
    checked_count(where + "hidden", o.hidden, widest);
    checked_count(where + "samples", o.samples, most / std::max({o.inputs, o.outputs, o.hidden}));
    checked_count(where + "teacher_hidden", o.teacher_hidden, o.hidden);
    return o;
  }

  double deviation(const TensorInfo& matrix) const {
    const double gain = options_.relu && matrix.name == "hidden.weight" ? 2 : 1;
    return std::sqrt(gain / static_cast<double>(matrix.row_length()));
  }

  static TensorList<double> in_double(const TensorList<R>& weights) {
    TensorList<double> all;
    for (const auto& tensor : weights) all.emplace_back(tensor.begin(), tensor.end());
    return all;
  }

  TeacherStudentOptions options_;
  TensorRegistry tensors_;
  TwoLayerNetwork network_;
  BatchOrder order_;
  std::vector<double> inputs_, targets_;  ///< [samples, inputs], [outputs, samples]
  std::vector<double> batch_inputs_, batch_targets_;
  TensorList<double> gradients_;
};

}  // namespace halfulp
