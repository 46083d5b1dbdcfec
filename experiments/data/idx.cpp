#include "experiments/data/idx.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "formats/error.h"

namespace halfulp {
namespace {

struct Closer {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

class GzReader {
 public:
  GzReader(const std::filesystem::path& path, std::string remedy)
      : path_(path.string()), remedy_(std::move(remedy)) {
    // Asked first, because gzopen also succeeds on a directory.
    std::error_code unreadable;  // counts as absent
    if (!std::filesystem::is_regular_file(path, unreadable))
      fail("no such file", path_, "a gzip-compressed IDX file");
    file_.reset(gzopen(path_.c_str(), "rb"));
    if (!file_) fail("cannot be opened", path_, "a readable file");
    gzbuffer(file_.get(), 1u << 18);
  }

  /// Returns how many of the `count` bytes wanted there were before the end of the stream.
  std::size_t read(std::uint8_t* out, std::size_t count) {
    constexpr std::size_t piece = std::size_t{1} << 24;  // gzread takes an unsigned and returns an int
    std::size_t done = 0;
    while (done < count) {
      const int got = gzread(file_.get(), out + done, static_cast<unsigned>(std::min(piece, count - done)));
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    int status = Z_OK;
    const std::string text = gzerror(file_.get(), &status);
    // A stream cut short yields what it holds, then Z_BUF_ERROR; also where only its checksum is missing.
    if (status == Z_BUF_ERROR) fail("truncated gzip stream", "an early end of the file", "the whole file");
    if (status != Z_OK && status != Z_STREAM_END) fail("damaged gzip stream", text, "an undamaged file");
    return done;
  }

  [[noreturn]] void fail(const std::string& problem, const std::string& given,
                         const std::string& allowed) const {
    throw Error(path_, problem, given, allowed + " (" + remedy_ + ")");
  }

 private:
  std::string path_;
  std::string remedy_;
  std::unique_ptr<gzFile_s, Closer> file_;
};

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

std::size_t big_endian(const std::uint8_t* bytes) {
  return std::size_t{bytes[0]} << 24 | std::size_t{bytes[1]} << 16 | std::size_t{bytes[2]} << 8 | bytes[3];
}

void check_header(GzReader& file, const std::vector<std::size_t>& shape) {
  const std::size_t size = 4 + 4 * shape.size();
  std::vector<std::uint8_t> header(size);
  const std::size_t got = file.read(header.data(), size);
  if (got < size)
    file.fail("truncated IDX header", std::to_string(got) + " bytes", std::to_string(size) + " bytes");
  const std::size_t magic = big_endian(header.data());
  const std::size_t expected = 0x0800 + shape.size();  // 08: unsigned byte elements
  if (magic != expected) file.fail("wrong IDX magic", std::to_string(magic), std::to_string(expected));
  std::vector<std::size_t> found;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) found.push_back(big_endian(&header[4 + 4 * axis]));
  if (found != shape) file.fail("wrong IDX size", shape_text(found), shape_text(shape));
}

}  // namespace

std::vector<std::uint8_t> read_idx_gz(const std::filesystem::path& path,
                                      const std::vector<std::size_t>& shape, const std::string& remedy) {
  GzReader file(path, remedy);
  check_header(file, shape);
  std::size_t size = 1;
  for (const std::size_t extent : shape) size *= extent;
  std::vector<std::uint8_t> bytes(size);
  const std::size_t got = file.read(bytes.data(), size);
  if (got < size)
    file.fail("truncated", std::to_string(got) + " elements", std::to_string(size) + " elements");
  std::uint8_t beyond = 0;
  if (file.read(&beyond, 1) != 0)
    file.fail("longer than its header says", "more", std::to_string(size) + " elements");
  return bytes;
}

}  // namespace halfulp
