#pragma once
#include "analysis/gap.h"
#include "analysis/plot.h"

namespace halfulp {

/// Magnitudes that a gap figure shows.
struct MagnitudeRange {
  double from, to;
};

/// The range that shows every subject and nothing else, kept within `widest`, where weights are; a subject
/// that lies outside of that is shown all the same, 20 binades of it.
MagnitudeRange default_range(const std::vector<GapSubject>& subjects,
                             const MagnitudeRange& widest = {0x1p-20, 0x1p10});

/// errors: throws Error, from `where`, if the range is empty or does not lie within the normal doubles.
void require_range(const MagnitudeRange& range, const std::string& where);

/// errors: throws Error, from `where`, if two subjects have one name.
void require_distinct(const std::vector<GapSubject>& subjects, const std::string& where);

/// Colour number of the format at this place, in every figure of formats: black is left to other things.
int format_colour(std::size_t place) noexcept;

/// Gap (thin, dashed) and half gap (thick, marked) of every format against magnitude, as steps whose corners
/// are at the binades; a second pair of lines for the negative side of a table that differs there. The update
/// size of every rule is laid over, with a point where an additive update stops moving numbers. Where a
/// rule's line is below a format's half gap, nearest_even rounds its updates away. Of a format with more than
/// 1024 gaps in range, the largest ones of groups are drawn.
/// errors: throws Error if the range is empty or not positive, or a subject or rule stands twice.
Figure gap_figure(const std::vector<GapSubject>& subjects, const std::vector<UpdateSize>& updates,
                  const MagnitudeRange& range);

}  // namespace halfulp
