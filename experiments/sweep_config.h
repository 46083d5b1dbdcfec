#pragma once
#include <string>
#include <vector>

#include "experiments/run_config.h"

namespace halfulp {

/// The runs of a sweep:
///   base:  {...}                      a run config, possibly incomplete
///   seeds: [0, 1, 2]                  default: the seed of the base
///   grid:                             a list of products; each maps dotted keys to a value or a list of
///   values
///     - {rule.name: adamw, rule.eta: [1e-3, 3e-3], plan.scheme: [bf16/fp32, fp8/fp8]}
///   tuned_by: FOLDER                  each run takes the numbers of its rule from the best records there
///   (tuning.h)
/// in: settings: KEY=VALUE overrides of the base.
/// errors: throws Error as parse_run_config does, naming the
/// grid entry.
std::vector<RunConfig> parse_sweep_config(const std::string& file, const std::vector<std::string>& settings);

}  // namespace halfulp
