#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

/// What the program on a device found, as one JSON object: comparisons by name, with how many numbers were compared and
/// how many differed, and rates.
class ParityReport {
 public:
  void compared(const std::string& name, std::uint64_t count, std::uint64_t differing) {
    comparisons_.push_back("{\"name\": \"" + name + "\", \"compared\": " + std::to_string(count) +
                           ", \"differing\": " + std::to_string(differing) + "}");
    differing_ += differing;
    std::fprintf(stderr, "%s: %llu compared, %llu differing\n", name.c_str(),
                 static_cast<unsigned long long>(count), static_cast<unsigned long long>(differing));
  }
  /// gigabytes: moved by one run, of 10^9 bytes; seconds: of one run; of_copy: rate over that of the device's copy.
  void timed(const std::string& name, double gigabytes, double seconds, double of_copy) {
    char line[256];
    std::snprintf(line, sizeof line, R"({"name": "%s", "gigabytes_per_second": %.1f, "of_copy": %.3f})",
                  name.c_str(), gigabytes / seconds, of_copy);
    rates_.emplace_back(line);
    std::fprintf(stderr, "%s: %.1f GB/s, %.2f of a copy\n", name.c_str(), gigabytes / seconds, of_copy);
  }
  std::uint64_t differing() const noexcept { return differing_; }

  /// errors: none
  std::string json(const std::string& device) const {
    const auto list = [](const std::vector<std::string>& items) {
      std::string text;
      for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
      return "[" + text + "]";
    };
    return "{\"device\": \"" + device + "\", \"differing\": " + std::to_string(differing_) +
           ", \"comparisons\": " + list(comparisons_) + ", \"rates\": " + list(rates_) + "}";
  }

 private:
  std::vector<std::string> comparisons_, rates_;
  std::uint64_t differing_ = 0;
};
