#pragma once
#include "formats/dyadic.h"
#include "formats/table_rounding.h"

namespace halfulp {

/// x rounded to the precision of f, in one rounding, with unbounded exponent above; a float argument is exact. Lanes
/// where they fit, integers where they do not (fp32 with more than 26 random bits, formats at the ends of double's
/// range), a search in tables.
/// in:     random in [0, 2^random_bits), ignored by the other modes; f.has_double_view().
/// errors: none (total function): NaN stays NaN, infinities become a magnitude beyond max_finite().
HALFULP_HD_RARE constexpr double round(double x, const ScalarFormat& f, Rounding rounding,
                                       std::uint32_t random) noexcept {
  if (f.is_table()) return round_in_table(x, f, rounding, random);
  if (lanes_fit<double>(f, guard_bits(rounding.mode, rounding.random_bits)))
    return round_to_grid(x, make_grid<double>(f), rounding, std::uint64_t{random});
  const Dyadic rounded = round_dyadic(dyadic_of(x), f, rounding, random);
  // Rounding up from the last binade may leave double's range.
  if (rounded.kind == NumberClass::finite && rounded.significand != 0 && leading_exponent(rounded) > 1023)
    return rounded.negative ? -std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::infinity();
  return double_of(rounded);
}

}  // namespace halfulp
