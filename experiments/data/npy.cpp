#include "experiments/data/npy.h"

#include <bit>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "formats/error.h"

namespace halfulp {
namespace {

constexpr std::size_t most_elements = std::size_t{1} << 40;

/// The dictionary literal of the header, as numpy writes it: three keys in any order, spaces anywhere between tokens.
class Header {
 public:
  Header(std::string file, std::string text) : file_(std::move(file)), text_(std::move(text)) { parse(); }

  std::string descr;
  std::vector<std::size_t> shape;

 private:
  void parse() {
    std::optional<bool> fortran;
    bool has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && descr.empty())
        descr = read_type();
      else if (key == "fortran_order" && !fortran)
        fortran = read_flag();
      else if (key == "shape" && !has_shape)
        read_shape(), has_shape = true;
      else
        fail("an unknown or repeated key in the header", key);
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail("text after the header's dictionary", text_.substr(at_, 20));
    if (descr.empty() || !fortran || !has_shape) fail("a key is missing in the header", text_);
    if (*fortran)
      throw Error(file_, "array in Fortran order", "fortran_order: True",
                  "C order; numpy.ascontiguousarray makes it");
  }

  std::string read_type() {
    skip_space();
    if (at_ < text_.size() && text_[at_] != '\'') refuse_type("a structured type");
    const std::string type = quoted();
    if (type != "<f4" && type != "<f8") refuse_type(type);
    return type;
  }

  bool read_flag() {
    skip_space();
    for (const std::string word : {"True", "False"})
      if (text_.compare(at_, word.size(), word) == 0) {
        at_ += word.size();
        return word == "True";
      }
    fail("fortran_order is neither True nor False", text_.substr(at_, 20));
  }

  void read_shape() {
    expect('(');
    std::size_t size = 1;
    while (!take(')')) {
      skip_space();
      std::size_t extent = 0;
      const char* const begin = text_.data() + at_;
      const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (status != std::errc{}) fail("an extent of the shape is no number", text_.substr(at_, 20));
      at_ += static_cast<std::size_t>(end - begin);
      if (extent == 0 || extent > most_elements / size)
        throw Error(file_, "an extent of the shape", std::to_string(extent), "1 to 2^40 elements in all");
      size *= extent;
      shape.push_back(extent);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string quoted() {
    expect('\'');
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string::npos) fail("an open quote in the header", text_.substr(at_, 20));
    std::string word = text_.substr(at_, end - at_);
    at_ = end + 1;
    return word;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char wanted) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted))
      fail(std::string("the header lacks a ") + wanted, text_.substr(std::min(at_, text_.size()), 20));
  }
  [[noreturn]] void refuse_type(const std::string& given) const {
    throw Error(file_, "element type", given, "little-endian '<f4' or '<f8'; astype('<f4') makes it");
  }
  [[noreturn]] void fail(const std::string& problem, const std::string& given) const {
    throw Error(
        file_, problem, given,
        "{'descr': '<f4' or '<f8', 'fortran_order': False, 'shape': (...), } as numpy.save writes it");
  }

  std::string file_, text_;
  std::size_t at_ = 0;
};

std::uint64_t little_endian(const char* bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

std::string read_whole(const std::string& file) {
  std::error_code unreadable;  // counts as absent
  std::ifstream in(file, std::ios::binary);
  if (!std::filesystem::is_regular_file(file, unreadable) || !in)
    throw Error(file, "no such file, or not readable", file, "a file that numpy.save wrote");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

NumberArray read_npy(const std::string& file) {
  const std::string bytes = read_whole(file);
  const std::string allowed = "a file that numpy.save wrote (version 1.0, 2.0 or 3.0)";
  if (bytes.compare(0, 6, "\x93NUMPY") != 0) throw Error(file, "no NPY file", "other first bytes", allowed);
  const int version = bytes.size() > 7 ? bytes[6] : 0;
  const std::size_t length_bytes = version == 1 ? 2 : 4, start = 8 + length_bytes;
  if (bytes.size() < start)
    throw Error(file, "truncated header", std::to_string(bytes.size()) + " bytes", allowed);
  if (version < 1 || version > 3 || bytes[7] != 0)
    throw Error(file, "NPY version", std::to_string(version) + "." + std::to_string(bytes[7]), allowed);
  const std::uint64_t length = little_endian(&bytes[8], length_bytes);
  if (bytes.size() - start < length)
    throw Error(file, "truncated header", std::to_string(bytes.size() - start) + " bytes",
                std::to_string(length) + " bytes, as it says");
  const Header header(file, bytes.substr(start, length));

  const std::size_t width = header.descr == "<f4" ? 4 : 8, data = start + length;
  std::size_t size = 1;
  for (const std::size_t extent : header.shape) size *= extent;
  if (bytes.size() - data != size * width)
    throw Error(file, "the data have not the size that the header says",
                std::to_string(bytes.size() - data) + " bytes", std::to_string(size * width) + " bytes");
  NumberArray array{header.shape, {}};
  array.values.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t bits = little_endian(&bytes[data + i * width], width);
    array.values.push_back(width == 4 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                                      : std::bit_cast<double>(bits));
  }
  return array;
}

}  // namespace halfulp
