#pragma once
#include <optional>

#include "analysis/gap.h"
#include "analysis/plot.h"

namespace halfulp {

/// Magnitudes that a gap figure shows.
struct MagnitudeRange {
  double from, to;
};

/// The range that shows every subject and nothing else, kept within 2^-20 .. 2^10, where weights are.
MagnitudeRange default_range(const std::vector<GapSubject>& subjects);

/// Gap and half gap of every format against magnitude, as steps whose corners are at the binades, the update
/// size of every rule laid over, and a point where an additive update stops moving numbers
/// (analysis/prediction.h). Where a rule's line is below a format's half gap, nearest_even rounds its updates
/// away.
/// errors: throws Error if the range is empty or not positive, or a subject or rule stands twice.
Figure gap_figure(const std::vector<GapSubject>& subjects, const std::vector<UpdateSize>& updates,
                  const MagnitudeRange& range);

}  // namespace halfulp
