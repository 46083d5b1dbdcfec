#include "experiments/record_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "formats/error.h"

namespace halfulp {
namespace {

namespace fs = std::filesystem;

/// Length of the file up to and including its last line end.
std::uintmax_t whole_lines(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return content.find_last_of('\n') + 1;  // npos + 1 is 0
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error("records", what, path + " (" + std::strerror(errno) + ")",
              "a folder this process may write to");
}

}  // namespace

RecordFile::RecordFile(const std::string& folder, const std::string& name)
    : path_((fs::path(folder) / name).string()) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw Error("records", "the folder cannot be made", folder + " (" + failed.message() + ")", "a folder");
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) refuse(path_, "the file cannot be opened");
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(file_);
    throw Error("records", "another process is writing to this file", path_, "one process per shard");
  }
  good_ = static_cast<long long>(whole_lines(path_));
  if (::ftruncate(file_, static_cast<off_t>(good_)) != 0) refuse(path_, "a torn line cannot be dropped");
}

RecordFile::~RecordFile() { ::close(file_); }

void RecordFile::append(const nlohmann::ordered_json& line) {
  const std::string text = line.dump() + "\n";
  const std::lock_guard lock(mutex_);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file_, text.data() + done, text.size() - done);
    if (written > 0) done += static_cast<std::size_t>(written);
    if (written >= 0 || errno == EINTR) continue;
    // Half a line would glue onto the next one.
    const int reason = errno;
    const bool dropped = ::ftruncate(file_, static_cast<off_t>(good_)) == 0;
    errno = reason;
    refuse(path_,
           dropped ? "the line cannot be written" : "the line cannot be written, nor its half dropped");
  }
  good_ += static_cast<long long>(text.size());
  if (::fdatasync(file_) != 0) refuse(path_, "the line cannot be flushed to the disk");
}

std::vector<nlohmann::ordered_json> read_records(const std::string& folder) {
  if (!fs::is_directory(folder))
    throw Error("records", "no such folder", folder, "a folder that a run or a sweep wrote");
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("records") && name.ends_with(".jsonl")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<nlohmann::ordered_json> records;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
      if (in.eof()) break;  // no line end: torn
      auto record = nlohmann::ordered_json::parse(line, nullptr, false);
      const bool is_record = record.is_object() && record.contains("key") && record.at("key").is_string();
      if (!is_record)
        throw Error(file.string() + ", line " + std::to_string(number), "no JSON record", line.substr(0, 80),
                    "one JSON object with a key per line");
      records.push_back(std::move(record));
    }
  }
  return records;
}

}  // namespace halfulp
