#pragma once
#include <array>
#include <vector>

namespace halfulp::reference {

/// What the learning rates of one step are multiplied by.
struct Rates {
  double schedule;
  double schedule_m;  ///< of a multiplicative branch beside another
};

/// View and gradient of a method that keeps its weight as it is; states from zero.
template <class Real>
struct PlainWeight {
  Real view(const std::array<Real, 1>& w, const std::array<Real, 1>&, const Real&) const { return w[0]; }
  std::array<Real, 1> gradients(const std::array<Real, 1>&, const std::array<Real, 1>&, const Real&,
                                const Real& d) const {
    return {d};
  }
};

}  // namespace halfulp::reference
