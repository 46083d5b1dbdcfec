#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/element_step.h"

namespace halfulp {

/// Why an element with an update stayed where it was; the first that applies.
enum class StagnationCause : std::uint8_t {
  absorbed,        ///< wanted == before: the sum already lost the update in working precision
  saturated,       ///< at the end of the format in the update's direction
  at_zero,         ///< stored as zero
  below_half_gap,  ///< |update| < half the gap in its direction
  random,          ///< stochastic rounding, and the draw said no
  otherwise,       ///< a tie, or a directed mode
};
inline constexpr std::array<std::string_view, 6> stagnation_cause_names{
    "absorbed", "saturated", "at_zero", "below_half_gap", "random", "otherwise"};

/// Cause of the stagnation of one element.
/// in: e.update != 0 and e.after == e.unmoved, all finite
inline StagnationCause stagnation_cause(const ElementStep& e) noexcept {
  using enum StagnationCause;
  const double gap = e.gap_or_zero();
  // By choices, not returns: which one applies is as random as the numbers, and a wrong guess of the processor costs more
  // than all of them.
  const StagnationCause by_rounding = e.stochastic ? random : otherwise;
  const StagnationCause below_end = std::fabs(e.update) < gap / 2 ? below_half_gap : by_rounding;
  const StagnationCause with_scale = e.grid && gap == 0 ? saturated : e.unmoved == 0 ? at_zero : below_end;
  return e.wanted == e.before ? absorbed : e.has_zero_scale() ? at_zero : with_scale;
}

/// Rounding stagnation: among elements with an update, those that stayed (after == unmoved), by cause and
/// direction.
struct Stagnation {
  std::uint64_t updated = 0;  ///< elements with update != 0
  std::uint64_t stayed = 0;   ///< of these, after == unmoved
  std::uint64_t updated_outward = 0,
                stayed_outward = 0;  ///< of these, update points away from zero, or starts there
  std::array<std::uint64_t, 6> by_cause{};

  void see(const ElementStep& e) noexcept {
    const bool moves = e.update != 0, stays = moves & (e.after == e.unmoved);
    const bool outward = (e.unmoved == 0) | ((e.unmoved > 0) == (e.update > 0));
    updated += moves;
    updated_outward += moves & outward;
    stayed += stays;
    stayed_outward += stays & outward;
    by_cause[static_cast<std::size_t>(stagnation_cause(e))] += stays;
  }
  void join(const Stagnation& other) noexcept {
    updated += other.updated;
    stayed += other.stayed;
    updated_outward += other.updated_outward;
    stayed_outward += other.stayed_outward;
    for (std::size_t cause = 0; cause < by_cause.size(); ++cause) by_cause[cause] += other.by_cause[cause];
  }
  double share() const noexcept {
    return updated == 0 ? 0 : static_cast<double>(stayed) / static_cast<double>(updated);
  }
};

}  // namespace halfulp
