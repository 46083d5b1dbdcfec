#pragma once
#include <cstdint>
#include <memory>

#include "formats/dyadic.h"
#include "formats/overflow.h"

/// A second, slow answer to every conversion, for tests and for checking formats and conversions of users. It
/// reads the plain fields of ScalarFormat, SpecialValues, Rounding and Dyadic and nothing else of formats/,
/// and is written from the definitions instead of for speed: P3109's S = |x| 2^-Q in multiprecision, its
/// floor and its fraction, every mode decided from its sentence, and codes found by position in a sorted list
/// of numbers.
namespace halfulp::oracle {

/// Number of a code from the defining formula, in every format; NaN codes give a NaN of the code's sign where
/// NaN codes have signs.
/// in: code in [0, code_count()).
Dyadic number(const ScalarFormat& f, std::uint32_t code);

/// The same as a double.
/// in: a format within double's range.
double decode(const ScalarFormat& f, std::uint32_t code);

/// Where x stands between two neighbours of the grid with unbounded exponent: `inner` is the one on zero's
/// side (in a table's gap that zero lies inside: the lower one for x > 0), `outer` the other. In unsigned
/// formats it is |x| that stands there.
struct Bracket {
  Dyadic x;               ///< the source itself, or the number that was divided
  std::uint64_t payload;  ///< of a NaN: its 52 fraction bits
  Dyadic inner, outer;    ///< equal if x is on the grid; beyond a table both its end
  bool inner_is_even;     ///< P3109 CodeIsEven of the inner neighbour
  int half;  ///< -1, 0, 1: nu below, at, above 1/2, nu being x's share of the gap, from inner to outer
  std::uint64_t fraction;                ///< floor(nu 2^40)
  bool fraction_rest;                    ///< nu 2^40 is no integer
  bool below_fp32;                       ///< finite, not 0, and its magnitude below 2^-126
  std::uint32_t inner_code, outer_code;  ///< valid where the neighbour is a finite number of the format
};

/// Whether a mode takes the outer neighbour of a number of this sign.
/// in: x finite; random in [0, 2^random_bits).
bool goes_outward(const Bracket& b, bool negative, Rounding rounding, std::uint32_t random);

/// How many of the 2^N random integers send x outward.
/// in: a stochastic rounding, N <= 32
std::uint64_t outward_count(const Bracket& b, Rounding rounding);

/// One format, with its numbers laid out once: brackets an input once and answers all modes and policies from
/// it.
class Oracle {
 public:
  explicit Oracle(const ScalarFormat& f);

  Bracket bracket(double x) const;
  Bracket bracket(const Dyadic& x) const { return bracket_quotient(x, {NumberClass::finite, false, 1, 0}); }
  /// Bracket of the exact quotient x / divisor.
  /// in: divisor finite and positive
  Bracket bracket_quotient(const Dyadic& x, const Dyadic& divisor) const;
  std::uint32_t code(const Bracket& b, Rounding rounding, const SpecialValues& special,
                     std::uint32_t random) const;
  std::uint32_t convert(double x, Rounding rounding, const SpecialValues& special,
                        std::uint32_t random) const {
    return code(bracket(x), rounding, special, random);
  }

  const ScalarFormat& format() const { return f_; }
  /// Largest number.
  std::uint32_t largest_code() const;
  Dyadic largest() const { return number(f_, largest_code()); }
  /// The most negative number; 0 in unsigned formats.
  Dyadic lowest() const;

 private:
  struct Numbers;

  void bracket_fields(Bracket& b, const Dyadic& divisor) const;
  void bracket_table(Bracket& b, const Dyadic& divisor) const;
  std::uint32_t code_in_table(const Bracket& b, Rounding rounding, const SpecialValues& special,
                              std::uint32_t random) const;
  std::uint32_t beyond(OverflowPolicy policy, RoundingMode mode, const SpecialValues& special, bool negative,
                       bool was_infinite) const;
  std::uint32_t nan(const SpecialValues& special, bool negative) const;
  std::uint32_t zero(const SpecialValues& special, bool negative) const;
  std::uint32_t limit_code(const SpecialValues& special, bool negative) const;

  ScalarFormat f_;
  std::shared_ptr<const Numbers> numbers_;
};

/// Code of x in f. A conversion on its own; Oracle is faster for many.
std::uint32_t convert(double x, const ScalarFormat& f, Rounding rounding, const SpecialValues& special,
                      std::uint32_t random);

}  // namespace halfulp::oracle
