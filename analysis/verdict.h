#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/step_counters.h"
#include "optimizers/plan.h"

namespace halfulp {

/// What one step did to one element; the first that applies.
enum class VerdictKind : std::uint8_t {
  nonfinite,          ///< a NaN or an infinity took part: counted as nothing else
  trapped_at_zero,    ///< stored as zero before and after, though it has a gradient
  sign_flip_refused,  ///< wanted the other sign, and kept its own
  moved_by_scale,     ///< stored differently only because a shared scale changed
  saturated,          ///< stays at the end of the format
  stays,              ///< has an update, and stays for another cause
  no_update,          ///< the rule asked for nothing
  moves,
};
inline constexpr std::array<std::string_view, 8> verdict_kind_names{
    "nonfinite", "trapped_at_zero", "sign_flip_refused", "moved_by_scale",
    "saturated", "stays",           "no_update",         "moves"};

struct Verdict {
  VerdictKind kind;
  std::optional<StagnationCause> cause;  ///< of an element with an update that stayed where its scale put it
  std::optional<double> half_gap;        ///< towards the update; nullopt without an update, grid or neighbour
  std::optional<double> up;              ///< probability of the upper neighbour, as up_probability()
  bool trapped;  ///< counts as trapped: at most the smallest positive number of its block
};

/// The verdict that the counters give: they are shown this one element, and what they counted is read off, so that
/// the two cannot disagree.
/// plan: of the element's slot
/// errors: none.
Verdict verdict_of(const ElementStep& e, const SlotPlan& plan) noexcept;

/// Share of a stochastic rounding's 2^N random integers that store `wanted` as the upper of its two neighbours, exact.
/// nullopt where no draw decides (another rounding, a number of the format, beyond its largest), and under a scale
/// that is no power of two, whose quotient depends on the arithmetic of its block.
/// errors: none.
std::optional<double> up_probability(const ElementStep& e, const SlotPlan& plan) noexcept;

/// The verdict in words and numbers: "stays: |update| 1.0e-3 < half gap 3.9e-3 upwards". Two digits a number, more
/// where two that differ would read the same.
/// in: verdict == verdict_of(e, plan)
std::string describe(const Verdict& verdict, const ElementStep& e, const SlotPlan& plan);

}  // namespace halfulp
