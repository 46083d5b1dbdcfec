#pragma once
#include <string>
#include <vector>

#include "experiments/report/groups.h"

namespace halfulp {

/// Counts per power of two, summed over the seeds of a group: counts[i] of
/// [2^(lowest + i), 2^(lowest + i + 1)).
struct Octaves {
  int lowest = 0;
  std::vector<double> counts;

  double total() const;
};

/// The counter /measurements/all/octaves/`name`: "updated", "stayed" or "update_over_half_gap"; empty where
/// the records have none.
Octaves octaves_of(const Group& group, const std::string& name);

/// Stayed over updated among the octaves within [from, to); NaN if nothing was updated there.
double unchanged_share(const Group& group, double from, double to);

/// Upper end of the highest octave that holds at least a thousandth of the updated elements; 0 if none.
double largest_usual_magnitude(const Group& group);

}  // namespace halfulp
