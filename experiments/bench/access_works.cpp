#include <fmt/format.h>

#include <memory>
#include <numeric>

#include "experiments/bench/access_patterns.h"
#include "experiments/bench/huge_array.h"
#include "experiments/bench/reference_kernels.h"
#include "experiments/bench/works.h"
#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {
namespace {

double sum_of(const std::vector<std::size_t>& bytes) {
  return static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}));
}

PreparedWork prepare_access(const AccessPattern& pattern, const Bench& bench) {
  const auto arrays = std::make_shared<std::vector<std::unique_ptr<HugeArray<std::uint8_t>>>>();
  const auto streams = std::make_shared<std::vector<AccessStream>>();
  const auto add = [&](std::size_t bytes, bool is_written) {
    arrays->push_back(std::make_unique<HugeArray<std::uint8_t>>(bytes * bench.elements()));
    streams->push_back({arrays->back()->data(), bytes, is_written});
  };
  for (const std::size_t bytes : pattern.written) add(bytes, true);
  for (const std::size_t bytes : pattern.read) add(bytes, false);
  return {[arrays, streams, bench] {
    for_each_part(bench, [&](std::size_t first, std::size_t count) {
      std::vector<AccessStream> part = *streams;
      for (AccessStream& stream : part) stream.data += first * stream.bytes;
      keep(access_streams(part.data(), part.size(), count));
    });
  }};
}

}  // namespace

double AccessPattern::bytes_read() const noexcept { return sum_of(written) + sum_of(read); }
double AccessPattern::bytes_written() const noexcept { return sum_of(written); }

const std::vector<AccessPattern>& access_patterns() {
  static const std::vector<AccessPattern> patterns{
      {access_22, "bf16 w, g; f32 m, v", {2, 4, 4}, {2}},
      {access_20, "bf16 m+, m-, two states, two gradients", {2, 2, 2, 2}, {2, 2}},
      {access_18, "bf16 w, g and three states", {2, 2, 2, 2}, {2}},
      {access_14, "bf16 w, g, m, v", {2, 2, 2}, {2}},
      {access_12, "one byte w; bf16 g, m, v", {1, 2, 2}, {2}},
      {access_10, "bf16 w, g, v", {2, 2}, {2}},
  };
  return patterns;
}

const AccessPattern& access_pattern(const std::string& name) {
  std::vector<std::string> names;
  for (const AccessPattern& pattern : access_patterns()) {
    if (pattern.name == name) return pattern;
    names.emplace_back(pattern.name);
  }
  throw Error("access pattern", "no such pattern", name, name_list(names));
}

std::vector<Work> access_works() {
  std::vector<Work> works;
  for (const AccessPattern& pattern : access_patterns())
    works.push_back({.name = pattern.name,
                     .what = fmt::format("{}: read, all but gradients written in place; ordinary stores, no "
                                         "prefetch, no arithmetic",
                                         pattern.arrays),
                     .bytes_read = pattern.bytes_read(),
                     .bytes_written = pattern.bytes_written(),
                     .reference = "",
                     .prepare = [&pattern](const Bench& bench) { return prepare_access(pattern, bench); }});
  return works;
}

}  // namespace halfulp
