#pragma once
#include <optional>
#include <vector>

#include "formats/conformance/conformance.h"
#include "formats/conformance/oracle.h"

namespace halfulp::conformance {

/// An input, as the number and as the double that it is, if it is one.
struct Point {
  Dyadic exact;
  double value;
  bool is_double;
};

/// A format, the conversion that is tested on it, and the settings to try.
class Subject {
 public:
  Subject(const ScalarFormat& format, const Conversion& conversion, const ConformanceOptions& options);

  const ScalarFormat& format() const { return oracle_.format(); }
  const oracle::Oracle& oracle() const { return oracle_; }
  bool is_wide() const { return format().bits() > 16; }
  /// Whether all numbers of the format can be put to the conversion.
  bool is_complete() const { return format().has_double_view() || conversion_.convert_wide != nullptr; }

  const std::vector<Rounding>& deterministic() const { return deterministic_; }
  const std::vector<Rounding>& stochastic() const { return stochastic_; }
  /// Stochastic modes with few enough random bits to count over all random integers.
  const std::vector<Rounding>& countable() const { return countable_; }
  const std::vector<SpecialValues>& policies() const {
    return policies_;
  }  ///< switches in their plain places
  const std::vector<SpecialValues>& specials() const { return specials_; }
  /// The first policy: inside the range of the format it does not matter which.
  const SpecialValues& plain() const { return policies_.front(); }
  const ConformanceOptions& options() const { return options_; }

  /// Nothing for a number that the conversion cannot be given.
  std::optional<Point> point(const Dyadic& x) const;
  Point point(double x) const;

  std::uint32_t code(const Point& x, Rounding rounding, const SpecialValues& special,
                     std::uint32_t random) const {
    return x.is_double ? conversion_.convert(x.value, rounding, special, random)
                       : conversion_.convert_wide(x.exact, rounding, special, random);
  }
  /// What the conversion reads from a code.
  Dyadic number(std::uint32_t code) const;
  oracle::Bracket bracket(const Point& x) const {
    return x.is_double ? oracle_.bracket(x.value) : oracle_.bracket(x.exact);
  }

 private:
  const Conversion& conversion_;
  const ConformanceOptions& options_;
  oracle::Oracle oracle_;
  std::vector<Rounding> deterministic_, stochastic_, countable_;
  std::vector<SpecialValues> policies_, specials_;
};

/// Counts the cases of one property and keeps its first counter-examples.
class Tally {
 public:
  Tally(const Subject& subject, const std::string& name, Coverage coverage, const std::string& scope)
      : subject_(subject), report_{name, coverage, scope} {}

  /// One conversion: what it gave against what it had to give.
  void same(const Point& x, Rounding rounding, const SpecialValues& special, std::uint32_t random,
            std::uint32_t got, std::uint32_t expected) {
    ++report_.cases;
    if (got != expected) different(x, rounding, special, random, code_text(got), code_text(expected));
  }
  /// One case of another kind.
  void expect(bool holds, const Point& x, Rounding rounding, const SpecialValues& special,
              std::uint32_t random, const std::string& got, const std::string& expected) {
    ++report_.cases;
    if (!holds) different(x, rounding, special, random, got, expected);
  }
  /// A case about a code.
  void expect_code(bool holds, std::uint32_t code, const std::string& setting, const std::string& got,
                   const std::string& expected);

  bool wants_text() const { return report_.examples.size() < subject_.options().most_examples; }
  /// Code in hex with its number.
  std::string code_text(std::uint32_t code) const;

  /// What there was nothing to try for does not apply.
  PropertyReport result() const;

 private:
  void different(const Point& x, Rounding rounding, const SpecialValues& special, std::uint32_t random,
                 const std::string& got, const std::string& expected);

  const Subject& subject_;
  PropertyReport report_;
};

/// A code as 0x and the digits that its width needs.
std::string hex_code(std::uint32_t code, int bits);

/// "low, midpoint, high" of two neighbours, without the midpoint where that may need more bits than there
/// are; nothing where they are one.
std::string interval_text(const oracle::Bracket& b, bool has_midpoint);

/// "nearest_even, saturate", with the random integer of stochastic modes.
std::string setting_text(Rounding rounding, const SpecialValues& special, std::uint32_t random);

}  // namespace halfulp::conformance
