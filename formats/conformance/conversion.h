#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "formats/dyadic.h"
#include "formats/overflow.h"

namespace halfulp {

/// What the conformance kit puts to the test: how a format's codes are read and how numbers become codes. It
/// may be this library's, a user's own, or a deliberately broken one.
struct Conversion {
  std::string name;  ///< for reports: a spec, or whose conversion it is

  /// Number of a code, NaN codes a NaN.
  std::function<double(std::uint32_t code)> decode;

  /// Code of x. A conversion that knows one rounding or one policy only ignores the arguments; the options of
  /// the check then say which ones to try.
  /// random: in [0, 2^random_bits), for the stochastic modes.
  std::function<std::uint32_t(double x, Rounding rounding, const SpecialValues& special,
                              std::uint32_t random)>
      convert;

  /// The same for numbers that no double is, in formats beyond double's range (decode is then never called).
  /// Left empty, only what can be said with doubles is tried.
  std::function<Dyadic(std::uint32_t code)> decode_wide = {};
  std::function<std::uint32_t(const Dyadic& x, Rounding rounding, const SpecialValues& special,
                              std::uint32_t random)>
      convert_wide = {};
};

/// This library's conversions to and from a format.
Conversion conversion_of(const ScalarFormat& f, const std::string& name);

}  // namespace halfulp
