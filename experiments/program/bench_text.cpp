#include "experiments/program/bench_text.h"

#include <fmt/format.h>

#include <optional>
#include <type_traits>

#include "experiments/program/table.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

const char* const method =
    "A ratio is the median over repetitions of time / time of the reference, both in the same repetition and "
    "in "
    "turns, with 10 and 90 % quantiles. One thread: its processor time; more: wall clock. Every run starts "
    "from the same "
    "standard normal input. Goals are of one thread, at 16 Mi elements, on AVX-512; two threads should reach "
    "1.8 times "
    "one. Reference read-modify-write: in place, ordinary stores, no prefetch. GB/s: bytes read + written, "
    "without "
    "write-allocate traffic.";
const char* const peers =
    "NumPy's and PyTorch's conversions on this machine: python3 experiments/bench/peers.py, one JSON line "
    "each.";

/// How many times as fast as on one thread; nullopt where that was not measured, and for one thread itself.
std::optional<double> speedup_of(const Measurement& row, const std::vector<Measurement>& rows) {
  if (row.threads == 1) return std::nullopt;
  for (const Measurement& one : rows)
    if (one.threads == 1 && one.work.name == row.work.name) return one.ns.median / row.ns.median;
  return std::nullopt;
}

std::string number(double x) { return fmt::format("{:.{}f}", x, x < 10 ? 3 : x < 100 ? 2 : 1); }
std::string range(const Quantiles& q) { return number(q.low) + "-" + number(q.high); }

std::string goal_text(const Work& work) {
  if (work.goal_ratio) return fmt::format("{:.2f}", *work.goal_ratio);
  return work.goal_ns ? fmt::format("{:.2f} ns", *work.goal_ns) : "-";
}

/// Read and written, of an element: "4+2".
std::string bytes_text(const Work& work) { return fmt::format("{}+{}", work.bytes_read, work.bytes_written); }

std::string elements_text(std::size_t elements) {
  const std::size_t mebi = std::size_t{1} << 20;
  return elements % mebi == 0 ? fmt::format("{} Mi", elements / mebi) : std::to_string(elements);
}

std::vector<std::string> line_of(const Measurement& row, const std::vector<Measurement>& rows) {
  const std::optional<double> speedup = speedup_of(row, rows);
  const std::optional<bool> reached = row.reaches_goal();
  return {row.work.name,
          std::to_string(row.threads),
          elements_text(row.elements),
          bytes_text(row.work),
          number(row.ns.median),
          range(row.ns),
          fmt::format("{:.1f}", row.gigabytes_per_second()),
          row.ratio ? number(row.ratio->median) : "-",
          row.ratio ? range(*row.ratio) : "-",
          row.threads == 1 ? goal_text(row.work) : "-",
          !reached   ? "-"
          : *reached ? "yes"
                     : "no",
          speedup ? fmt::format("{:.2f}", *speedup) : "-",
          row.work.reference.empty() ? "-" : row.work.reference};
}

std::string machine_text(const BenchMachine& m) {
  constexpr double mebibyte = 1 << 20;
  return fmt::format(
      "Machine: {}, {} cores, load {:.2f} before and {:.2f} after; references on {}; {:.1f} of {:.1f} MiB of "
      "the "
      "input on 2 MiB pages. Build: halfulp {} ({}), {}, {}.",
      m.processor, m.cores, m.load_before, m.load_after, m.target,
      static_cast<double>(m.input_bytes_on_huge_pages) / mebibyte,
      static_cast<double>(m.input_bytes) / mebibyte, m.version, m.commit, m.compiler, m.flags);
}

Json json_of(const Quantiles& q) { return {{"median", q.median}, {"low", q.low}, {"high", q.high}}; }
template <class T>
Json json_of(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_same_v<T, Quantiles>)
    return json_of(*value);
  else
    return *value;
}

Json json_of(const Measurement& row, const std::vector<Measurement>& rows) {
  return {{"name", row.work.name},
          {"what", row.work.what},
          {"threads", row.threads},
          {"elements", row.elements},
          {"repetitions", row.repetitions},
          {"bytes_read", row.work.bytes_read},
          {"bytes_written", row.work.bytes_written},
          {"ns", json_of(row.ns)},
          {"gigabytes_per_second", row.gigabytes_per_second()},
          {"reference", row.work.reference.empty() ? Json(nullptr) : Json(row.work.reference)},
          {"reference_ns", json_of(row.reference_ns)},
          {"ratio", json_of(row.ratio)},
          {"goal_ratio", json_of(row.work.goal_ratio)},
          {"goal_ns", json_of(row.work.goal_ns)},
          {"reached", json_of(row.reaches_goal())},
          {"speedup", json_of(speedup_of(row, rows))}};
}

}  // namespace

std::string bench_list(const std::vector<Work>& works) {
  std::vector<std::vector<std::string>> table{{"row", "bytes", "goal", "ratio to", "what"}};
  for (const Work& work : works)
    table.push_back({work.name, bytes_text(work), goal_text(work),
                     work.reference.empty() ? "-" : work.reference, work.what});
  return aligned(table);
}

std::string bench_table(const std::vector<Measurement>& rows, const BenchMachine& machine) {
  std::vector<std::vector<std::string>> table{{"row", "threads", "elements", "bytes", "ns/element", "10-90 %",
                                               "GB/s", "ratio", "10-90 %", "goal", "reached", "x 1 thread",
                                               "ratio to"}};
  for (const Measurement& row : rows) table.push_back(line_of(row, rows));
  return fmt::format("{}\n{}\nMethod: {} repetitions. {}\n{}\n", aligned(table), machine_text(machine),
                     rows.front().repetitions, method, peers);
}

Json bench_json(const std::vector<Measurement>& rows, const BenchMachine& machine) {
  Json list = Json::array();
  for (const Measurement& row : rows) list.push_back(json_of(row, rows));
  return {{"machine",
           {{"processor", machine.processor},
            {"cores", machine.cores},
            {"load_before", machine.load_before},
            {"load_after", machine.load_after},
            {"target", machine.target},
            {"input_bytes", machine.input_bytes},
            {"input_bytes_on_huge_pages", machine.input_bytes_on_huge_pages},
            {"compiler", machine.compiler},
            {"flags", machine.flags},
            {"version", machine.version},
            {"commit", machine.commit}}},
          {"method", method},
          {"rows", list}};
}

}  // namespace halfulp
