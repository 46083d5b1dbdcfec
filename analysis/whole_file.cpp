#include "analysis/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

#include "formats/error.h"

namespace halfulp {
namespace {

[[noreturn]] void refuse(const std::string& path, int reason) {
  throw Error(path, "cannot be written: " + std::generic_category().message(reason), path,
              "a file in an existing folder that may be written");
}

/// A finished file under another name in the folder of its path. Removes itself unless it was moved there.
class StagedFile {
 public:
  explicit StagedFile(const FileContent& file) : path_(file.path) {
    const int descriptor = create();
    const int failure = fill(descriptor, file.content);
    if (failure == 0) return;
    remove();
    refuse(path_, failure);
  }
  StagedFile(StagedFile&& other) noexcept : path_(std::move(other.path_)), name_(std::move(other.name_)) {
    other.name_.clear();
  }
  StagedFile& operator=(StagedFile&&) = delete;
  ~StagedFile() { remove(); }

  void move_into_place() {
    if (std::rename(name_.c_str(), path_.c_str()) != 0) refuse(path_, errno);
    name_.clear();
    sync_folder();
  }

 private:
  void remove() noexcept {
    if (!name_.empty()) ::unlink(name_.c_str());
    name_.clear();
  }

  /// A new file that no other process or thread writes: O_EXCL decides, the numbers only make a clash rare.
  int create() {
    if (std::filesystem::path(path_).filename().empty()) refuse(path_, EISDIR);
    for (int attempt = 0;; ++attempt) {
      name_ = path_ + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
      const int descriptor = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor >= 0) return descriptor;
      const int reason = errno;
      if (reason == EEXIST || reason == EINTR) continue;
      name_.clear();
      refuse(path_, reason);
    }
  }

  /// 0, or the errno of the first call that failed. Closes the descriptor.
  static int fill(int descriptor, std::string_view content) noexcept {
    int failure = 0;
    while (!content.empty() && failure == 0) {
      const ssize_t written = ::write(descriptor, content.data(), content.size());
      if (written >= 0)
        content.remove_prefix(static_cast<std::size_t>(written));
      else if (errno != EINTR)
        failure = errno;
    }
    if (failure == 0 && ::fsync(descriptor) != 0 && errno != EINVAL) failure = errno;
    if (::close(descriptor) != 0 && failure == 0) failure = errno;
    return failure;
  }

  /// The rename itself reaches the disk with the folder. A folder that cannot be opened for reading only
  /// loses that.
  void sync_folder() const noexcept {
    const std::string folder = std::filesystem::path(path_).parent_path().string();
    const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    ::fsync(descriptor);
    ::close(descriptor);
  }

  std::string path_, name_;
};

}  // namespace

void write_whole_files(std::span<const FileContent> files) {
  std::vector<StagedFile> staged;
  staged.reserve(files.size());
  for (const FileContent& file : files) staged.emplace_back(file);
  for (StagedFile& file : staged) file.move_into_place();
}

void write_whole_file(const std::string& path, std::string_view content) {
  const FileContent file{path, content};
  write_whole_files({&file, 1});
}

}  // namespace halfulp
