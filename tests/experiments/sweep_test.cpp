// Sweeps: one record for each run, whatever the threads, shards and interruptions.
#include "experiments/sweep.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "experiments/record_file.h"
#include "experiments/sweep_config.h"
#include "tests/experiments/toy_configs.h"

namespace halfulp {
namespace {

using test::contains;
using test::error_of;
using test::record_lines;
using test::write;

const std::string sweep_yaml = R"(
base: {problem: {name: zero_initialized, size: 40}, rule: {name: adamw}, plan: {scheme: bf16/fp32}, steps: 6}
seeds: [0, 1]
grid:
  - {rule.name: adamw, rule.eta: [1e-3, 1e-2], plan.scheme: [fp32, fp8/fp8]}
  - {rule.name: [madam, lmd], plan.weights.rounding: stochastic}
)";

std::vector<RunConfig> runs_of(const test::TemporaryFolder& folder, const std::string& yaml,
                               const std::vector<std::string>& settings = {}) {
  write(folder / "sweep.yaml", yaml);
  return parse_sweep_config(folder / "sweep.yaml", settings);
}
std::string sweep_error(const std::string& yaml, const std::vector<std::string>& settings = {}) {
  const test::TemporaryFolder folder;
  return error_of([&] { runs_of(folder, yaml, settings); });
}
SweepReport do_sweep(const std::vector<RunConfig>& runs, const std::string& folder, Shard shard = {},
                     unsigned threads = 1) {
  return sweep(runs, folder, shard, threads, nullptr);
}

TEST_CASE("sweep config: products with the last key fastest, each with every seed, settings over the base") {
  const test::TemporaryFolder folder;
  const std::vector<RunConfig> runs = runs_of(folder, sweep_yaml, {"steps=7"});
  REQUIRE(runs.size() == 12);
  std::vector<std::string> texts;
  for (const RunConfig& run : runs) {
    CHECK(run.steps == 7);
    texts.push_back(rule_label(run.rule, run.plan) + " " + run.plan.scheme + " " + std::to_string(run.seed));
  }
  CHECK(texts[0] == "adamw fp32 0");
  CHECK(texts[1] == "adamw fp32 1");
  CHECK(texts[2] == "adamw fp8/fp8 0");
  CHECK(texts[8] == "madam+sr bf16/fp32 0");
  CHECK(texts[11] == "lmd bf16/fp32 1");
}

TEST_CASE("sweep: threads and shards change nothing but the order of the lines") {
  const test::TemporaryFolder folder;
  const std::vector<RunConfig> runs = runs_of(folder, sweep_yaml);
  CHECK(do_sweep(runs, folder / "one").total == 12);
  do_sweep(runs, folder / "two", {}, 2);
  std::size_t total = 0;
  for (unsigned i = 0; i < 3; ++i) total += do_sweep(runs, folder / "shards", {i, 3}, i + 1).total;
  CHECK(total == 12);
  const auto lines = record_lines(folder / "one");
  CHECK(lines.size() == 12);
  CHECK(record_lines(folder / "two") == lines);
  CHECK(record_lines(folder / "shards") == lines);
  CHECK(std::filesystem::exists(folder / "shards/records-2-of-3.jsonl"));
  // A run by itself on two threads is the same line; one that is there is not made again.
  for (const RunConfig& run : runs) run_into(run, folder / "single", 2, nullptr);
  CHECK(record_lines(folder / "single") == lines);
  run_into(runs[3], folder / "single", 1, nullptr);
  CHECK(record_lines(folder / "single") == lines);
}

TEST_CASE("sweep: stopped anywhere, it goes on; nothing is lost, nothing runs twice") {
  const test::TemporaryFolder folder;
  const std::vector<RunConfig> runs = runs_of(folder, sweep_yaml);
  do_sweep(runs, folder / "whole");
  std::ifstream in(folder / "whole/records.jsonl", std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto lines = record_lines(folder / "whole");
  for (std::size_t cut : {std::size_t{0}, std::size_t{1}, all.size() / 3, all.find('\n'), all.find('\n') + 1,
                          all.size() - 1, all.size()}) {
    CAPTURE(cut);
    const std::string resumed = folder / ("cut" + std::to_string(cut));
    std::filesystem::create_directories(resumed);
    write(resumed + "/records.jsonl", all.substr(0, cut));
    const auto whole = static_cast<std::size_t>(
        std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(cut), '\n'));
    const SweepReport report = do_sweep(runs, resumed, {}, 2);
    CHECK(report.total == 12);
    CHECK(report.already == whole);
    CHECK(record_lines(resumed) == lines);
    CHECK(do_sweep(runs, resumed).already == 12);
    // A sweep in shards finds what an unsharded one did.
    CHECK(do_sweep(runs, resumed, {1, 2}).already == 6);
    CHECK(record_lines(resumed) == lines);
  }
}

TEST_CASE("sweep: diverged runs are recorded and named, the others go on; the same run twice is one") {
  const test::TemporaryFolder folder;
  const std::vector<RunConfig> runs =
      runs_of(folder,
              "base: {problem: {name: zero_initialized, size: 8}, rule: "
              "{name: adamw, weight_decay: 1e6}, plan: {scheme: fp32}, steps: 20}\n"
              "grid: [{rule.eta: [1e6, 1e-9, 1e-9]}]\n");
  CHECK(runs.size() == 3);
  const SweepReport report = do_sweep(runs, folder / "out");
  CHECK(report.total == 2);
  REQUIRE(report.diverged.size() == 1);
  CHECK(contains(report.diverged[0], {"adamw", "fp32", "step 4"}));
  CHECK(record_lines(folder / "out").size() == 2);
}

TEST_CASE("sweep: records of another bits version are made again, the old ones stay") {
  const test::TemporaryFolder folder;
  const std::vector<RunConfig> runs = runs_of(folder, sweep_yaml);
  auto record = nlohmann::ordered_json{{"key", record_key(runs[0])}, {"bits_version", bits_version + 1}};
  RecordFile(folder / "out", "records.jsonl").append(record);
  CHECK(do_sweep(runs, folder / "out").already == 0);
  CHECK(record_lines(folder / "out").size() == 13);
}

TEST_CASE("sweep: a failing run keeps the finished ones, and nothing is left of a sweep that cannot start") {
  const test::TemporaryFolder folder;
  std::vector<RunConfig> runs = runs_of(folder, sweep_yaml);
  runs.push_back(test::config_of("{problem: {name: fashion_mlp, data_set: /nonexistent}, rule: adamw}"));
  CHECK(contains(error_of([&] { do_sweep(runs, folder / "out"); }), {"/nonexistent"}));
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
  CHECK(contains(error_of([&] { run_into(runs.back(), folder / "out", 1, nullptr); }), {"/nonexistent"}));
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_CASE("sweep config: everything wrong is named") {
  const std::string base =
      "base: {problem: {name: quadratic_1d}, rule: {name: adamw}, plan: {scheme: fp32}, steps: 5}\n";
  for (const char* grid : {"grid: 5", "grid: {rule.eta: [1]}", "grid: ", "grid: []"})
    CHECK(contains(sweep_error(base + grid), {"sweep.yaml, key grid", "given '"}));
  CHECK(contains(sweep_error(base + "grid: [5]"), {"key grid[0]", "a map is needed"}));
  for (const char* values : {"[]", "{a: 1}", "[[1]]"})
    CHECK(contains(sweep_error(base + "grid: [{rule.eta: 1}, {rule.eta: " + values + "}]"),
                   {"key grid[1].rule.eta", "allowed: "}));
  CHECK(contains(sweep_error(base + "grid: [{rule.eta: 1, rule.eta: 2}]"), {"grid[0]", "rule.eta", "twice"}));
  CHECK(contains(sweep_error(base + "grid: [{rule.eta: [1, x]}]"), {"key rule.eta", "given 'x'"}));
  CHECK(contains(sweep_error(base + "grid: [{rule.etaa: 1}]"), {"key rule.etaa", "nearest is eta"}));
  CHECK(contains(sweep_error(base + "grid: [{steps.x: 1}]"), {"steps.x", "given 'steps'"}));
  CHECK(contains(sweep_error(base + "seeds: []"), {"key seeds"}));
  CHECK(contains(sweep_error(base + "seeds: [0, x]"), {"key seed", "given 'x'"}));
  CHECK(contains(sweep_error(base + "seedz: [0]"), {"key seedz", "nearest is seeds"}));
  CHECK(contains(sweep_error("grid: [{rule.eta: 1}]"), {"key base"}));
  CHECK(contains(sweep_error("base: 5"), {"sweep.yaml", "given '5'"}));
  CHECK(contains(sweep_error("base: 5", {"steps=3"}), {"given '5'", "allowed: "}));
  CHECK(contains(sweep_error(""), {"key base"}));
  CHECK(contains(sweep_error(base, {"stepz=3"}), {"key stepz"}));
  CHECK(contains(sweep_error(base + "tuned_by: nowhere"), {"key tuned_by", "nowhere"}));
  CHECK(contains(sweep_error(base + "tuned_by: ."), {"key tuned_by", "no tuning record"}));
}

TEST_CASE("shards: i/n, or the launcher's variables; nonsense is refused") {
  for (const char* name : {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
                           "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID", "OMPI_COMM_WORLD_RANK",
                           "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE"})
    ::unsetenv(name);
  CHECK(parse_shard("").count == 1);
  CHECK(parse_shard("2/3").index == 2);
  CHECK(parse_shard("2/3").count == 3);
  for (const char* bad : {"3/3", "0/0", "1", "a/b", "-1/3", "0/3/4", "0x0/3", " 0/3", "0/3x", "/3", "0/", "/",
                          "99999999999/3", "1.0/3"}) {
    CAPTURE(std::string(bad));
    CHECK(contains(error_of([&] { parse_shard(bad); }),
                   {"--shard", "given '" + std::string(bad), "allowed: i/n"}));
  }
  const auto with = [](const std::vector<std::pair<const char*, const char*>>& variables, const char* text) {
    for (const auto& [name, value] : variables) ::setenv(name, value, 1);
    const Shard shard = parse_shard(text);
    for (const auto& [name, value] : variables) ::unsetenv(name);
    return std::to_string(shard.index) + "/" + std::to_string(shard.count);
  };
  CHECK(with({{"SLURM_ARRAY_TASK_ID", "1"}, {"SLURM_ARRAY_TASK_COUNT", "4"}}, "") == "1/4");
  CHECK(with({{"SLURM_ARRAY_TASK_ID", "1"}, {"SLURM_ARRAY_TASK_COUNT", "4"}}, "0/2") == "0/2");
  CHECK(with({{"SLURM_ARRAY_TASK_ID", "4"}, {"SLURM_ARRAY_TASK_COUNT", "4"}, {"SLURM_ARRAY_TASK_MIN", "1"}},
             "") == "3/4");
  CHECK(with({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}}, "") == "2/3");
  CHECK(with({{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}}, "") == "1/3");
  // A batch script has a rank and a number of tasks as well, but only srun makes steps.
  CHECK(with({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "0"}}, "") == "1/4");
  CHECK(with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}, "") == "0/1");
  CHECK(with({{"SLURM_ARRAY_TASK_ID", "1"}}, "") == "0/1");
}

}  // namespace
}  // namespace halfulp
