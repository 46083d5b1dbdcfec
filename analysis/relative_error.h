#pragma once
#include "analysis/gap_figure.h"

namespace halfulp {

/// |round(x) - x| / |x| for the x of this magnitude on the subject's side, rounded to nearest even; what lies
/// beyond the largest number saturates. The quotient by a scale is exact, whatever arithmetic the block
/// format prescribes. Accurate within 2^-50 of 1 or of itself, whichever is larger.
/// in: magnitude > 0 and finite; a subject of gap_subject()
double relative_error(const GapSubject& subject, double magnitude) noexcept;

/// The largest relative_error in [from, to]. The error is continuous in x (distance to the nearest number,
/// over x), and between two numbers it rises to their midpoint and falls after it: only midpoints and the two
/// ends can be largest, and of midpoints with one gap only the first.
/// stretches: gap_stretches of the subject
/// in: 0 < from <= to
double worst_relative_error(const GapSubject& subject, const std::vector<GapStretch>& stretches, double from,
                            double to) noexcept;

/// The largest error of every binade as steps, for every format, and for a format with at most 48 numbers in
/// the range the error itself: a tooth for every gap. 100 % (2^0) stands where numbers are rounded to zero;
/// beyond the largest number the error rises towards it.
/// errors: throws Error if the range is empty or not positive, or a subject stands twice.
Figure relative_error_figure(const std::vector<GapSubject>& subjects, const MagnitudeRange& range);

/// The range from three binades below every subject's smallest number to three above its largest, within
/// 2^-28 .. 2^20.
MagnitudeRange relative_error_range(const std::vector<GapSubject>& subjects);

}  // namespace halfulp
