#pragma once
#include <cstdint>
#include <vector>

#include "formats/overflow.h"

/// A second, slow answer to every conversion, for tests and for checking user formats. It reads the plain
/// fields of ScalarFormat and nothing else of formats/, and is written from the definitions instead of for
/// speed: P3109's S = |x| 2^-Q in multiprecision, its floor and its fraction, every mode decided from its
/// sentence, and codes found by position in a sorted list of values.
namespace halfulp::oracle {

/// Value of a code from the defining formula; NaN codes give a NaN of the code's sign where NaN codes have
/// signs.
/// in: code in [0, 2^width). Exact for formats within double's range.
double decode(const ScalarFormat& f, std::uint32_t code);

/// Where |x| stands between two neighbours of the grid with unbounded exponent above.
struct Bracket {
  double x;
  double lower, upper;  ///< magnitudes of the neighbours; equal if x is on the grid; infinity beyond double
  bool lower_is_even;   ///< P3109 CodeIsEven of the lower neighbour
  int half;             ///< -1, 0, 1: nu below, at, above 1/2, with nu = fraction of S
  std::uint64_t fraction;  ///< floor(nu 2^40)
  bool fraction_rest;      ///< nu 2^40 is no integer
  std::uint32_t lower_code,
      upper_code;  ///< valid where the neighbour, with x's sign, is a finite number of the format
};

/// Whether a mode takes the upper neighbour (in magnitude).
/// in: x finite; random in [0, 2^random_bits).
bool goes_away(const Bracket& b, Rounding rounding, std::uint32_t random);

/// One format, with its numbers laid out once: brackets an input once and answers all modes and policies from
/// it.
class Oracle {
 public:
  explicit Oracle(const ScalarFormat& f);

  Bracket bracket(double x) const;
  std::uint32_t code(const Bracket& b, bool away, RoundingMode mode, const SpecialValues& special) const;
  std::uint32_t convert(double x, Rounding rounding, const SpecialValues& special,
                        std::uint32_t random) const;

  double max_finite() const { return largest_; }

 private:
  struct Number {
    double value;
    std::uint32_t code;
  };

  std::uint32_t find(double value) const;
  std::uint32_t compute_code(double value) const;
  std::uint32_t nan(const SpecialValues& special, bool negative) const;
  std::uint32_t beyond(OverflowPolicy policy, RoundingMode mode, const SpecialValues& special, bool negative,
                       bool was_infinite, double limit) const;
  std::uint32_t zero(bool negative) const;

  ScalarFormat f_;
  std::vector<Number> numbers_;  ///< all finite numbers in ascending order, for formats of at most 16 bits
  double largest_;               ///< largest positive number
  bool infinity_, nan_;          ///< whether the format has them
  bool negative_zero_;
};

/// Code of x in f. A conversion on its own; Oracle is faster for many.
std::uint32_t convert(double x, const ScalarFormat& f, Rounding rounding, const SpecialValues& special,
                      std::uint32_t random);

}  // namespace halfulp::oracle
