#pragma once
#include "optimizers/slot.h"

namespace halfulp {

/// One compensated update of one weight, before the weight itself is rounded: what is to be stored, and what the new
/// compensation is made of.
template <class R>
struct CompensatedUpdate {
  R target;   ///< to be stored as the weight, one rounding
  R carried;  ///< kahan: compensation plus increment; Collage: the compensation after the first half of Grow
  R anchor;   ///< the new compensation is carried - (stored weight - anchor)
};

/// kahan (as in the optimi library's documentation of Kahan summation):
///     k = rounded(c + u);  w' = rounded(w + k);  c' = rounded(k - (w' - w))
/// Collage (Yu et al. 2024, Grow on the pair (w, c)), every operation rounded to the format of the weight:
///     a = w + u;  r = c + (u - (a - w));  w' = a + r;  c' = r - (w' - a)
/// What stands inside no rounded() above is exact in exact arithmetic on numbers of bf16 and narrower formats whose
/// exponents are close, else rounds in R.
/// in: kind != none; weight, residual: slots without scales that round to nearest (TensorPlan::residual checks)
template <class R>
CompensatedUpdate<R> compensated_update(Compensation kind, const Slot<R>& weight, const Slot<R>& residual, R w, R c,
                                        R u) noexcept {
  if (kind == Compensation::kahan) {
    const R k = residual.rounded(c + u);
    return {w + k, k, w};
  }
  const R step = weight.rounded(u);
  const R a = weight.rounded(w + step);
  const R missed = weight.rounded(step - weight.rounded(a - w));
  const R r = weight.rounded(c + missed);
  return {a + r, r, a};
}

/// The new compensation, not yet rounded to its own slot, once the weight is stored as `after`.
template <class R>
R new_compensation(Compensation kind, const Slot<R>& weight, const CompensatedUpdate<R>& update, R after) noexcept {
  const R gained = after - update.anchor;
  return update.carried - (kind == Compensation::kahan ? gained : weight.rounded(gained));
}

}  // namespace halfulp
