#pragma once
#include <cmath>
#include <cstdint>

#include "emulation/elementary.h"

namespace halfulp {

namespace detail {

// Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37
// (1988), function PPND16: numerators and denominators of two of its three rational approximations, relative
// error 1e-16. The third serves sqrt(-ln p) > 5; the smallest tail here is p = 2^-33, where it is 4.783.
struct CentralNumerator {
  HALFULP_HD static constexpr double at(int k) noexcept {
    constexpr double a[] = {3.3871328727963666080,    1.3314166789178437745e+2, 1.9715909503065514427e+3,
                            1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                            3.3430575583588128105e+4, 2.5090809287301226727e+3};
    return a[k];
  }
};
struct CentralDenominator {
  HALFULP_HD static constexpr double at(int k) noexcept {
    constexpr double b[] = {1.0,
                            4.2313330701600911252e+1,
                            6.8718700749205790830e+2,
                            5.3941960214247511077e+3,
                            2.1213794301586595867e+4,
                            3.9307895800092710610e+4,
                            2.8729085735721942674e+4,
                            5.2264952788528545610e+3};
    return b[k];
  }
};
struct TailNumerator {
  HALFULP_HD static constexpr double at(int k) noexcept {
    constexpr double c[] = {1.42343711074968357734,    4.63033784615654529590,   5.76949722146069140550,
                            3.64784832476320460504,    1.27045825245236838258,   2.41780725177450611770e-1,
                            2.27238449892691845833e-2, 7.74545014278341407640e-4};
    return c[k];
  }
};
struct TailDenominator {
  HALFULP_HD static constexpr double at(int k) noexcept {
    constexpr double d[] = {1.0,
                            2.05319162663775882187,
                            1.67638483018380384940,
                            6.89767334985100004550e-1,
                            1.48103976427480074590e-1,
                            1.51986665636164571966e-2,
                            5.47593808499534494600e-4,
                            1.05075007164441684324e-9};
    return d[k];
  }
};

HALFULP_HD inline float square_root(float x) noexcept { return std::sqrt(x); }
HALFULP_HD inline double square_root(double x) noexcept { return std::sqrt(x); }

/// An integer below 2^32 to the nearest Real: both halves and the upper product are exact.
template <class Real>
HALFULP_HD constexpr Real real_of_integer(typename Lane<Real>::Bits n) noexcept {
  using namespace elementary::detail;
  const Real integers = power_of_two<Real>(Bits<Real>(F<Real>));
  const Real high = real_of(bits_of(integers) + (n >> 16)) - integers;
  const Real low = real_of(bits_of(integers) + (n & Bits<Real>(0xFFFF))) - integers;
  return high * lanes<Real>(0x1p16) + low;
}

}  // namespace detail

/// Standard normal deviate of 32 uniform random bits: the inverse of the normal distribution function at
/// (bits + 1/2) / 2^32, lanes alike.
/// out:    |z| <= 6.338 and never 0; odd: normal_deviate(~bits) == -normal_deviate(bits) exactly; within 8
/// ulp (float)
///         and 8 ulp (double) of the exact value, so float and double agree within 8.1 float ulp
/// errors: none (total function)
/// source: Wichura 1988, PPND16, with our logarithm
template <class Real>
HALFULP_HD Real normal_deviate(typename Lane<Real>::Bits bits) noexcept {
  using namespace elementary::detail;
  using namespace detail;
  using Word = Bits<Real>;
  // Folded into the lower half, m = bits or its complement, the tail is p = (2m + 1) / 2^33 and the distance
  // to the median 1/2 - p = (2^32 - (2m + 1)) / 2^33. Both integers are below 2^32 and are rounded once;
  // neither is taken from the other, so nothing cancels at either end.
  const Word upper = (bits >> 31) & Word(1);
  const Word m = (bits ^ (Word(0) - upper)) & Word(0x7FFFFFFF);
  const Word odd = m + m + Word(1);
  const Real p = real_of_integer<Real>(odd) * lanes<Real>(0x1p-33);
  const Real q = real_of_integer<Real>((Word(0) - odd) & Word(0xFFFFFFFF)) * lanes<Real>(0x1p-33);

  const Real r = lanes<Real>(0.180625) - q * q;
  const Real central = q * polynomial<CentralNumerator, 0, 7>(r) / polynomial<CentralDenominator, 0, 7>(r);
  const Real t = square_root(lanes<Real>(0) - elementary::log(p)) - lanes<Real>(1.6);
  const Real tail = polynomial<TailNumerator, 0, 7>(t) / polynomial<TailDenominator, 0, 7>(t);
  const Real magnitude = select(q <= lanes<Real>(0.425), central, tail);
  return real_of(bits_of(magnitude) | ((Word(1) - upper) << (sizeof(Number<Real>) * 8 - 1)));
}

}  // namespace halfulp
