// Pictures of what was remembered of every element: what is drawn of made records, by hand.
#include <doctest/doctest.h>

#include "experiments/report/report_figure.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

/// One problem of one group for each run.
ProblemRuns problem_of(const std::vector<Json>& runs) {
  ProblemRuns problem{"toy", ProblemKind::toy, "train", {}, {}};
  for (const Json& run : runs)
    problem.groups.push_back(
        {"bf16/fp32", "adamw", "adamw", problem.groups.empty() ? "" : "eta=2", true, {&run}});
  return problem;
}

Json with_window(double share) {
  Json run;
  run["measurements"]["harmful_stagnation"] = Json::array(
      {{{"tensor", "w"}, {"weight_slot", 0}, {"window", 100}, {"harmful_share", {0.0, share, share / 2}}}});
  return run;
}

TEST_CASE("memory figures: harmful windows end at multiples of their length, the worst run first") {
  const std::vector<Json> runs{with_window(0.25), with_window(0.5)};
  const auto figures = memory_figures(problem_of(runs));
  REQUIRE(figures.size() == 1);
  CHECK(figures[0].name == "toy_harmful_share");
  REQUIRE(figures[0].figure.series.size() == 2);
  CHECK(figures[0].figure.series[0].label == "adamw (eta=2), bf16/fp32");
  CHECK(figures[0].figure.series[0].x == std::vector<double>{100, 200, 300});
  CHECK(figures[0].figure.series[0].y == std::vector<double>{0, 0.5, 0.25});
  CHECK(figures[0].figure.series[1].y == std::vector<double>{0, 0.25, 0.125});
}

TEST_CASE("memory figures: nothing measured, too little to see, or one window alone draws nothing") {
  Json one = with_window(0.5);
  one["measurements"]["harmful_stagnation"][0]["harmful_share"] = {0.5};
  for (const Json& run : {Json{}, with_window(0.009), one}) CHECK(memory_figures(problem_of({run})).empty());
}

TEST_CASE("memory figures: of all dwells, finished or not, the share that lasts as long") {
  Json run;
  // 4 of one step, 2 of two or three; and of those that had not ended one of one step, 3 of four to seven.
  const Json times = {{"finished", {{"lowest_exponent", 0}, {"counts", {4, 2, 0, 0}}}},
                      {"unfinished", {{"lowest_exponent", 0}, {"counts", {1, 0, 3, 0}}}}};
  for (const int slot : {0, 1})
    run["measurements"]["dwell"].push_back({{"tensor", "w"}, {"weight_slot", slot}, {"near_zero", times}});
  const std::vector<Json> runs{run};
  const auto figures = memory_figures(problem_of(runs));
  REQUIRE(figures.size() == 1);
  REQUIRE(figures[0].figure.series.size() == 2);
  const Series& line = figures[0].figure.series[0];
  CHECK(line.label == "adamw, bf16/fp32, w");
  CHECK(figures[0].figure.series[1].label == "adamw, bf16/fp32, w part 2");
  CHECK(line.x == std::vector<double>{1, 2, 4});
  CHECK(line.y == std::vector<double>{1, 0.5, 0.3});
}

TEST_CASE("memory figures: a line for each tensor whose gradient variance is in the trace") {
  Json run;
  run["trace"] = {{"step", {10, 20}},
                  {"loss", {1, 2}},
                  {"gradient_variance a", {3, nullptr}},
                  {"gradient_variance b", {5, 6}}};
  const std::vector<Json> runs{run};
  const auto figures = memory_figures(problem_of(runs));
  REQUIRE(figures.size() == 1);
  REQUIRE(figures[0].figure.series.size() == 2);
  CHECK(figures[0].figure.series[0].label == "adamw, bf16/fp32, b");
  CHECK(figures[0].figure.series[0].y == std::vector<double>{5, 6});
  CHECK(figures[0].figure.y.scale == AxisScale::log10);
}

}  // namespace
}  // namespace halfulp
