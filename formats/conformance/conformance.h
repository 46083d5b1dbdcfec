#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "formats/block_format.h"
#include "formats/conformance/block_conversion.h"
#include "formats/conformance/conversion.h"
#include "formats/conformance/report.h"

namespace halfulp {

/// What to try. A conversion of one's own that knows nearest_even and saturation alone is checked with
/// {.roundings = {nearest_even}, .specials = {special_values(OverflowPolicy::saturate)}}.
struct ConformanceOptions {
  /// Empty: every mode, the stochastic ones with several numbers of random bits.
  std::vector<Rounding> roundings = {};
  /// Empty: every overflow policy, and in special_values and oracle every switch of SpecialValues.
  std::vector<SpecialValues> specials = {};
  /// Whether the property `oracle` asks that the same random integers round away from zero as in P3109's
  /// formulas, and not only, as stochastic_probability does, that so many of them do.
  bool same_random_integers = true;
  std::size_t most_examples = 5;  ///< counter-examples kept for each property
  /// Called after each property, where set: how many are done, of how many.
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

/// The properties of a scalar format and how far the conversion has them:
///   decode                  every code is the number that its fields say
///   order                   numbers ascend in code order, and no two codes share one
///   round_trip              decoding and converting gives the code back, in every mode; NaN stays NaN
///   nearest                 the nearest number at every midpoint and beside it, ties as each mode says
///   directed                toward and away from zero, up, down and odd, beside every number and midpoint
///   single_rounding         where rounding to fp32, fp16 or bf16 first would give something else
///   sign_symmetry           -x becomes the opposite of x, up and down exchanged
///   overflow                from the largest number outward, as each policy says
///   special_values          NaN, infinities, zeros, subnormals, negatives of scales, by every switch
///   stochastic_probability  as many of all random integers round away as the mode's formula says
///   oracle                  all of these and random numbers against multiprecision arithmetic
/// All but the two before the last are proved for formats of at most 16 bits; wider ones are sampled in every
/// binade.
/// errors: throws Error if the descriptor is no format (spec/descriptor_checks.h).
ConformanceReport check_conformance(const ScalarFormat& format, const Conversion& conversion,
                                    const ConformanceOptions& options = {});

/// The elements by themselves ("element nearest", ...), and
///   block_scale        the scale of every amax at which the rule changes its mind, and beside it, against
///                      exact arithmetic; scales at both ends of their format
///   block_conventions  blocks of zeros, with NaN, with infinities, of subnormal numbers
///   block_elements     x / (s t) rounded once, at its midpoints and beside them
///   block_decode       a code under a scale is fl32((q s) t)
///   block_round_trip   what a block of all elements decodes to becomes the same codes again
///   short_block        a short last block is scaled by what it holds
///   tensor_scale       the second scale, at its midpoints and beside them
/// errors: as above.
ConformanceReport check_block_conformance(const BlockFormat& format, const BlockConversion& conversion,
                                          const ConformanceOptions& options = {});
inline ConformanceReport check_conformance(const BlockFormat& format, const BlockConversion& conversion,
                                           const ConformanceOptions& options = {}) {
  return check_block_conformance(format, conversion, options);
}

/// This library's own conversions: what a designer asks of a new format.
ConformanceReport check_conformance(const BlockFormat& format, const std::string& name,
                                    const ConformanceOptions& options = {});
ConformanceReport check_conformance(const ScalarFormat& format, const ConformanceOptions& options = {});
/// errors: throws Error if the text is no format.
ConformanceReport check_conformance(std::string_view spec, const ConformanceOptions& options = {});

}  // namespace halfulp
