#pragma once
#include <string>

#include "optimizers/step.h"

namespace halfulp::test {

/// What 3000 steps on L = (w - target)^2 / 2 make of one weight.
struct Outcome {
  double final;
  int changes;     ///< steps that changed w
  bool left_sign;  ///< whether w ever had another sign than at the start
  double worst;    ///< largest |w - target| after a step
};

template <class Rule>
Outcome descend(const typename Rule::Config& config, double start, double target,
                const std::string& scheme = "bf16/fp32") {
  const TensorInfo info{"w", 0, {1}, 0};
  OptimizedTensor<Rule, double> tensor(info, parse_scheme(scheme).of(info), std::vector<double>{start},
                                       config);
  NoProbe probe;
  std::vector<double> w{start};
  Outcome out{start, 0, false, 0};
  for (std::uint64_t t = 1; t <= 3000; ++t) {
    tensor.step(config, {t, 1.0, 1}, {std::vector<double>{w[0] - target}}, nullptr, probe);
    const double before = w[0];
    tensor.weight(0).load(0, std::span(w));
    out.changes += w[0] != before;
    out.left_sign = out.left_sign || (w[0] > 0) != (start > 0);
    out.worst = std::max(out.worst, std::fabs(w[0] - target));
  }
  out.final = w[0];
  return out;
}

}  // namespace halfulp::test
