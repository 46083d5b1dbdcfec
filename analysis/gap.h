#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "formats/block_format.h"

namespace halfulp {

/// Magnitudes with the same gap: from a number in [from, to), the next larger one is `gap` away.
struct GapStretch {
  double from, to, gap;

  friend constexpr bool operator==(const GapStretch&, const GapStretch&) = default;
};

/// Which numbers: a table may be dense on one side of zero and coarse on the other.
enum class Side : std::uint8_t { positive, negative };

/// The gaps of a format from its smallest magnitude on one side of zero (zero itself, where it has one) to
/// its largest, stored numbers times `scale`, in ascending order; neighbouring stretches have different gaps.
/// Exact for a scale of at most 28 significant bits; differences of a table's numbers are rounded once to
/// double. Empty on a side with fewer than two numbers.
/// in: scale > 0; f.has_double_view()
std::vector<GapStretch> gap_stretches(const ScalarFormat& f, double scale, Side side = Side::positive);

/// Distance from the magnitude to the next larger stored number, 0 from the largest on or below a smallest
/// one that is not zero.
double gap_above(const std::vector<GapStretch>& stretches, double magnitude) noexcept;

/// How large a rule's update is: |u| = additive + relative * |w|, for a gradient as large as the rule expects
/// (AdamW: |m_hat| = sqrt(v_hat); Madam, LMD: every normalised gradient of size one).
struct UpdateSize {
  std::string name;
  double additive, relative;

  double at(double magnitude) const noexcept { return additive + relative * magnitude; }
};

/// The size that a text states: adam, adamw, additive (|u| = RATE); madam, lmd, relative (|u| = RATE |w|);
/// m+adam=ETA_A,ETA_M (|u| = ETA_A + ETA_M |w|).
/// errors: throws Error with the rules' names; rates are positive numbers.
UpdateSize parse_update(std::string_view text);

/// A format as its gaps see it: elements under one multiplier, on one side of zero.
struct GapSubject {
  std::string name;
  ScalarFormat element;
  double scale;
  Side side = Side::positive;

  /// Largest magnitude on this side, times the scale; of fixed point the one that both sides have.
  double largest() const noexcept;
};

/// The element format under the scale that the format's own rule gives to a block (and tensor) of this amax;
/// a scalar format under scale 1.
/// errors: throws Error if that scale is zero or not finite, or some numbers under it lie beyond double's
/// range.
GapSubject gap_subject(const std::string& name, const BlockFormat& format, double amax);

/// The subject, followed by its negative side, named so, where a table's magnitudes differ there.
std::vector<GapSubject> sides_of(const GapSubject& subject);

/// The largest magnitude of the subject that an update of this size still moves, in some direction, under
/// nearest_even; 0 if none moves, or zero alone. The largest number counts as stuck away from zero: it
/// saturates. As exact as gap_stretches.
/// in: update > 0
double frozen_above(const GapSubject& subject, double update) noexcept;

}  // namespace halfulp
