#include "formats/spec/reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "formats/error.h"

namespace halfulp {
namespace {

constexpr std::string_view blanks = " \t\r\n", word_ends = " \t\r\n{},=";

std::string quoted(std::string_view text) {
  std::string result = "'";
  result.append(text);
  result.push_back('\'');
  return result;
}

bool holds(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

bool take_prefix(std::string_view& text, std::string_view prefix) noexcept {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<int> take_number(std::string_view& text) noexcept {
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, count);
  if (digits.empty() || (count > 1 && digits[0] == '0')) return std::nullopt;
  text.remove_prefix(count);
  int value = 999;
  if (count <= 3) std::from_chars(digits.data(), digits.data() + count, value);
  return value;
}

void SpecReader::skip_blanks() { at_ = std::min(spec_.find_first_not_of(blanks, at_), spec_.size()); }

std::size_t SpecReader::position() {
  skip_blanks();
  return at_ + 1;
}

SpecWord SpecReader::word() {
  skip_blanks();
  const std::size_t first = at_;
  at_ = std::min(spec_.find_first_of(word_ends, at_), spec_.size());
  return {spec_.substr(first, at_ - first), first + 1};
}

bool SpecReader::take(char token) {
  skip_blanks();
  const bool found = at_ < spec_.size() && spec_[at_] == token;
  if (found) ++at_;
  return found;
}

void SpecReader::open_brace(std::string_view owner, const std::string& example) {
  if (!take('{')) refuse("'{' is missing after " + std::string(owner), position(), example);
}

SpecWord SpecReader::until_closing_brace() {
  skip_blanks();
  const std::size_t first = at_;
  std::size_t depth = 1;
  for (; at_ < spec_.size(); ++at_) {
    if (spec_[at_] == '{') ++depth;
    if (spec_[at_] == '}' && --depth == 0) break;
  }
  if (at_ == spec_.size()) refuse("'}' is missing", at_ + 1, "a closing brace for every opening one");
  const std::string_view text = spec_.substr(first, at_++ - first);
  return {text.substr(0, text.find_last_not_of(blanks) + 1), first + 1};
}

void SpecReader::expect_end() {
  if (position() <= spec_.size()) refuse("text after the end of the format", position(), "one format");
}

int SpecReader::integer(const SpecWord& word, std::string_view key, int low, int high) const {
  const char *const first = word.text.data(), *const last = first + word.text.size();
  const std::string allowed = std::to_string(low) + " to " + std::to_string(high);
  long long value = 0;
  const auto [stop, status] = std::from_chars(first, last, value);
  if (stop != last || status == std::errc::invalid_argument)
    refuse(std::string(key) + " is no integer", word.position, allowed);
  if (status != std::errc{} || value < low || value > high)
    refuse(std::string(key) + " is out of range", word.position, allowed);
  return static_cast<int>(value);
}

double SpecReader::number(const SpecWord& word, std::string_view key) const {
  if (word.text.substr(0, 2) == "2^")
    return std::ldexp(1.0, integer({word.text.substr(2), word.position + 2}, key, -1074, 1023));
  const char *const first = word.text.data(), *const last = first + word.text.size();
  double value = 0;
  const auto [stop, status] = std::from_chars(first, last, value);
  if (stop != last || status != std::errc{} || !std::isfinite(value))
    refuse(std::string(key) + " is no number", word.position, "a decimal number or 2^N");
  return value;
}

void SpecReader::refuse(const std::string& problem, std::size_t position, const std::string& allowed) const {
  throw Error("format", problem + " at position " + std::to_string(position), std::string(spec_), allowed);
}

void SpecReader::refuse_unknown(const std::string& kind, const SpecWord& word,
                                const std::vector<std::string>& candidates,
                                const std::string& allowed) const {
  const std::string place = " at position " + std::to_string(word.position);
  const std::string nearest =
      candidates.empty() ? "" : " (nearest is " + nearest_name(word.text, candidates) + ")";
  throw Error("format", "no such " + kind + " " + quoted(word.text) + place + nearest, std::string(spec_),
              allowed);
}

bool SpecSettings::next() {
  if (reader_.take('}')) return false;
  if (!given_.empty() && !reader_.take(',')) {
    const std::size_t position = reader_.position();
    reader_.refuse("',' or '}' is missing", position, "key=value,... in braces");
  }
  std::vector<std::string> all = keys_;
  all.insert(all.end(), flags_.begin(), flags_.end());
  const std::string allowed = name_list(all);
  const SpecWord word = reader_.word();
  if (word.text.empty()) reader_.refuse("a key is missing", word.position, allowed);

  std::string key(word.text);
  bare_value_ = {{}, 0};
  const bool has_value = reader_.take('=');
  is_flag_ = !has_value && holds(flags_, key);
  if (has_value) {
    if (!holds(keys_, key)) reader_.refuse_unknown("key", word, keys_, name_list(keys_));
  } else if (!is_flag_) {
    if (holds(keys_, key)) reader_.refuse("'=' is missing after " + key, reader_.position(), key + "=VALUE");
    if (next_positional_ == positional_.size()) reader_.refuse_unknown("key", word, all, allowed);
    key = positional_[next_positional_++];
    bare_value_ = word;
  }
  if (given(key)) reader_.refuse(key + " is given twice", word.position, "every key once");
  given_.emplace_back(std::move(key), word.position);
  return true;
}

SpecWord SpecSettings::value() {
  if (!bare_value_.text.empty()) return bare_value_;
  const SpecWord word = reader_.word();
  if (word.text.empty()) reader_.refuse("the value of " + key() + " is missing", word.position, "key=value");
  return word;
}

std::size_t SpecSettings::position_of(std::initializer_list<std::string_view> keys,
                                      std::size_t otherwise) const {
  return position_of(std::vector<std::string_view>(keys), otherwise);
}

std::size_t SpecSettings::position_of(const std::vector<std::string_view>& keys,
                                      std::size_t otherwise) const {
  for (std::size_t i = given_.size(); i-- > 0;)
    if (std::find(keys.begin(), keys.end(), given_[i].first) != keys.end()) return given_[i].second;
  return otherwise;
}

}  // namespace halfulp
