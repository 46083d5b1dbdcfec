#include "experiments/sweep.h"

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>

#include "experiments/environment.h"
#include "experiments/record_file.h"
#include "formats/error.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

bool parse_whole(std::string_view text, unsigned& value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc{} && end == text.data() + text.size();
}

/// The keys of a folder's records of this bits version.
std::map<std::string, Json> known_records(const std::string& folder) {
  std::map<std::string, Json> known;
  for (Json& record : read_records(folder)) {
    if (record.value("bits_version", 0) != bits_version) continue;
    const std::string key = record.at("key").get<std::string>();
    known.emplace(key, std::move(record));
  }
  return known;
}

std::string file_name(const std::string& stem, Shard shard) {
  if (shard.count == 1) return stem + ".jsonl";
  return stem + "-" + std::to_string(shard.index) + "-of-" + std::to_string(shard.count) + ".jsonl";
}

/// Runs, times and records one config.
Json record_run(const RunConfig& config, SharedWork& shared, ThreadPool* pool, const StepProgress& progress,
                RecordFile& records, RecordFile& environments) {
  const auto begin = std::chrono::steady_clock::now();
  Json record = run(config, shared, pool, progress);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  environments.append(describe_environment(record.at("key"), seconds.count(), pool ? pool->threads() : 1));
  records.append(record);
  return record;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  // Launchers that number their processes: a Slurm array, srun, Open MPI, and MPIs with a PMI.
  constexpr std::array variables{
      std::array{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"}, std::array{"SLURM_PROCID", "SLURM_NTASKS"},
      std::array{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, std::array{"PMI_RANK", "PMI_SIZE"}};
  std::string given = text;
  unsigned first = 0;
  for (const auto& [index, count] : variables) {
    const char *i = std::getenv(index), *n = std::getenv(count);
    if (!given.empty() || !i || !n) continue;
    // A batch script has SLURM_PROCID and SLURM_NTASKS too, without being one of several tasks: only srun makes steps.
    if (std::string_view(index) == "SLURM_PROCID" && !std::getenv("SLURM_STEP_ID")) continue;
    given = std::string(i) + "/" + n;
    // --array=1-4 counts from its smallest number.
    const char* smallest = std::getenv("SLURM_ARRAY_TASK_MIN");
    if (std::string_view(index) == "SLURM_ARRAY_TASK_ID" && smallest) parse_whole(smallest, first);
  }
  if (given.empty()) return {};
  Shard shard;
  const std::size_t slash = given.find('/');
  if (slash == std::string::npos || !parse_whole(std::string_view(given).substr(0, slash), shard.index) ||
      !parse_whole(std::string_view(given).substr(slash + 1), shard.count) || shard.index < first ||
      (shard.index -= first) >= shard.count)
    throw Error("--shard", "no such shard", given, "i/n with 0 <= i < n");
  return shard;
}

SweepReport sweep(const std::vector<RunConfig>& runs, const std::string& folder, Shard shard,
                  unsigned threads, const SweepProgress& progress) {
  SharedWork shared;
  for (const RunConfig& config : runs) shared.prepare(config);
  RecordFile records(folder, file_name("records", shard)),
      environments(folder, file_name("environment", shard));
  const std::map<std::string, Json> known = known_records(folder);
  SweepReport report;
  std::vector<const RunConfig*> todo;
  std::set<std::string> seen;
  for (std::size_t i = shard.index; i < runs.size(); i += shard.count) {
    const std::string key = record_key(runs[i]);
    if (!seen.insert(key).second) continue;  // the same run twice in the grid
    ++report.total;
    if (known.contains(key))
      ++report.already;
    else
      todo.push_back(&runs[i]);
  }

  std::atomic<std::size_t> next = 0, finished = report.already;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < todo.size(); i = next++) try {
        const Json record = record_run(*todo[i], shared, nullptr, nullptr, records, environments);
        const std::lock_guard lock(mutex);
        if (record.at("status") == "diverged")
          report.diverged.push_back(record.at("label").get<std::string>() + " on " +
                                    record.at("config").at("plan").at("scheme").get<std::string>() +
                                    ", step " +
                                    std::to_string(record.at("diverged_at").get<std::uint64_t>()));
        if (progress) progress(++finished, report.total);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = todo.size();
      }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 1; i < threads; ++i) workers.emplace_back(work);
  work();
  workers.clear();
  if (failure) std::rethrow_exception(failure);
  return report;
}

Json run_into(const RunConfig& config, const std::string& folder, unsigned threads,
              const StepProgress& progress) {
  SharedWork shared;
  shared.prepare(config);
  RecordFile records(folder, "records.jsonl"), environments(folder, "environment.jsonl");
  const std::map<std::string, Json> known = known_records(folder);
  if (const auto found = known.find(record_key(config)); found != known.end()) return found->second;
  ThreadPool pool(threads);
  return record_run(config, shared, threads > 1 ? &pool : nullptr, progress, records, environments);
}

}  // namespace halfulp
