#pragma once
#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "formats/conformance/exact_number.h"
#include "formats/conformance/settings.h"
#include "formats/encode.h"
#include "formats/special_values.h"
#include "tests/formats/sample_points.h"

namespace halfulp::test {

/// Counts comparisons of production with the oracle and keeps the first few differences as text.
class Comparison {
 public:
  explicit Comparison(std::string_view name) : name_(name) {}

  void same(std::uint32_t got, std::uint32_t expected, double x, Rounding rounding,
            const SpecialValues& special, std::uint32_t random) {
    ++compared_;
    if (got == expected) return;
    if (++different_ > 5) return;
    char line[256];
    std::snprintf(line, sizeof line, "\n  x=%a %s r=%u %s: got %x, expected %x", x,
                  to_string(rounding).c_str(), random, to_string(special).c_str(), got, expected);
    first_ += line;
  }

  void check(std::uint64_t& total) const {
    INFO(std::string(name_), ": ", different_, " of ", compared_, " differ", first_);
    CHECK(different_ == 0);
    CHECK(compared_ > 0);
    total += compared_;
  }

 private:
  std::string_view name_;
  std::uint64_t compared_ = 0, different_ = 0;
  std::string first_;
};

/// Compares one input in every mode, under the given special values.
inline void compare_point(Comparison& out, const oracle::Oracle& oracle, double x,
                          const std::vector<Rounding>& roundings,
                          const std::vector<SpecialValues>& specials, std::uint32_t free_choice) {
  const oracle::Bracket b = oracle.bracket(x);
  std::vector<std::uint32_t> randoms;
  for (const Rounding rounding : roundings) {
    randoms.assign(1, 0);
    if (is_stochastic(rounding.mode)) choose_randoms(randoms, b, rounding, free_choice);
    for (const std::uint32_t random : randoms)
      for (const SpecialValues& special : specials)
        out.same(convert(x, oracle.format(), rounding, special, random),
                 oracle.code(b, rounding, special, random), x, rounding, special, random);
  }
}

/// A policy speaks only beyond the largest number, and to NaN and negatives of unsigned formats. Inside the
/// range the wide formats take one policy per point, in turn; from the last step outward they take all.
template <class Choose>
void compare_format(std::string_view name, const ScalarFormat& f, const std::vector<Rounding>& roundings,
                    std::uint64_t& total, Choose policies_of) {
  const oracle::Oracle oracle(f);
  Comparison comparison(name);
  std::mt19937 random(2026);
  for (const double x : sample_points(f)) {
    const std::vector<SpecialValues>& policies = policies_of(x, as_double(oracle.largest()).value());
    const auto free_choice = static_cast<std::uint32_t>(random());
    if (!policies.empty())
      compare_point(comparison, oracle, x, roundings, policies, free_choice);
  }
  comparison.check(total);
}

}  // namespace halfulp::test
