#include "analysis/gnuplot.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analysis/whole_file.h"
#include "formats/error.h"

namespace halfulp {
namespace {

/// A folder of its own, gone at the end of the scope.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code failure;
    const auto base = std::filesystem::temp_directory_path(failure);
    std::string name = (failure ? std::filesystem::path("/tmp") : base) / "halfulp-plot-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      throw Error("plot", "no scratch folder can be made", name, "a TMPDIR that may be written");
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path(const char* name) const { return (path_ / name).string(); }
  const std::filesystem::path& folder() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The text as one word of the shell.
std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string run_gnuplot(const std::string& script, const std::string& data) {
  const ScratchFolder scratch;
  write_whole_file(scratch.path("picture.gp"), script);
  write_whole_file(scratch.path(gnuplot_data_name), data);
  const std::string command =
      "cd " + shell_word(scratch.folder().string()) + " && exec gnuplot -d picture.gp 2>messages.txt";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw Error("plot", "no process can be started", "gnuplot", "a free process slot");
  std::string output;
  std::array<char, 1 << 16> chunk;
  for (std::size_t count; (count = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;)
    output.append(chunk.data(), count);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw Error("plot", "gnuplot is not installed", "gnuplot",
                "`apt-get install gnuplot-nox`, or a .csv file");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || output.empty())
    throw Error("plot", "gnuplot failed: " + text_of(scratch.path("messages.txt")), "gnuplot",
                "gnuplot 5.4 or newer");
  return output;
}

std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("''") : std::string(1, c == '\n' ? ' ' : c);
  return word + "'";
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

}  // namespace halfulp
