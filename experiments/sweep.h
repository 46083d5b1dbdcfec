#pragma once
#include <functional>
#include <string>
#include <vector>

#include "experiments/run.h"

namespace halfulp {

/// Which part of a sweep one process does: runs number i, i + n, i + 2n, ...
struct Shard {
  unsigned index = 0, count = 1;
};

/// "i/n" with i < n, or, without a text, from SLURM_ARRAY_TASK_ID and _COUNT or OMPI_COMM_WORLD_RANK and
/// _SIZE.
/// errors: throws Error on anything else.
Shard parse_shard(const std::string& text);

struct SweepReport {
  std::size_t total = 0;              ///< runs of this shard
  std::size_t already = 0;            ///< found finished in the folder
  std::vector<std::string> diverged;  ///< labels and steps, for a warning
};

/// finished: runs done so far, of total, the old ones included.
using SweepProgress = std::function<void(std::size_t finished, std::size_t total)>;

/// Does every run of the shard that has no record yet, one per thread at a time, and appends each record to
/// records.jsonl (records-i-of-n.jsonl for a shard) and where and how fast it ran to environment*.jsonl.
/// Killed at any point, no finished run is lost and none runs twice.
/// errors: throws Error on missing data or a file that cannot be written; what is finished stays.
SweepReport sweep(const std::vector<RunConfig>& runs, const std::string& folder, Shard shard,
                  unsigned threads, const SweepProgress& progress);

/// One run on `threads` threads, recorded in the same way; a record that exists is returned as it is.
nlohmann::ordered_json run_into(const RunConfig& config, const std::string& folder, unsigned threads,
                                const StepProgress& progress);

}  // namespace halfulp
