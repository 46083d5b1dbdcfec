#pragma once
#include "emulation/elementary.h"

namespace halfulp {

/// The loss log(1 + e^-m) of a margin m, and its derivative -1 / (1 + e^m).
struct LogisticLoss {
  double loss, derivative;
};

/// With e = e^-|m|, which is at most 1 and so never overflows:
///   m > 0:   log1p(e)        -e / (1 + e)     a loss near 0 keeps its digits down to the smallest subnormal
///   m <= 0:  -m + log1p(e)   -1 / (1 + e)     two summands of one sign: nothing cancels
/// out: both within 4 ulp (1 for e, 1 for log1p, which passes on at most the relative error of e; sum or quotient), but
///      for results below 2^-1022, which an ulp of the smallest subnormal bounds; a NaN gives NaN, m = -Inf gives Inf
/// errors: none (total function)
inline LogisticLoss logistic_loss(double margin) noexcept {
  if (margin > 0) {
    const double e = elementary::exp<double>(-margin);
    return {elementary::log1p<double>(e), -e / (1 + e)};
  }
  const double e = elementary::exp<double>(margin);
  return {-margin + elementary::log1p<double>(e), -1 / (1 + e)};
}

}  // namespace halfulp
