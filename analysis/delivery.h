#pragma once
#include "analysis/element_step.h"

namespace halfulp {

/// How much of the wanted movement arrived. Sums in element order within a tile, then in tile order.
struct Delivery {
  double effective_dot_update = 0;  ///< sum (after - unmoved) update
  double update_squared = 0;        ///< sum update^2
  double effective_squared = 0;     ///< sum (after - unmoved)^2
  double lost = 0;                  ///< sum |wanted - after|
  double wanted_mass = 0;           ///< sum |update|

  void see(const ElementStep& e) noexcept {
    const double effective = e.after - e.unmoved;
    effective_dot_update += effective * e.update;
    update_squared += e.update * e.update;
    effective_squared += effective * effective;
    lost += std::fabs(e.wanted - e.after);
    wanted_mass += std::fabs(e.update);
  }
  void join(const Delivery& other) noexcept {
    effective_dot_update += other.effective_dot_update;
    update_squared += other.update_squared;
    effective_squared += other.effective_squared;
    lost += other.lost;
    wanted_mass += other.wanted_mass;
  }
  /// <after - unmoved, update> / |update|^2: 1 if all of it arrives, 0 if nothing does (and for no update at
  /// all).
  double ratio() const noexcept { return update_squared == 0 ? 0 : effective_dot_update / update_squared; }
  /// Cosine of effective and wanted movement; 0 if either is zero.
  double cosine() const noexcept {
    const double norms = std::sqrt(update_squared) * std::sqrt(effective_squared);
    return norms == 0 ? 0 : effective_dot_update / norms;
  }
  /// sum |wanted - after| / sum |update|.
  double lost_ratio() const noexcept { return wanted_mass == 0 ? 0 : lost / wanted_mass; }
};

}  // namespace halfulp
