#pragma once
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats/catalog.h"
#include "formats/encode.h"
#include "formats/preset.h"
#include "formats/spec.h"

namespace halfulp::test {

/// The preset with another rounding and overflow policy: its functions take both as arguments.
struct CudaConversion {
  ScalarFormat format;
  Rounding rounding;
  SpecialValues special;

  CudaConversion(const ScalarFormat& f, Rounding r, OverflowPolicy overflow)
      : format(f), rounding(r), special(special_under_preset(unscaled(f), parse_preset("cuda"))) {
    special.overflow = overflow;
  }
  std::uint32_t operator()(double x) const { return convert(x, format, rounding, special, 0); }
};

/// One of tests/vectors/cuda_host: a host conversion of the CUDA 13.0 headers as the first non-negative fp32 value of each
/// code, ascending; with monotony that is the whole function. `special` lists other inputs.
struct CudaHostTable {
  struct Entry {
    std::uint32_t bits, code;
  };
  std::string name;
  ScalarFormat format;
  Rounding rounding{RoundingMode::nearest_even, 0};
  OverflowPolicy overflow = OverflowPolicy::saturate;
  std::vector<Entry> special, transitions;
};

/// errors: throws std::runtime_error with the line that cannot be read.
inline std::vector<CudaHostTable> cuda_host_tables() {
  std::vector<CudaHostTable> all;
  for (const auto& entry :
       std::filesystem::directory_iterator(HALFULP_SOURCE_DIR "/tests/vectors/cuda_host")) {
    CudaHostTable& table = all.emplace_back();
    table.name = entry.path().filename().string();
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::istringstream in(line);
      std::string key, value;
      in >> key;
      if (key == "#") continue;
      if (key == "transitions" || key == "special") {
        for (std::string item; in >> item;) {
          const std::size_t colon = item.find(':');
          (key == "special" ? table.special : table.transitions)
              .push_back({static_cast<std::uint32_t>(std::stoul(item.substr(0, colon), nullptr, 16)),
                          static_cast<std::uint32_t>(std::stoul(item.substr(colon + 1), nullptr, 16))});
        }
      } else if (key == "format" && in >> value) {
        table.format = parse_scalar_format(value);
      } else if (key == "rounding" && in >> value) {
        table.rounding = parse_rounding(value);
      } else if (key == "overflow" && in >> value) {
        table.overflow = parse_overflow(value);
      } else {
        throw std::runtime_error(table.name + ": " + line);
      }
    }
  }
  return all;
}

}  // namespace halfulp::test
