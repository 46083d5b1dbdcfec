#pragma once
#include <cmath>

#include "formats/round.h"

namespace halfulp {

/// Exact sign of a sum of doubles: a non-overlapping expansion grown one term at a time (Shewchuk 1997), whose largest
/// component that is not zero has the sign of the whole.
/// in: at most 6 terms, no overflow in their partial sums.
class ExactSum {
 public:
  HALFULP_HD constexpr void add(double term) noexcept {
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      // Two-sum: sum + error is parts_[i] + term exactly.
      const double sum = term + parts_[i], other = sum - parts_[i];
      const double error = (parts_[i] - (sum - other)) + (term - other);
      if (error != 0) parts_[kept++] = error;
      term = sum;
    }
    parts_[kept++] = term;
    count_ = kept;
  }
  /// a * b, exact while the last place of the product is a double.
  HALFULP_HD void add_product(double a, double b) noexcept {
    const double product = a * b;
    add(std::fma(a, b, -product));
    add(product);
  }
  HALFULP_HD constexpr int sign() const noexcept {
    for (int i = count_; i-- > 0;)
      if (parts_[i] != 0) return parts_[i] > 0 ? 1 : -1;
    return 0;
  }

 private:
  double parts_[8] = {};
  int count_ = 0;
};

/// floor(2^n (x - lower) / (upper - lower)) and whether that is exact.
struct GapFraction {
  std::uint64_t floor;
  bool exact;
};

/// in: lower < x < upper, all 0 or of magnitude in [2^-900, 2^900] but x, whose magnitude may be smaller; n <= 34.
HALFULP_HD inline GapFraction gap_fraction(double x, double lower, double upper, int n) noexcept {
  const double whole = power_of_two(n);
  const auto excess = [&](double k) {  // sign of 2^n (x - lower) - k (upper - lower)
    ExactSum sum;
    sum.add_product(whole, x);
    sum.add_product(k - whole, lower);
    sum.add_product(-k, upper);
    return sum.sign();
  };
  // Three roundings of at most 2^-52 each of a number below 2^35 leave an error below 1.
  double k = std::floor(std::fmin((x - lower) / (upper - lower), 1.0) * whole);
  while (excess(k) < 0) --k;
  while (excess(k + 1) >= 0) ++k;
  return {static_cast<std::uint64_t>(k), excess(k) == 0};
}

/// x rounded to a number of a table; NaN stays NaN, and what lies beyond the table's ends stays as it is, for
/// overflow() to judge. Toward zero is down for x > 0 and up for x < 0, also in a gap that zero lies inside; parity is
/// that of the code, a position in the table.
/// in: f.is_table(); random in [0, 2^random_bits).
HALFULP_HD_RARE inline double round_in_table(double x, const ScalarFormat& f, Rounding rounding,
                                             std::uint32_t random) noexcept {
  const double* const values = f.table;
  if (!(x > values[0] && x < values[f.table_size - 1])) return x;
  std::uint32_t low = 0, high = f.table_size - 1;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (values[middle] <= x ? low : high) = middle;
  }
  if (values[low] == x) return x;
  // Seen from zero outward: a negative number stands in the mirrored gap.
  const bool negative = x < 0;
  const std::uint32_t inner = negative ? high : low, outer = negative ? low : high;
  const double side = negative ? -1.0 : 1.0;
  const int guard = guard_bits(rounding.mode, rounding.random_bits);
  const GapFraction nu = gap_fraction(side * x, side * values[inner], side * values[outer], guard + 1);
  const std::uint64_t parity = inner & 1u;
  const std::uint64_t kept = with_mode(rounding.mode, [&]<RoundingMode mode>() {
    return decide_in_integers<mode>((parity << (guard + 1)) + nu.floor, !nu.exact, negative,
                                    static_cast<std::uint64_t>(guard), random);
  });
  return values[(kept >> guard) > parity ? outer : inner];
}

}  // namespace halfulp
