#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/yaml_map.h"

namespace halfulp {

/// How the learning rates go on once they are warm.
enum class ScheduleShape : std::uint8_t { constant, cosine, inverse_square_root, linear };

struct ScheduleConfig {
  ScheduleShape shape = ScheduleShape::constant;
  std::uint64_t warmup = 0;  ///< steps
  double final_factor = 0;   ///< of cosine and linear: where they end, 0..1

  friend bool operator==(const ScheduleConfig&, const ScheduleConfig&) = default;
};

/// Multiplier of the learning rates at step t of T, with W = warmup, f = final_factor:
///   t <= W                 t / W                                     linear, from 1/W to 1
///   t > W, with s = (t - W - 1) / (T - W)                            0 at the first warm step, 1 at step T + 1
///     constant             1
///     cosine               f + (1 - f) (1 + cos(pi s)) / 2
///     inverse_square_root  sqrt(max(W, 1) / t)                       1 at t = W, or at t = 1 without warm-up
///     linear               f + (1 - f) (1 - s)
/// in:  step 1, 2, ...; 0 counts as 1, and s as 1 beyond `steps`
/// out: in (0, 1] within the run. The cosine comes from a series of our own: the error is below 1e-15, and a library's
///      would differ from machine to machine. The other formulas are evaluated as they stand.
/// errors: none (total function)
double schedule_factor(const ScheduleConfig& schedule, std::uint64_t step, std::uint64_t steps);

/// The schedule under `key`: the name of a shape, or a map {shape: cosine, warmup: 100, final: 0.1}, each part
/// optional; constant where the key is absent.
/// errors: throws Error naming file, key, what was given and what is allowed; on a `final` for a shape without an end
///         too.
ScheduleConfig parse_schedule(YamlMap& parent, const std::string& key);

/// What parse_schedule reads back: the name alone where there is neither warm-up nor a final factor, else a map.
nlohmann::ordered_json to_json(const ScheduleConfig& schedule);

}  // namespace halfulp
