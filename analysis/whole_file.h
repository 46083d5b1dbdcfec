#pragma once
#include <span>
#include <string>
#include <string_view>

namespace halfulp {

/// A path and all the bytes that shall stand there.
struct FileContent {
  std::string path;
  std::string_view content;
};

/// Puts the content at the path, or leaves whatever was there: written beside it, flushed to the disk,
/// renamed.
/// errors: throws Error with the path and the system's reason; nothing half-written stays behind.
void write_whole_file(const std::string& path, std::string_view content);

/// The same for files that belong together: none is renamed before all are written.
void write_whole_files(std::span<const FileContent> files);

}  // namespace halfulp
