#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace halfulp {

// Where an argument came from, for messages: "value 3", "--tensor-scale".

/// The double that a text means, correctly rounded: decimal, hex float, inf, infinity, nan, each with a sign.
/// errors: throws Error if the text is not wholly a number, or a finite one beyond double's range: one that
/// would
///         become an infinity, or zero though it is not.
double read_real(const std::string& text, const std::string& where);

/// A non-negative integer: decimal, 0x hex or 0b binary.
/// errors: throws Error if the text is not wholly one, or exceeds `largest`.
std::uint64_t read_unsigned(const std::string& text, const std::string& where, std::uint64_t largest);

/// The words given as arguments, or those on standard input, split at white space, if there are none.
/// errors: throws Error if that is empty. what: "values", for messages.
std::vector<std::string> words_or_input(const std::vector<std::string>& given, const std::string& what);

/// Shortest text that reads back as the same double: -0 and inf as such, nan without its sign, which the code
/// shows.
std::string real_text(double value);

/// The same as a hex float.
std::string hex_text(double value);

/// A code as 0x and the digits that its width needs.
std::string code_text(std::uint32_t code, int bits);

}  // namespace halfulp
