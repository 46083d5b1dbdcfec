#include "experiments/program/arguments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <iterator>

#include "experiments/program/command.h"
#include "formats/error.h"

namespace halfulp {
namespace {

/// The text without the space that keeps a negative number from being read as an option, and short enough to
/// print.
std::string without_space(const std::string& text) {
  return !text.empty() && text[0] == ' ' ? text.substr(1) : text;
}
std::string excerpt(const std::string& text) { return text.size() <= 60 ? text : text.substr(0, 57) + "..."; }

}  // namespace

double read_real(const std::string& text, const std::string& where) {
  const std::string word = without_space(text);
  const bool starts = !word.empty() && std::isspace(static_cast<unsigned char>(word[0])) == 0;
  char* end = nullptr;
  errno = 0;
  // The program never leaves the "C" locale, so the decimal separator is a point.
  const double value = std::strtod(word.c_str(), &end);
  const bool complete = starts && end == word.c_str() + word.size();
  if (!complete || (std::isnan(value) && word.back() == ')'))
    throw Error(where, "not a number", excerpt(word), "a decimal, a hex float such as 0x1.8p3, inf, nan");
  if (errno == ERANGE && (std::isinf(value) || value == 0))
    throw Error(where, "out of the range of double", excerpt(word),
                "magnitudes from 0x1p-1074 to 0x1.fffffffffffffp1023");
  return value;
}

std::uint64_t read_unsigned(const std::string& text, const std::string& where, std::uint64_t largest) {
  const std::string word = without_space(text);
  const std::string prefix = word.substr(0, 2);
  const int base = prefix == "0x" || prefix == "0X" ? 16 : prefix == "0b" || prefix == "0B" ? 2 : 10;
  const char* begin = word.c_str() + (base == 10 ? 0 : 2);
  const char* end = word.c_str() + word.size();
  std::uint64_t value = 0;
  const auto [stop, status] = std::from_chars(begin, end, value, base);
  const std::string allowed = fmt::format("an integer from 0 to {} (0x{:x})", largest, largest);
  if (stop != end || begin == end || status == std::errc::invalid_argument)
    throw Error(where, "not a non-negative integer", excerpt(word), allowed);
  if (status != std::errc{} || value > largest) throw Error(where, "too large", excerpt(word), allowed);
  return value;
}

std::vector<std::string> words_or_input(const std::vector<std::string>& given, const std::string& what) {
  if (!given.empty()) return given;
  if (::isatty(STDIN_FILENO) == 1) print_message("reading " + what + " from the terminal; Ctrl-D ends them");
  std::vector<std::string> words{std::istream_iterator<std::string>(std::cin), {}};
  if (words.empty())
    throw Error(what, "none were given", "nothing",
                "numbers as arguments, or on standard input between white space");
  return words;
}

std::string real_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

std::string hex_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{:a}", value); }

std::string code_text(std::uint32_t code, int bits) { return fmt::format("0x{:0{}x}", code, (bits + 3) / 4); }

}  // namespace halfulp
