#pragma once
#include <chrono>
#include <optional>
#include <cstddef>
#include <string>

namespace halfulp {

/// A bar on standard error, drawn only on a terminal: share, counts, time left. Nothing is left of it at the
/// end.
class ProgressBar {
 public:
  /// what: a word or two in front of the bar
  explicit ProgressBar(std::string what);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Redraws at most ten times a second.
  void show(std::size_t done, std::size_t total);

 private:
  std::string what_;
  bool is_terminal_;
  std::chrono::steady_clock::time_point start_, drawn_;
  std::optional<std::size_t> first_;  // what was done when it was first shown
};

}  // namespace halfulp
