#include "analysis/sign_flips.h"

#include "optimizers/rule.h"

namespace halfulp {

double sign_flip_failure(std::span<const double> start, std::span<const double> now,
                         std::span<const double> optimum) {
  std::uint64_t started = 0, failed = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const double sign = sign_of(optimum[i]);
    if (sign == 0 || sign_of(start[i]) == sign) continue;
    ++started;
    failed += sign_of(now[i]) != sign;
  }
  return started == 0 ? 0 : static_cast<double>(failed) / static_cast<double>(started);
}

double sign_disagreement(std::span<const double> a, std::span<const double> b) {
  std::uint64_t differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differ += sign_of(a[i]) != sign_of(b[i]);
  return a.empty() ? 0 : static_cast<double>(differ) / static_cast<double>(a.size());
}

}  // namespace halfulp
