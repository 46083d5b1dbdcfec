#include "experiments/schedule.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "formats/error.h"

namespace halfulp {
namespace {

constexpr std::array<std::pair<const char*, ScheduleShape>, 4> shapes{{
    {"constant", ScheduleShape::constant},
    {"cosine", ScheduleShape::cosine},
    {"inverse_square_root", ScheduleShape::inverse_square_root},
    {"linear", ScheduleShape::linear},
}};

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  for (const auto& shape : shapes) names.emplace_back(shape.first);
  return names;
}

ScheduleShape read_shape(YamlMap& map, const std::string& key) {
  const std::string given = map.choice(key, shapes.front().first, shape_names());
  for (const auto& shape : shapes)
    if (given == shape.first) return shape.second;
  return shapes.front().second;
}

const char* name_of(ScheduleShape shape) { return shapes[static_cast<std::size_t>(shape)].first; }

bool has_end(ScheduleShape shape) { return shape == ScheduleShape::cosine || shape == ScheduleShape::linear; }

/// (1 + cos(pi share)) / 2 = cos^2(pi share / 2), by the Taylor series of the cosine on [0, pi/2]: the terms after
/// x^24/24! are below 2e-21.
double half_cosine(double share) {
  const double half = 0x1.921fb54442d18p+0 * share;
  double term = 1, cosine = 1;
  for (int k = 1; k <= 12; ++k) {
    term = -term * half * half / ((2 * k - 1) * (2 * k));
    cosine += term;
  }
  return cosine * cosine;
}

}  // namespace

double schedule_factor(const ScheduleConfig& schedule, std::uint64_t step, std::uint64_t steps) {
  const std::uint64_t t = step == 0 ? 1 : step, warmup = schedule.warmup;
  if (t <= warmup) return static_cast<double>(t) / static_cast<double>(warmup);
  const double share =
      t > steps ? 1 : static_cast<double>(t - warmup - 1) / static_cast<double>(steps - warmup);
  const double end = schedule.final_factor;
  switch (schedule.shape) {
    case ScheduleShape::constant:
      return 1;
    case ScheduleShape::cosine:
      return end + (1 - end) * half_cosine(share);
    case ScheduleShape::inverse_square_root:
      return std::sqrt(static_cast<double>(warmup == 0 ? 1 : warmup) / static_cast<double>(t));
    case ScheduleShape::linear:
      return end + (1 - end) * (1 - share);
  }
  return 1;
}

ScheduleConfig parse_schedule(YamlMap& parent, const std::string& key) {
  if (!parent.has(key) || parent.node(key).IsScalar()) return {read_shape(parent, key), 0, 0};
  YamlMap map = parent.map(key);
  ScheduleConfig schedule;
  schedule.shape = read_shape(map, "shape");
  schedule.warmup = map.count("warmup", 0, 0, 1'000'000'000);
  schedule.final_factor = map.number("final", 0, 0, 1);
  if (map.has("final") && !has_end(schedule.shape))
    throw Error(map.where("final"), std::string(name_of(schedule.shape)) + " ends nowhere in particular",
                map.text("final", ""), "final only with shape cosine or linear");
  map.check_all_known();
  return schedule;
}

nlohmann::ordered_json to_json(const ScheduleConfig& schedule) {
  const char* name = name_of(schedule.shape);
  const bool ends = has_end(schedule.shape);
  if (schedule.warmup == 0 && !(ends && schedule.final_factor != 0)) return name;
  nlohmann::ordered_json json{{"shape", name}, {"warmup", schedule.warmup}};
  if (ends) json["final"] = schedule.final_factor;
  return json;
}

}  // namespace halfulp
