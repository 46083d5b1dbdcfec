#pragma once
#include <vector>

namespace halfulp {

/// The q-quantile: linear between the two values nearest to position q (n - 1) of the ascending order.
/// in: q in [0, 1]; values may come in any order
/// errors: throws Error on no values.
double quantile(std::vector<double> values, double q);

/// How a repeated measurement spreads. The middle is a median since a disturbed repetition on a shared machine is
/// several times too long, and no mean survives that.
struct Quantiles {
  double low, median, high;  ///< 10 %, 50 %, 90 %
};

/// errors: throws Error on no values.
Quantiles quantiles_of(const std::vector<double>& values);

/// Quantiles of above[i] / below[i], what was measured in the same repetition each. Not the quotient of two medians: a
/// neighbour's memory traffic slows both sides of one repetition and cancels.
/// errors: throws Error on no values, or not equally many.
Quantiles ratio_of(const std::vector<double>& above, const std::vector<double>& below);

}  // namespace halfulp
