// The host conversion functions of the CUDA 13.0 toolkit as a table of transitions: each entry is the first
// fp32 value that gives a code. Together with monotony this fixes the whole function on non-negative fp32.
//
// Left out, because CUDA's choice differs from the conventions of this library and its own preset would state
// it: NaN (CUDA's float path drops the sign), and negative inputs to E8M0 (CUDA converts the magnitude, here
// NaN).
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "formats/encode.h"
#include "formats/spec.h"

using namespace halfulp;

namespace {

struct Entry {
  std::uint32_t bits, code;
};

struct Table {
  ScalarFormat format;
  Rounding rounding{RoundingMode::nearest_even, 0};
  OverflowPolicy overflow = OverflowPolicy::saturate;
  std::vector<Entry> special, transitions;
};

std::vector<Entry> read_entries(std::istringstream& in) {
  std::vector<Entry> entries;
  for (std::string item; in >> item;) {
    const std::size_t colon = item.find(':');
    entries.push_back({static_cast<std::uint32_t>(std::stoul(item.substr(0, colon), nullptr, 16)),
                       static_cast<std::uint32_t>(std::stoul(item.substr(colon + 1), nullptr, 16))});
  }
  return entries;
}

Table read_table(const std::filesystem::path& path) {
  Table table;
  std::ifstream file(path);
  REQUIRE(file.is_open());
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string key, value;
    in >> key;
    if (key == "transitions") {
      for (const Entry& entry : read_entries(in)) table.transitions.push_back(entry);
    } else if (key == "special") {
      table.special = read_entries(in);
    } else if (key == "format" && in >> value) {
      table.format = parse_scalar_format(value);
    } else if (key == "rounding" && in >> value) {
      table.rounding = parse_rounding(value);
    } else if (key == "overflow" && in >> value) {
      table.overflow = parse_overflow(value);
    } else {
      REQUIRE(key == "#");
    }
  }
  return table;
}

std::uint32_t convert_bits(const Table& table, std::uint32_t bits) {
  return convert(double{real_of(bits)}, table.format, table.rounding, special_values(table.overflow), 0);
}

/// At the transition, one fp32 value below it, and the same with the sign set.
void check_transitions(const Table& table) {
  const std::uint32_t sign = std::uint32_t{1} << (table.format.bits() - 1);
  for (std::size_t i = 0; i < table.transitions.size(); ++i) {
    const Entry& entry = table.transitions[i];
    INFO("fp32 bits ", entry.bits);
    CHECK(convert_bits(table, entry.bits) == entry.code);
    if (i > 0) CHECK(convert_bits(table, entry.bits - 1) == table.transitions[i - 1].code);
    if (!table.format.is_signed) continue;
    CHECK(convert_bits(table, entry.bits | 0x8000'0000u) == (entry.code | sign));
    if (i > 0)
      CHECK(convert_bits(table, (entry.bits - 1) | 0x8000'0000u) == (table.transitions[i - 1].code | sign));
  }
  CHECK(convert_bits(table, 0x7f80'0000u) == table.transitions.back().code);
}

}  // namespace

TEST_CASE("cuda host: production changes its code exactly where the CUDA 13.0 host functions do") {
  int tables = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(HALFULP_SOURCE_DIR "/tests/vectors/cuda_host")) {
    const Table table = read_table(file.path());
    INFO(file.path().filename().string());
    REQUIRE(table.transitions.size() >= 8);
    check_transitions(table);
    for (const Entry& entry : table.special) {
      const float x = real_of(entry.bits);
      if (x != x || (!table.format.is_signed && x < 0)) continue;
      CHECK(convert_bits(table, entry.bits) == entry.code);
    }
    ++tables;
  }
  CHECK(tables == 14);
}
