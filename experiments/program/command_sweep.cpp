#include <fmt/format.h>

#include <thread>

#include "experiments/program/command.h"
#include "experiments/program/progress.h"
#include "experiments/sweep.h"
#include "experiments/sweep_config.h"

namespace halfulp {
namespace {

struct SweepOptions {
  std::string config, out, shard;
  std::vector<std::string> settings;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
};

void sweep_command(const SweepOptions& options) {
  const Shard shard = parse_shard(options.shard);
  if (shard.count > 1) print_message(fmt::format("doing shard {}/{} of the sweep", shard.index, shard.count));
  const std::vector<RunConfig> runs = parse_sweep_config(options.config, options.settings);
  SweepReport report;
  {
    ProgressBar bar("sweep");
    report = sweep(runs, options.out, shard, options.threads,
                   [&](std::size_t finished, std::size_t total) { bar.show(finished, total); });
  }
  for (const std::string& run : report.diverged) print_message("warning: diverged: " + run);
  print_result(fmt::format("{} runs, {} of them already there, {} diverged; records in {}\n", report.total,
                           report.already, report.diverged.size(), options.out));
}

}  // namespace

void add_sweep_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("sweep", "do every run of a grid that has no record yet");
  auto options = std::make_shared<SweepOptions>();
  command->add_option("config", options->config, "YAML file of the sweep")->required();
  command->add_option("--out", options->out, "folder of the records")->required();
  command->add_option("--shard", options->shard, "i/n: every n-th run from the i-th; else from Slurm or MPI");
  command->add_option("--set", options->settings, "KEY=VALUE, over the base of the sweep; may be repeated")
      ->take_all();
  command->add_option("--threads", options->threads, "runs at a time (default: one per core)")
      ->check(CLI::Range(1, 1024));
  command->footer(
      "Example:\n  halfulp sweep experiments/configs/demo.yaml --out results/demo\nStopped at any point, the "
      "same "
      "command goes on where it was.");
  command->callback([options] { sweep_command(*options); });
}

}  // namespace halfulp
