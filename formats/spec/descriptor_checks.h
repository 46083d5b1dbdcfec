#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/block_format.h"

namespace halfulp {

/// Why a descriptor is no format, with the keys of the spec that are at fault (none: the widths in its name).
struct Refusal {
  std::string problem;
  std::vector<std::string_view> keys;
  std::string allowed;
};

/// Widths, and what a bias may be: every exponent, those of subnormal steps included, stays within +-40000,
/// so that sums of a few exponents are far from the ends of int. P3109's widest formats reach +-32768.
inline constexpr int most_exponent_bits = 16, most_fraction_bits = 23, largest_exponent = 40000;
constexpr int lowest_bias(int exponent_bits) noexcept { return (1 << exponent_bits) - 1 - largest_exponent; }
constexpr int highest_bias(int fraction_bits) noexcept { return largest_exponent + 1 - fraction_bits; }

/// Nothing if every code of the fields means one thing (a number, an infinity, NaN), every number has a code,
/// and rounding reaches all of them. Widths first, then the places of infinity and NaN, then zero.
/// in: any field values; a table is taken as it is (table_format() has judged it).
std::optional<Refusal> refusal_of(const ScalarFormat& f);

/// The same for blocks: a scale that its format has, and conventions that the rule uses.
/// in: f.has_scale(); element and scale have been judged by themselves.
std::optional<Refusal> refusal_of(const BlockFormat& f);

}  // namespace halfulp
