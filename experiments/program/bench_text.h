#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/bench/measure.h"

namespace halfulp {

/// What a whole bench was run on.
struct BenchMachine {
  std::string processor, compiler, flags, version, commit;
  std::string target;              ///< instruction set of the access patterns: "AVX2"
  unsigned cores;                  ///< that the system shows
  double load_before, load_after;  ///< processes that ran or waited, mean of the last minute
  std::size_t input_bytes, input_bytes_on_huge_pages;
};

/// What the rows are, one a line: bytes of an element read + written, goal, reference, what it does.
std::string bench_list(const std::vector<Work>& works);

/// A table, one row a line, and what it was measured on and how.
std::string bench_table(const std::vector<Measurement>& rows, const BenchMachine& machine);

/// The same as {machine, method, rows}; null for what a row has not.
nlohmann::ordered_json bench_json(const std::vector<Measurement>& rows, const BenchMachine& machine);

}  // namespace halfulp
