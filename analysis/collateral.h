#pragma once
#include <cstdint>

#include "analysis/element_step.h"

namespace halfulp {

/// Movement that no update asked for: `unmoved` differs from `before` because a shared scale changed.
struct Collateral {
  std::uint64_t elements = 0;
  std::uint64_t carried = 0;         ///< unmoved != before
  std::uint64_t only_by_scale = 0;   ///< carried, and after == unmoved
  std::uint64_t against_update = 0;  ///< after - before has the sign opposite to update
  double mass = 0;                   ///< sum |unmoved - before|

  void see(const ElementStep& e) noexcept {
    ++elements;
    mass += std::fabs(e.unmoved - e.before);
    carried += e.unmoved != e.before;
    only_by_scale += (e.unmoved != e.before) & (e.after == e.unmoved);
    against_update += ((e.after > e.before) & (e.update < 0)) | ((e.after < e.before) & (e.update > 0));
  }
  void join(const Collateral& other) noexcept {
    elements += other.elements;
    carried += other.carried;
    only_by_scale += other.only_by_scale;
    against_update += other.against_update;
    mass += other.mass;
  }
};

}  // namespace halfulp
