#pragma once
#include <cstdint>

#include "analysis/element_step.h"
#include "emulation/elementary.h"

namespace halfulp {

/// Scale runaway: weights that grow though no update asks for it, because they are stored again under a scale that
/// follows the largest of their block. Looked at are the weights whose update is zero or leads towards zero; a step's
/// growth of them is sum |unmoved| / sum |before|, and the growth of a run the product over its steps.
///
/// A ratio of sums over several steps would be no growth: it forgets that the second step starts where the first one
/// ended. So a step is closed by after_step(), which keeps the logarithm of its ratio; join() adds tiles of one step
/// that is still open, and closed steps alike.
struct ScaleRunaway {
  std::uint64_t elements = 0;      ///< weights other than zero with no update, or one towards zero
  std::uint64_t grown = 0;         ///< of these, |unmoved| > |before|
  std::uint64_t shrunk = 0;        ///< of these, |unmoved| < |before|
  double before = 0, unmoved = 0;  ///< of the open step: sum |before| and sum |unmoved|
  double log2_growth = 0;          ///< of the closed steps
  std::uint64_t steps = 0;         ///< closed, and with something to see

  void see(const ElementStep& e) noexcept {
    const bool looked_at = (e.before != 0) & !e.is_outward_from(e.before);
    const double was = std::fabs(e.before), is = std::fabs(e.unmoved);
    elements += looked_at;
    grown += looked_at & (is > was);
    shrunk += looked_at & (is < was);
    before += looked_at ? was : 0;
    unmoved += looked_at ? is : 0;
  }
  void join(const ScaleRunaway& other) noexcept {
    elements += other.elements;
    grown += other.grown;
    shrunk += other.shrunk;
    before += other.before;
    unmoved += other.unmoved;
    log2_growth += other.log2_growth;
    steps += other.steps;
  }
  /// Closes the step, once all its tiles are joined. A step in which there was no such weight, or in which all of them
  /// became zero (underflow, not growth), leaves the growth as it is.
  void after_step() noexcept {
    const double ratio = unmoved / before;
    if (before > 0 && ratio > 0 && std::isfinite(ratio)) {
      log2_growth += elementary::log2(ratio);
      ++steps;
    }
    before = unmoved = 0;
  }
  /// The factor by which the scales alone moved such weights in the closed steps; 1 if none was closed.
  double growth() const noexcept { return elementary::exp2(log2_growth); }
};

}  // namespace halfulp
