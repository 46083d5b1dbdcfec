#pragma once
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/run_config.h"
#include "formats/error.h"

namespace halfulp::test {

/// A run config from YAML text, with settings over it as --set does.
inline RunConfig config_of(const std::string& yaml, const std::vector<std::string>& settings = {}) {
  const YAML::Node node = YAML::Load(yaml);
  for (const std::string& setting : settings) apply_setting(node, setting);
  return parse_run_config(node, "toy.yaml");
}

inline const std::string toy = R"(
problem: {name: ill_conditioned, size: 600}
rule: {name: adamw, eta: 1e-2}
plan: {scheme: bf16/fp8}
steps: 12
trace_every: 5
)";

/// Diverges in its fourth step: the decay multiplies by about -1e12 a step.
inline const std::string diverging = R"(
problem: {name: zero_initialized, size: 8}
rule: {name: adamw, eta: 1e6, weight_decay: 1e6}
plan: {scheme: fp32}
steps: 50
)";

/// The message of the Error that f throws; empty if it throws none.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::vector<std::string>& parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return text.find(part) != std::string::npos; });
}

/// A folder of its own, gone with everything in it at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "halfulp-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw Error("test", "no temporary folder", name, "a writable folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline void write(const std::string& path, const std::string& text, bool append = false) {
  std::ofstream(path, append ? std::ios::app : std::ios::trunc) << text;
}

/// Lines of the folder's record files, sorted.
inline std::vector<std::string> record_lines(const std::string& folder) {
  std::vector<std::string> lines;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("records")) continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace halfulp::test
