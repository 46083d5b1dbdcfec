#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "emulation/fp_environment.h"
#include "emulation/normal.h"
#include "emulation/random_bits.h"
#include "experiments/problems/diagonal_quadratic.h"
#include "experiments/problems/log_spaced.h"

namespace halfulp {

struct IllConditionedOptions {
  std::size_t size = 1024;
  double smallest_curvature = 1e-2, largest_curvature = 1e2;
  double smallest_target = 1e-3, largest_target = 1e2;  ///< of |w*|
  double noise = 0.3;      ///< standard deviation of the label noise; 0: exact gradients
  std::uint64_t seed = 0;  ///< of start and noise; curvature and targets are the same for every seed
};

/// A diagonal quadratic whose curvatures and whose optimal magnitudes each span decades, independently.
///
/// curvature: h_i log-spaced, rising with i.
/// targets: |w*| log-spaced, dealt to the coordinates by a fixed permutation (random bits of seed 0); the
/// sign
///   alternates with the rank of |w*|, so every octave has both.
/// start: w_i = |w*_i| z_i, z standard normal. Magnitudes span the same decades, and half start on the wrong
///   side of zero.
/// gradient: h_i (w_i - w*_i) + noise sqrt(h_i) z, z standard normal and fresh each step: the gradient of
/// least
///   squares on one sample a step with label noise of that deviation and features of second moment h (its
///   noise has covariance noise^2 diag(h)). Loss and evaluation are free of noise.
template <class R>
class IllConditioned final : public DiagonalQuadratic<R> {
 public:
  /// errors: Error on a size of 0, an end of a range that is not positive, or a negative noise
  explicit IllConditioned(const IllConditionedOptions& options)
      : DiagonalQuadratic<R>(name, log_spaced(std::string(name) + ", curvature", options.smallest_curvature,
                                              options.largest_curvature, options.size)),
        options_(options),
        targets_(dealt_targets(options)) {
    if (!(options.noise >= 0) || !std::isfinite(options.noise))
      throw Error(std::string(name) + ", noise", "not a standard deviation", std::to_string(options.noise),
                  "a finite number of at least 0");
    for (std::size_t i = 0; i < options.size; ++i)
      noise_deviations_.push_back(options.noise * std::sqrt(this->curvature(i)));
  }

  TensorList<double> initial_weights() const override {
    const FpEnvironment environment;
    const RandomStream stream{options_.seed, 0, 0, 0, RandomPurpose::initialization, 0};
    TensorList<double> weights(1);
    for (std::size_t i = 0; i < targets_.size(); ++i)
      weights[0].push_back(std::fabs(targets_[i]) * normal_deviate<double>(random_bits_32(stream, i)));
    return weights;
  }

 protected:
  double target(std::uint64_t, std::size_t element) const override { return targets_[element]; }

  double gradient_noise(std::uint64_t step, std::size_t element) const override {
    if (options_.noise == 0) return 0;
    const RandomStream stream{
        options_.seed, static_cast<std::uint32_t>(step), 0, 0, RandomPurpose::label_noise, 0};
    return noise_deviations_[element] * normal_deviate<double>(random_bits_32(stream, element));
  }

 private:
  static constexpr const char* name = "ill_conditioned";

  static std::vector<double> dealt_targets(const IllConditionedOptions& options) {
    const auto magnitudes = log_spaced(std::string(name) + ", target", options.smallest_target,
                                       options.largest_target, options.size);
    const RandomStream stream{0, 0, 0, 0, RandomPurpose::data_order, 0};  // seed 0, whatever the run's seed
    std::vector<std::uint64_t> keys;  // bits above rank: distinct, and sorted by bits
    for (std::size_t rank = 0; rank < options.size; ++rank)
      keys.push_back(std::uint64_t{random_bits_32(stream, rank)} << 32 | rank);
    std::sort(keys.begin(), keys.end());
    std::vector<double> targets;
    for (const std::uint64_t key : keys) {
      const std::size_t rank = key & 0xFFFFFFFFu;
      targets.push_back(rank % 2 == 0 ? magnitudes[rank] : -magnitudes[rank]);
    }
    return targets;
  }

  IllConditionedOptions options_;
  std::vector<double> targets_;
  std::vector<double> noise_deviations_;
};

}  // namespace halfulp
