#pragma once
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace halfulp {

/// Mean and sample standard deviation (n - 1) of the finite values.
struct Spread {
  std::size_t count = 0;                                        ///< finite values
  std::size_t not_finite = 0;                                   ///< the others
  double mean = std::numeric_limits<double>::quiet_NaN();       ///< NaN without a finite value
  double deviation = std::numeric_limits<double>::quiet_NaN();  ///< NaN with fewer than two

  bool has_deviation() const { return count >= 2; }
};
Spread spread_of(const std::vector<double>& values);

/// Standard deviation that two groups of seeds share: sqrt((a^2 + b^2) / 2), or the one that is known; NaN if
/// neither is.
double shared_deviation(const Spread& a, const Spread& b);

/// Spearman's rank correlation, ties at their mean rank; NaN with fewer than three pairs or where one side is
/// constant.
/// in: finite values, equally many
double rank_correlation(const std::vector<double>& x, const std::vector<double>& y);

// Numbers as a table shows them; "-" for NaN.

std::string loss_text(double loss);      ///< four decimals, beyond 100 or below 0.001 four digits
std::string share_text(double share);    ///< three decimals; "<.001" for a smaller one that is not zero
std::string signed_text(double share);   ///< three decimals with a sign
std::string percent_text(double share);  ///< 0.1 %
std::string weight_text(double weight);  ///< four digits, "4.0" for 4, "0" for 0
std::string spread_text(const Spread& spread);  ///< mean+-deviation as losses; "not finite" if no value is

}  // namespace halfulp
