#pragma once
#include "formats/conformance/gaps.h"

namespace halfulp::conformance {

// One function a property of a scalar format; conformance.h says what each is about.

PropertyReport check_decode(const Subject& subject);
PropertyReport check_order(const Subject& subject);
PropertyReport check_round_trip(const Subject& subject);
PropertyReport check_nearest(const Subject& subject, const std::vector<Gap>& gaps);
PropertyReport check_directed(const Subject& subject, const std::vector<Gap>& gaps);
PropertyReport check_single_rounding(const Subject& subject, const std::vector<Gap>& gaps);
PropertyReport check_sign_symmetry(const Subject& subject, const std::vector<Gap>& gaps);
PropertyReport check_overflow(const Subject& subject);
PropertyReport check_special_values(const Subject& subject);
PropertyReport check_stochastic_probability(const Subject& subject, const std::vector<Gap>& gaps);
PropertyReport check_oracle(const Subject& subject, const std::vector<Gap>& gaps);

/// Inputs around and beyond both ends of the range: the largest number, the midpoint above it, the grid
/// beyond, Inf.
std::vector<Point> points_beyond(const Subject& subject);

/// Inputs that switches speak of: NaN with payloads, zeros, subnormals of fp32 and of the format, -1 and the
/// like.
std::vector<Point> special_points(const Subject& subject);

/// Random integers worth trying at an input: both sides of the decision, the ends and the middle.
std::vector<std::uint32_t> randoms_at(const oracle::Bracket& b, Rounding rounding);

inline Coverage coverage_of(const Subject& subject) {
  return subject.is_wide() || !subject.is_complete() ? Coverage::sampled : Coverage::exhaustive;
}

}  // namespace halfulp::conformance
