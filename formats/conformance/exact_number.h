#pragma once
#include <optional>
#include <string>

#include "formats/dyadic.h"

namespace halfulp {

// Exact work on numbers that may lie beyond double's range. Written apart from dyadic.h's conversions,
// because the oracle and the checks that judge those rest on it.

/// Exact, from the parts that frexp gives; infinities and NaN with their sign.
Dyadic exact_number(double x);

/// The double with this value, if there is one; infinities, and a NaN of that sign.
std::optional<double> as_double(const Dyadic& x);

/// Sign of a - b.
/// in: finite; zeros are equal whatever their sign.
int compare(const Dyadic& a, const Dyadic& b);

inline bool is_zero(const Dyadic& x) { return x.kind == NumberClass::finite && x.significand == 0; }
inline Dyadic negated(Dyadic x) {
  x.negative = !x.negative;
  return x;
}
inline Dyadic magnitude_of(Dyadic x) {
  x.negative = false;
  return x;
}

/// Same class and, where finite, same value and sign of zero; NaNs are all the same.
bool is_same_number(const Dyadic& a, const Dyadic& b);

/// The next number with 53 significant bits, toward larger or smaller magnitude: the next double, as long as
/// both are doubles; subnormal doubles have their own steps.
/// in: finite and not zero; toward_zero: not the smallest double
Dyadic next_outward(const Dyadic& x);
Dyadic next_inward(const Dyadic& x);

/// x 2^n, exact.
inline Dyadic times_power(Dyadic x, int n) {
  x.exponent += n;
  return x;
}

/// x + d, where that has at most 64 bits above the smaller exponent.
/// in: finite, of one sign or d of the smaller magnitude
Dyadic sum(const Dyadic& x, const Dyadic& d);

/// x y; rounded to a double, as tables need it, where that has more than 53 bits.
Dyadic product(double x, double y);

/// Hex float and decimal: "0x1.8p+3 (12)"; beyond double "0x1.8p+1600"; "inf", "-nan".
std::string text_of(const Dyadic& x);

}  // namespace halfulp
