#pragma once
#include <stdexcept>
#include <string>

namespace halfulp {

/// What a host edge (spec, config, file, shape) throws. Everything below the edges is total and noexcept.
/// The message always says where, what was wrong, what was given and what is allowed.
class Error : public std::runtime_error {
 public:
  /// where: file, key or argument. problem: one clause. given: the offending text. allowed: what would be
  /// right.
  Error(const std::string& where, const std::string& problem, const std::string& given,
        const std::string& allowed)
      : std::runtime_error(where + ": " + problem + ": given '" + given + "', allowed: " + allowed) {}

  /// The same error, with the outer place (a file and key) that led to it in front.
  static Error at(const std::string& where, const Error& inner) { return Error(where + ": " + inner.what()); }

 private:
  explicit Error(const std::string& whole_message) : std::runtime_error(whole_message) {}
};

}  // namespace halfulp
