#pragma once
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace halfulp {

/// One file of JSON lines that one process appends to. Opening takes a lock on it and drops a torn last line,
/// which a killed process may have left; each append is one write of a whole line, flushed to the disk.
class RecordFile {
 public:
  /// errors: throws Error if the folder cannot be made, the file not opened, or another process has it open.
  RecordFile(const std::string& folder, const std::string& name);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Safe from several threads.
  /// errors: throws Error if the disk does not take it.
  void append(const nlohmann::ordered_json& line);

 private:
  std::string path_;
  int file_;
  long long good_ = 0;  // bytes of whole lines
  std::mutex mutex_;
};

/// All records in the folder's files records*.jsonl, in file and line order; a torn last line is left out.
/// errors: throws Error with file and line on anything else that is no JSON, or if the folder does not exist.
std::vector<nlohmann::ordered_json> read_records(const std::string& folder);

}  // namespace halfulp
