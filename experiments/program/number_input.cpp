#include "experiments/program/number_input.h"

#include <filesystem>
#include <fstream>

#include "experiments/program/arguments.h"
#include "formats/error.h"

namespace halfulp {
namespace {

constexpr std::uint64_t most_elements = std::uint64_t{1} << 40;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(at); end != std::string::npos; end = text.find(at, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<double> read_row(const std::string& text, const std::string& where) {
  std::vector<double> row;
  for (const std::string& word : split(text, ','))
    row.push_back(read_real(trimmed(word), where + ", number " + std::to_string(row.size() + 1)));
  return row;
}

NumberArray read_csv(const std::string& file) {
  std::ifstream in(file);
  std::error_code unreadable;  // counts as absent
  if (std::filesystem::is_directory(file, unreadable) || !in)
    throw Error(file, "no such file, or not readable", file, "lines of numbers between commas");
  NumberArray array;
  std::size_t rows = 0, columns = 0, number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (trimmed(line).empty()) continue;
    const std::string where = file + ", line " + std::to_string(number);
    const std::vector<double> row = read_row(line, where);
    if (rows > 0 && row.size() != columns)
      throw Error(where, "another length than the lines before", std::to_string(row.size()),
                  std::to_string(columns) + " numbers");
    columns = row.size();
    ++rows;
    array.values.insert(array.values.end(), row.begin(), row.end());
  }
  if (rows == 0) throw Error(file, "no numbers in it", "", "lines of numbers between commas");
  if (rows > 1 && columns > 1)
    array.shape = {rows, columns};
  else
    array.shape = {rows * columns};
  return array;
}

}  // namespace

NumberArray read_numbers(const std::string& text, const std::string& option) {
  if (text.ends_with(".npy")) {
    NumberArray array = read_npy(text);
    if (array.shape.empty()) array.shape = {1};
    return array;
  }
  if (text.ends_with(".csv")) return read_csv(text);
  NumberArray array;
  try {
    array.values = read_row(text, option);
  } catch (const Error&) {
    std::error_code no_path;  // a long list is no path at all
    if (!std::filesystem::exists(text, no_path)) throw;
    throw Error(option, "a file of an unknown kind", text, "FILE.npy, FILE.csv, or numbers A,B,C");
  }
  array.shape = {array.values.size()};
  return array;
}

std::vector<std::size_t> read_shape_of(const std::string& text, std::size_t count) {
  std::vector<std::size_t> shape;
  std::uint64_t size = 1;
  for (const std::string& extent : split(text, 'x')) {
    shape.push_back(read_unsigned(extent, "--shape", most_elements));
    // Beyond count nothing fits, and the product stays below 2^80 only if it is not formed.
    size = shape.back() == 0 || size > count / shape.back() ? 0 : size * shape.back();
    if (size == 0) break;
  }
  if (size != count)
    throw Error("--shape", "not the number of values", text,
                "a shape of " + std::to_string(count) + " values");
  return shape;
}

std::string extents_text(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

}  // namespace halfulp
