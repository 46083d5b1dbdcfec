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

/// The gaps of a format from its smallest magnitude to its largest, stored numbers times `scale`, in
/// ascending order; neighbouring stretches have different gaps. Exact for a scale of at most 28 significant
/// bits.
/// in: scale > 0
std::vector<GapStretch> gap_stretches(const ScalarFormat& f, double scale);

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

/// A format as its gaps see it: elements under one multiplier.
struct GapSubject {
  std::string name;
  ScalarFormat element;
  double scale;
};

/// The element format under the scale that the format's own rule gives to a block (and tensor) of this amax;
/// a scalar format under scale 1.
/// errors: throws Error if that scale is zero or not finite.
GapSubject gap_subject(const std::string& name, const BlockFormat& format, double amax);

}  // namespace halfulp
