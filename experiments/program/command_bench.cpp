#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "emulation/lanes/kernels.h"
#include "experiments/bench/huge_array.h"
#include "experiments/environment.h"
#include "experiments/program/arguments.h"
#include "experiments/program/bench_text.h"
#include "experiments/program/command.h"
#include "experiments/program/progress.h"
#include "formats/error.h"

namespace halfulp {
namespace {

struct BenchOptions {
  std::string elements, repetitions = "11", only;
  std::vector<std::string> threads{"1", "2"};
  bool list = false, json = false;
};

constexpr std::uint64_t usual_elements = 1 << 24, most_elements = 1 << 30, most_repetitions = 1000,
                        most_threads = 256;

/// What the user asks for; nullopt: what each row usually has.
std::optional<std::size_t> read_elements(const BenchOptions& options) {
  if (options.elements.empty()) return std::nullopt;
  const std::size_t elements = read_unsigned(options.elements, "--elements", most_elements);
  if (elements == 0 || elements % part_step != 0)
    throw Error("--elements", "threads take whole pages and blocks", options.elements,
                fmt::format("a multiple of {} from {} to {}", part_step, part_step, most_elements));
  return elements;
}

/// A number that is at least 1.
std::size_t read_count(const std::string& text, const char* option, std::uint64_t largest) {
  const std::size_t count = read_unsigned(text, option, largest);
  if (count == 0) throw Error(option, "nothing to do", text, fmt::format("1 to {}", largest));
  return count;
}

std::vector<unsigned> read_threads(const BenchOptions& options) {
  std::vector<unsigned> threads;
  for (const std::string& text : options.threads)
    threads.push_back(static_cast<unsigned>(read_count(text, "--threads", most_threads)));
  return threads;
}

/// load_after is the load at this moment.
BenchMachine machine_now(const HugeMemory& input) {
  const nlohmann::ordered_json seen = describe_environment("", 0, 1);
  return {.processor = seen.at("processor"),
          .compiler = seen.at("compiler"),
          .flags = seen.at("flags"),
          .version = seen.at("version"),
          .commit = seen.at("commit"),
          .target = lane_kernels().target,
          .cores = std::thread::hardware_concurrency(),
          .load_before = seen.at("load"),
          .load_after = seen.at("load"),
          .input_bytes = input.bytes(),
          .input_bytes_on_huge_pages = input.bytes_on_huge_pages()};
}

void run_bench(const BenchOptions& options) {
  const std::optional<std::size_t> asked = read_elements(options);
  const std::size_t repetitions = read_count(options.repetitions, "--repetitions", most_repetitions);
  const std::vector<unsigned> thread_counts = read_threads(options);
  const std::vector<Work> works = all_works(), chosen = works_with(works, options.only);
  if (options.list) return print_result(bench_list(chosen));

  std::vector<std::unique_ptr<ThreadPool>> pools;
  for (const unsigned threads : thread_counts) pools.push_back(std::make_unique<ThreadPool>(threads));
  const HugeArray<float> input(asked.value_or(usual_elements));
  fill_with_normals(input.all(), *pools.back());
  BenchMachine machine = machine_now(input.memory());

  std::vector<Measurement> rows;
  {
    ProgressBar bar("bench");
    for (const Work& work : chosen)
      for (const auto& pool : pools) {
        bar.show(rows.size(), chosen.size() * pools.size());
        const std::size_t elements = asked.value_or(std::min(work.usual_elements, input.size()));
        rows.push_back(
            measure(work, find_work(works, work.reference), input.all().first(elements), *pool, repetitions));
      }
  }
  machine.load_after = machine_now(input.memory()).load_after;
  print_result(options.json ? bench_json(rows, machine).dump() + "\n" : bench_table(rows, machine));
}

}  // namespace

void add_bench_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "bench", "How fast conversions and steps are, beside the same memory accesses without arithmetic");
  const auto options = std::make_shared<BenchOptions>();
  command->add_option("--elements", options->elements,
                      "of an array, a multiple of 4096 (default 16777216, of optimizer steps 4194304)");
  command->add_option("--repetitions", options->repetitions, "of every row (default 11)");
  command->add_option("--only", options->only, "rows with this in their name");
  command->add_option("--threads", options->threads, "numbers of threads, one row each (default 1,2)")
      ->allow_extra_args(false)
      ->delimiter(',');
  command->add_flag("--list", options->list, "what the rows are, nothing measured");
  command->add_flag("--json", options->json, "one line of JSON");
  command->footer(
      "Leave the machine alone meanwhile; all rows take some minutes. A work is timed in turns with its "
      "reference, "
      "and\ntheir ratio is what counts.\n"
      "Examples:\n"
      "  halfulp bench --only 'nearest even' --threads 1\n"
      "  halfulp bench --json > bench.json");
  command->callback([options] { run_bench(*options); });
}

}  // namespace halfulp
