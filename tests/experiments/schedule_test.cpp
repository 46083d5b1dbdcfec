// Schedules: every formula by hand, the cosine's bits, and what YAML may say.
#include "experiments/schedule.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "formats/error.h"

namespace halfulp {
namespace {

constexpr ScheduleConfig constant{}, cosine{ScheduleShape::cosine, 0, 0}, linear{ScheduleShape::linear, 0, 0},
    inverse{ScheduleShape::inverse_square_root, 0, 0};

ScheduleConfig with(ScheduleConfig schedule, std::uint64_t warmup, double final_factor = 0) {
  schedule.warmup = warmup;
  schedule.final_factor = final_factor;
  return schedule;
}

ScheduleConfig parsed(const std::string& yaml) {
  YamlMap root(YAML::Load(yaml), "f.yaml", "");
  const ScheduleConfig schedule = parse_schedule(root, "schedule");
  root.check_all_known();
  return schedule;
}

std::string error_of(const std::string& yaml) {
  try {
    parsed(yaml);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("schedule: the cosine without warm-up and end, bit for bit: records rest on it") {
  const struct {
    std::uint64_t step, steps;
    double factor;
  } pinned[] = {{1, 1, 1},
                {1, 1500, 1},
                {2, 1500, 0x1.ffffdb3416096p-1},
                {500, 1500, 0x1.8076cc154c74ap-1},
                {751, 1500, 0x1.ffffffffffffep-2},
                {1000, 1500, 0x1.00ede1c26cd63p-2},
                {1500, 1500, 0x1.265f4fb45bb7ep-20},
                {4, 7, 0x1.38f721c6048bp-1},
                {2, 2, 0x1.ffffffffffffep-2},
                {3, 3, 0x1.0000000000002p-2}};
  for (const auto& one : pinned) CHECK(schedule_factor(cosine, one.step, one.steps) == one.factor);
}

TEST_CASE("schedule: the cosine is within 1e-15 of the library's, falls, and is positive in the run") {
  for (const std::uint64_t steps : {1u, 2u, 7u, 1500u}) {
    double before = 2;
    for (std::uint64_t t = 1; t <= steps; ++t) {
      const double factor = schedule_factor(cosine, t, steps);
      const double angle = 3.14159265358979323846 * static_cast<double>(t - 1) / static_cast<double>(steps);
      CHECK(std::fabs(factor - (1 + std::cos(angle)) / 2) < 1e-15);
      CHECK(factor > 0);
      CHECK(factor < before);
      before = factor;
    }
  }
}

TEST_CASE("schedule: warm-up rises from 1/W to 1 under every shape, then the shape takes the rest") {
  for (const ScheduleConfig& shape : {constant, cosine, linear, inverse}) {
    const ScheduleConfig warm = with(shape, 4, 0);
    CHECK(schedule_factor(warm, 1, 12) == 0.25);
    CHECK(schedule_factor(warm, 2, 12) == 0.5);
    CHECK(schedule_factor(warm, 3, 12) == 0.75);
    CHECK(schedule_factor(warm, 4, 12) == 1);
    CHECK(schedule_factor(with(shape, 1, 0), 1, 12) == 1);
    // A run shorter than its warm-up never gets further.
    CHECK(schedule_factor(with(shape, 100, 0), 3, 3) == 0.03);
  }
  for (std::uint64_t t = 5; t <= 12; ++t) {
    CHECK(schedule_factor(with(constant, 4), t, 12) == 1);
    CHECK(schedule_factor(with(cosine, 4), t, 12) == schedule_factor(cosine, t - 4, 8));
    CHECK(schedule_factor(with(linear, 4), t, 12) == static_cast<double>(13 - t) / 8);
    CHECK(schedule_factor(with(inverse, 4), t, 12) == std::sqrt(4.0 / static_cast<double>(t)));
  }
}

TEST_CASE("schedule: inverse square root by hand") {
  CHECK(schedule_factor(inverse, 1, 100) == 1);
  CHECK(schedule_factor(inverse, 4, 100) == 0.5);
  CHECK(schedule_factor(inverse, 100, 100) == 0.1);
  CHECK(schedule_factor(with(inverse, 4), 16, 100) == 0.5);
  CHECK(schedule_factor(with(inverse, 25), 100, 100) == 0.5);
  CHECK(schedule_factor(with(inverse, 25), 100, 5000) == 0.5);  // the length of the run does not matter
}

TEST_CASE("schedule: cosine and linear end at the final factor, one step after the last") {
  // Half way, t = 5 of 8: s = 1/2, both are the mean of 1 and the end.
  for (const ScheduleConfig& shape : {cosine, linear}) {
    CHECK(schedule_factor(with(shape, 0, 0.5), 1, 8) == 1);
    CHECK(schedule_factor(with(shape, 0, 0.5), 5, 8) == doctest::Approx(0.75).epsilon(1e-15));
    CHECK(schedule_factor(with(shape, 0, 0.5), 9, 8) == 0.5);
    CHECK(schedule_factor(with(shape, 0, 0.5), 1000, 8) == 0.5);
    CHECK(schedule_factor(with(shape, 0, 1), 7, 8) == doctest::Approx(1).epsilon(1e-15));
    CHECK(schedule_factor(with(shape, 3, 0.25), 4, 11) == 1);
    CHECK(schedule_factor(with(shape, 3, 0.25), 12, 11) == 0.25);
  }
  CHECK(schedule_factor(with(linear, 0, 0.5), 8, 8) == 0.5625);
  CHECK(schedule_factor(linear, 8, 8) == 0.125);
  CHECK(schedule_factor(linear, 9, 8) == 0);
  // s = 1/3: (1 + cos 60) / 2 = 3/4
  CHECK(schedule_factor(with(cosine, 0, 0.2), 2, 3) == doctest::Approx(0.2 + 0.8 * 0.75).epsilon(1e-15));
}

TEST_CASE("schedule: total: step 0 is step 1, and no count overflows") {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (const ScheduleConfig& shape : {constant, cosine, linear, inverse})
    for (const std::uint64_t warmup : {std::uint64_t{0}, std::uint64_t{10}, most})
      for (const std::uint64_t steps : {std::uint64_t{0}, std::uint64_t{5}, most}) {
        const ScheduleConfig schedule = with(shape, warmup, 0.1);
        CHECK(schedule_factor(schedule, 0, steps) == schedule_factor(schedule, 1, steps));
        for (const std::uint64_t step : {std::uint64_t{1}, std::uint64_t{6}, std::uint64_t{11}, most}) {
          const double factor = schedule_factor(schedule, step, steps);
          CHECK(factor > 0);
          CHECK(factor <= 1);
        }
      }
}

TEST_CASE("schedule config: names, maps and absence") {
  CHECK(parsed("{}") == constant);
  CHECK(parsed("{schedule: constant}") == constant);
  CHECK(parsed("{schedule: cosine}") == cosine);
  CHECK(parsed("{schedule: linear}") == linear);
  CHECK(parsed("{schedule: inverse_square_root}") == inverse);
  CHECK(parsed("{schedule: {shape: cosine}}") == cosine);
  CHECK(parsed("{schedule: {warmup: 7}}") == with(constant, 7));
  CHECK(parsed("{schedule: {shape: linear, warmup: 100, final: 0.1}}") == with(linear, 100, 0.1));
  CHECK(parsed("{schedule: {shape: inverse_square_root, warmup: 100}}") == with(inverse, 100));
}

TEST_CASE("schedule config: what is wrong is named, with file, key and choices") {
  const auto says = [](const std::string& yaml, const std::vector<std::string>& parts) {
    const std::string message = error_of(yaml);
    INFO(message);
    for (const std::string& part : parts) CHECK(message.find(part) != std::string::npos);
  };
  says("{schedule: cosin}", {"f.yaml, key schedule", "nearest is cosine",
                             "allowed: constant, cosine, inverse_square_root, linear"});
  says("{schedule: [cosine]}", {"key schedule", "a map is needed"});
  says("{schedule: {shape: step}}", {"key schedule.shape", "given 'step'"});
  says("{schedule: {shape: cosine, warmup: -1}}", {"key schedule.warmup", "given '-1'"});
  says("{schedule: {shape: cosine, warmup: 1.5}}", {"key schedule.warmup", "given '1.5'"});
  says("{schedule: {shape: cosine, final: 2}}", {"key schedule.final", "[0, 1]"});
  says("{schedule: {shape: cosine, finall: 0.5}}", {"key schedule.finall", "nearest is final"});
  says("{schedule: {shape: constant, final: 0.5}}",
       {"key schedule.final", "given '0.5'", "cosine or linear"});
  says("{schedule: {shape: inverse_square_root, final: 0}}", {"key schedule.final", "cosine or linear"});
}

TEST_CASE("schedule config: a plain schedule is written as its name, so that keys of old records stay") {
  const auto text = [](const ScheduleConfig& schedule) { return to_json(schedule).dump(); };
  CHECK(text(constant) == R"("constant")");
  CHECK(text(cosine) == R"("cosine")");
  CHECK(text(linear) == R"("linear")");
  CHECK(text(inverse) == R"("inverse_square_root")");
  CHECK(text(parsed("{schedule: {shape: cosine, warmup: 0, final: 0}}")) == R"("cosine")");
  CHECK(text(with(cosine, 10)) == R"({"shape":"cosine","warmup":10,"final":0.0})");
  CHECK(text(with(linear, 0, 0.5)) == R"({"shape":"linear","warmup":0,"final":0.5})");
  CHECK(text(with(constant, 3)) == R"({"shape":"constant","warmup":3})");
  for (const ScheduleConfig& schedule : {constant, cosine, linear, inverse, with(cosine, 10),
                                         with(linear, 0, 0.5), with(inverse, 9), with(constant, 3)})
    CHECK(parsed("{schedule: " + text(schedule) + "}") == schedule);
}

}  // namespace
}  // namespace halfulp
