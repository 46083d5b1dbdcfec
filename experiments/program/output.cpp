#include <cerrno>
#include <cstdio>
#include <system_error>

#include "experiments/program/command.h"
#include "formats/error.h"

namespace halfulp {

void print_result(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  throw Error("standard output", "cannot be written: " + std::generic_category().message(errno),
              "standard output", "a file, terminal or pipe with room");
}

void print_message(const std::string& text) { std::fprintf(stderr, "halfulp: %s\n", text.c_str()); }

}  // namespace halfulp
