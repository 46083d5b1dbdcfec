#include "experiments/program/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace halfulp {

ProgressBar::ProgressBar(std::string what)
    : what_(std::move(what)),
      is_terminal_(isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()) {}

ProgressBar::~ProgressBar() {
  if (is_terminal_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::show(std::size_t done, std::size_t total) {
  const auto now = std::chrono::steady_clock::now();
  if (!is_terminal_ || total == 0 || (done < total && now - drawn_ < std::chrono::milliseconds(100))) return;
  drawn_ = now;
  // What was there before this process took it no time.
  const std::size_t made = done - std::min(first_.value_or(done), done);
  if (!first_) first_ = done;
  constexpr std::size_t width = 30;
  const std::size_t filled = width * done / total;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string left =
      made == 0 ? "?" : fmt::format("{:.0f}", seconds / static_cast<double>(made) * static_cast<double>(total - done));
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  const std::string text = fmt::format("\r{} [{}] {}/{}, {} s left\x1b[K", what_, bar, done, total, left);
  std::fputs(text.c_str(), stderr);
}

}  // namespace halfulp
