#pragma once
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/nearest_name.h"

namespace halfulp {

/// A word of a spec and the place of its first character, counted from 1.
struct SpecWord {
  std::string_view text;
  std::size_t position;
};

/// A spec read from left to right. Its tokens are words and the characters { } , = with blanks between them
/// as anyone likes. Every refusal is an Error that shows the whole spec and the position in it.
class SpecReader {
 public:
  explicit SpecReader(std::string_view spec) : spec_(spec) {}

  /// Of the next token; one past the end where none is left.
  std::size_t position();
  /// What stands before the next blank or { } , = ; empty if one of these comes first.
  SpecWord word();
  /// Steps over the token if it comes next.
  bool take(char token);
  /// The same for an opening brace.
  /// errors: refuses any other token; example: what would be right.
  void open_brace(std::string_view owner, const std::string& example);
  /// The text up to the brace that closes the one already opened, without blanks at its ends; steps over the
  /// brace.
  /// errors: refuses a text without that brace.
  SpecWord until_closing_brace();
  /// errors: refuses whatever is left.
  void expect_end();

  /// An integer in [low, high].
  /// errors: refuses everything else.
  int integer(const SpecWord& word, std::string_view key, int low, int high) const;
  /// A finite number, decimal or 2^N with -1074 <= N <= 1023.
  /// errors: refuses everything else.
  double number(const SpecWord& word, std::string_view key) const;
  /// The value that a word stands for in a list of {text, value}.
  /// errors: refuses other words with the nearest one.
  template <class Words>
  auto choice(const SpecWord& word, std::string_view key, const Words& words) const {
    std::vector<std::string> texts;
    for (const auto& [text, value] : words) {
      if (text == word.text) return value;
      texts.emplace_back(text);
    }
    refuse_unknown("value of " + std::string(key), word, texts, name_list(texts));
  }

  /// Throws Error("format", "PROBLEM at position N", the spec, allowed).
  [[noreturn]] void refuse(const std::string& problem, std::size_t position,
                           const std::string& allowed) const;
  /// Throws Error("format", "no such KIND 'WORD' at position N (nearest is ...)", the spec, allowed).
  [[noreturn]] void refuse_unknown(const std::string& kind, const SpecWord& word,
                                   const std::vector<std::string>& candidates,
                                   const std::string& allowed) const;

 private:
  void skip_blanks();

  std::string_view spec_;
  std::size_t at_ = 0;
};

/// `key=value,key=value}` after an opening brace, one setting at a time.
///   for (SpecSettings settings(reader, {"bits", "gamma"}); settings.next();)
///     if (settings.key() == "bits") bits = reader.integer(settings.value(), "bits", 3, 16);
class SpecSettings {
 public:
  /// positional: the keys that values without a key belong to, in this order. flags: words that stand alone.
  SpecSettings(SpecReader& reader, std::vector<std::string> keys, std::vector<std::string> positional = {},
               std::vector<std::string> flags = {})
      : reader_(reader),
        keys_(std::move(keys)),
        positional_(std::move(positional)),
        flags_(std::move(flags)) {}

  /// Something that was read before the first setting: a comma parts them, and the key counts as given there.
  void follows(std::string key, std::size_t position) { given_.emplace_back(std::move(key), position); }
  /// Moves to the next setting; false after the closing brace.
  /// errors: refuses unknown keys, keys given twice, and missing commas, braces and equal signs.
  bool next();

  /// Of the setting that next() moved to; a flag is a key without a value.
  const std::string& key() const { return given_.back().first; }
  std::size_t position() const { return given_.back().second; }
  /// Whether it is a word that stands alone.
  bool is_flag() const { return is_flag_; }
  /// errors: refuses an empty one.
  SpecWord value();

  bool given(std::string_view key) const { return position_of({key}, 0) != 0; }
  /// Of the last given one of these keys; `otherwise` if none was.
  std::size_t position_of(std::initializer_list<std::string_view> keys, std::size_t otherwise) const;
  std::size_t position_of(const std::vector<std::string_view>& keys, std::size_t otherwise) const;

 private:
  SpecReader& reader_;
  std::vector<std::string> keys_, positional_, flags_;
  std::vector<std::pair<std::string, std::size_t>> given_;  // in the order of the text
  std::size_t next_positional_ = 0;
  bool is_flag_ = false;
  SpecWord bare_value_{{}, 0};
};

/// A to Z in lower case, the rest as it is.
std::string lower_case(std::string_view text);

/// Steps over the prefix where the text has it.
bool take_prefix(std::string_view& text, std::string_view prefix) noexcept;

/// Steps over the digits at the start of a name; nothing without digits or with a leading zero, so that a
/// number has one spelling. Numbers beyond 999 are 999, too large for whatever stands in names.
std::optional<int> take_number(std::string_view& text) noexcept;

}  // namespace halfulp
