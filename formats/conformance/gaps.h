#pragma once
#include <vector>

#include "formats/conformance/subject.h"

namespace halfulp::conformance {

/// Two neighbouring numbers of a format.
struct Gap {
  Dyadic low, high;
  std::uint32_t low_code,
      high_code;  ///< of -0 for the upper end of the first gap below zero, where there is one
};

/// All gaps of formats of at most 16 bits; of wider ones those at the ends and inside every binade (of at
/// most 300 binades).
std::vector<Gap> gaps_of(const oracle::Oracle& oracle);

/// A number inside a gap, and on which side of the midpoint it stands.
struct GapPoint {
  Point x;
  int side;  ///< -1, 0, 1

  bool negative() const { return x.exact.negative; }
};

/// The midpoint, and the next double and float on both sides of it, as far as they lie inside.
void append_around_midpoint(std::vector<GapPoint>& points, const Gap& gap, const Subject& subject);

/// The next double and float beside both ends.
void append_beside_ends(std::vector<GapPoint>& points, const Gap& gap, const Subject& subject);

/// One number, if it lies inside.
void append_inside(std::vector<GapPoint>& points, const Gap& gap, const Subject& subject, const Dyadic& x);

/// Exact midpoint, if it has at most 53 bits.
std::optional<Dyadic> midpoint(const Gap& gap);

/// What the sentence of a mode makes of a number inside a gap.
/// in: a deterministic mode
std::uint32_t code_by_definition(const Gap& gap, const GapPoint& point, RoundingMode mode);

}  // namespace halfulp::conformance
