#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace halfulp {

/// How far a property that holds is known to hold.
enum class Coverage : std::uint8_t {
  /// Every code was tried, and both sides of every place where the answer may change. For a conversion that
  /// keeps order between two such places that settles every input.
  exhaustive,
  sampled,
  not_applicable,  ///< nothing to try: sign symmetry of unsigned formats, chances of deterministic modes
};

/// One input for which the conversion does not do what the property says, as text.
struct CounterExample {
  std::string input;  ///< "code 0x7e", or the exact number as hex float and decimal
  std::string
      interval;  ///< neighbours and midpoint that decide: "0x7a 0x1.ap+5 (52) | 0x1.bp+5 (54) | 0x7b ..."
  std::string setting;  ///< rounding, special values, random integer, as far as they matter
  std::string got, expected;
};

std::string to_string(const CounterExample& example);

struct PropertyReport {
  std::string name;
  Coverage coverage;
  std::string scope;  ///< what was tried
  std::uint64_t cases = 0, failures = 0;
  std::vector<CounterExample> examples = {};  ///< of the first failures

  bool holds() const { return failures == 0; }
};

struct ConformanceReport {
  std::string format;  ///< name of what was tested
  std::vector<PropertyReport> properties = {};

  bool holds() const;
  /// Nothing where no property has this name.
  const PropertyReport* find(const std::string& name) const;
};

/// "proved (exhaustive)", "sampled", "does not apply".
std::string to_string(Coverage coverage);

/// The counter-examples of a property, a line for each, under a line with its name and count.
std::string failure_text(const PropertyReport& property);

}  // namespace halfulp
