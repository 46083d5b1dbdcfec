#pragma once
#include <limits>

#include "analysis/memory_probe.h"

namespace halfulp {

/// One window of steps, over the elements of a slot.
struct StagnationWindow {
  std::uint64_t elements = 0;   ///< whose every number was finite throughout
  std::uint64_t nonfinite = 0;  ///< the others
  std::uint64_t updated = 0;    ///< of elements, with an update != 0 in some step
  std::uint64_t stayed = 0;     ///< of updated, after == unmoved in every step
  std::uint64_t harmful = 0;    ///< of stayed, |sum of updates| > half the gap in its direction
};

/// Memory of stagnation that harms: over a window of steps the wanted movement adds up to more than half a gap, and yet
/// nothing was ever stored. Stagnation under updates that cancel is noise that rounding removed, and is not counted.
/// The gap is that of the last stored value under the last scale; where there is no number further on (a ceiling trap)
/// or no grid, nothing is harmful. Updates are added in double, in step order; windows follow one another without
/// overlap, and steps that do not fill one are not counted.
class HarmfulStagnation {
 public:
  struct Mark {
    double update, half_gap_above, half_gap_below;  ///< infinity where there is no neighbour
    bool is_finite, moves;
  };

  /// length: steps of a window, at least 1
  explicit HarmfulStagnation(std::uint32_t length = 100) : length_(length == 0 ? 1 : length) {}

  static Mark mark(const ElementStep& e) noexcept {
    constexpr double nowhere = std::numeric_limits<double>::infinity();
    const bool finite = e.is_finite(), has_gaps = finite && e.grid && !e.has_zero_scale();
    const auto half_gap = [&](bool up) {
      return has_gaps ? e.grid->gap(e.after, up).value_or(nowhere) / 2 : nowhere;
    };
    return {e.update, half_gap(true), half_gap(false), finite, e.after != e.unmoved};
  }
  void apply(std::size_t first, std::span<const Mark> marks) {
    for (std::size_t i = 0; i < marks.size(); ++i) add(remembered(elements_, first + i), marks[i]);
  }

  /// In order of time; the last one is incomplete only while the tiles of a step are being joined.
  const std::vector<StagnationWindow>& windows() const noexcept { return windows_; }
  std::uint32_t window_length() const noexcept { return length_; }

 private:
  struct Element {
    double net = 0;
    std::uint64_t steps = 0;
    bool is_spoiled = false, has_update = false, has_moved = false;
  };

  void add(Element& e, const Mark& m) {
    e.is_spoiled = e.is_spoiled || !m.is_finite;
    if (m.is_finite) {
      e.net += m.update;
      e.has_update = e.has_update || m.update != 0;
      e.has_moved = e.has_moved || m.moves;
    }
    if (++e.steps % length_ != 0) return;
    StagnationWindow& window = remembered(windows_, e.steps / length_ - 1);
    const bool stayed = !e.is_spoiled && e.has_update && !e.has_moved;
    window.nonfinite += e.is_spoiled;
    window.elements += !e.is_spoiled;
    window.updated += !e.is_spoiled && e.has_update;
    window.stayed += stayed;
    window.harmful += stayed && std::fabs(e.net) > (e.net > 0 ? m.half_gap_above : m.half_gap_below);
    e = {0, e.steps, false, false, false};
  }

  std::uint32_t length_;
  std::vector<Element> elements_;
  std::vector<StagnationWindow> windows_;
};

using HarmfulStagnationProbe = MemoryProbe<HarmfulStagnation>;

}  // namespace halfulp
