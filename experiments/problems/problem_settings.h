#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace halfulp {

/// Reads a problem's settings by name and remembers which names were asked for, so that a leftover one is an
/// error that lists what the problem knows.
class ProblemSettings {
 public:
  ProblemSettings(std::string where, std::map<std::string, double> given)
      : where_(std::move(where)), given_(std::move(given)) {}

  /// Returns the value given, or `otherwise`.
  double number(const std::string& name, double otherwise);
  /// Returns the value given, or `otherwise`.
  /// errors: Error unless it is an integer in 0..2^32
  std::size_t count(const std::string& name, std::size_t otherwise);
  /// Returns whether 1 was given, or `otherwise`.
  /// errors: Error unless it is 0 or 1
  bool yes_or_no(const std::string& name, bool otherwise);

  /// errors: Error if a name was given that nobody asked for
  void check_all_known() const;

  struct Known {
    std::string name;
    double value;  ///< the one given, else the default
  };
  const std::vector<Known>& known() const { return known_; }

 private:
  std::string where_;
  std::map<std::string, double> given_;
  std::vector<Known> known_;
};

}  // namespace halfulp
