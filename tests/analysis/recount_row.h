#pragma once
#include <doctest/doctest.h>

#include <map>

#include "analysis/stagnation_share.h"
#include "analysis/step_counters.h"
#include "tests/analysis/representable.h"

// What a probe was shown, kept element by element, for slow recounts by other means than the counters use.
namespace halfulp::test {

inline constexpr double none = std::numeric_limits<double>::infinity();

struct StateRow {
  StateSlot slot;
  SlotPlan plan;
  double before, wanted, after, unmoved;
  std::optional<double> multiplier;
};

struct Row {
  double before, gradient, update, wanted, after, unmoved, multiplier;
  SlotPlan plan;
  bool is_part;  // of a stored slot; not the weight that parts make
  std::uint32_t tensor;
  std::size_t weight_slot, element;
  bool has_scale_of_step;  // whether it lies on a grid: not where a compensation is added
  TypicalStep typical;
  double multiplier_before;
  std::optional<double> decay, without_decay;
  std::vector<StateRow> states;

  bool has_grid() const { return plan.format && has_scale_of_step; }
  bool is_finite() const {
    bool finite = true;
    for (const double x : {before, gradient, update, wanted, after, unmoved})
      finite = finite && std::isfinite(x);
    return finite;
  }
};

template <class R>
std::vector<Row> rows_of(const TileRecord<R>& r) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < r.before.size(); ++i) {
    const double scale = r.multiplier.empty() ? 0 : r.multiplier[i];
    Row row{r.before[i],
            r.gradient[i],
            r.update[i],
            r.wanted[i],
            r.after[i],
            r.unmoved[i],
            scale,
            r.plan,
            !r.made_of_parts,
            r.tensor,
            r.weight_slot,
            r.first + i,
            !r.multiplier.empty(),
            r.typical,
            r.multiplier_before.empty() ? scale : r.multiplier_before[i],
            std::nullopt,
            std::nullopt,
            {}};
    if (!r.decay.empty()) row.decay = r.decay[i], row.without_decay = r.without_decay[i];
    for (const StateRecord<R>& s : r.states) {
      StateRow state{s.slot, s.plan, s.before[i], s.wanted[i], s.after[i], s.unmoved[i], std::nullopt};
      if (!s.multiplier.empty()) state.multiplier = s.multiplier[i];
      row.states.push_back(state);
    }
    rows.push_back(row);
  }
  return rows;
}

/// Counts and keeps what it counted.
struct CountAndKeep {
  struct Tile {
    CounterProbe counted;
    StagnationShare share;
    std::vector<Row> rows;
    template <class R>
    void see(const TileRecord<R>& r) {
      counted.see(r);
      share.see(r);
      const std::vector<Row> seen = rows_of(r);
      rows.insert(rows.end(), seen.begin(), seen.end());
    }
  };
  CounterProbe counted;
  StagnationShare share;
  std::vector<std::vector<Row>> tiles;
  void join(const Tile& tile) {
    counted.join(tile.counted);
    share.join(tile.share);
    tiles.push_back(tile.rows);
  }
};

/// All numbers of a format, decoded once.
inline const std::vector<double>& numbers_of(const ScalarFormat& f) {
  static std::vector<std::pair<ScalarFormat, std::vector<double>>> known;
  for (const auto& [format, values] : known)
    if (format == f) return values;
  return known.emplace_back(f, representable(f)).second;
}

struct Gap {
  bool known;                 // whether there is a grid at all
  double up, down, smallest;  // none where nothing follows
};

/// Distances from a stored number to its stored neighbours, by looking for it in the list of all.
inline Gap gaps(const SlotPlan& plan, double number, double m) {
  const ScalarFormat& f = plan.format->element;
  if (f == fp32) {
    const auto x = static_cast<float>(number);
    const float up = std::nextafter(x, INFINITY), down = std::nextafter(x, -INFINITY);
    return {true, static_cast<double>(up) - x, x - static_cast<double>(down), 0x1p-149};
  }
  const bool scaled = plan.format->has_scale();
  const std::vector<double>& values = numbers_of(f);
  const auto stored = [&](double v) { return scaled ? static_cast<float>(v * m) : v; };
  const double smallest = stored(*std::upper_bound(values.begin(), values.end(), 0.0));
  if (m == 0) return {true, none, none, smallest};
  const auto at = std::lower_bound(values.begin(), values.end(), number,
                                   [&](double v, double x) { return stored(v) < x; });
  if (at == values.end() || stored(*at) != number) return {false, none, none, -1};  // off the grid
  return {true, at + 1 == values.end() ? none : (at[1] - at[0]) * m,
          at == values.begin() ? none : (at[0] - at[-1]) * m, smallest};
}

using Counts = std::map<std::string, std::uint64_t>;
using Sums = std::map<std::string, double>;

inline void octave(Counts& n, const std::string& name, double x, int lowest, int highest) {
  if (x == 0) {
    ++n[name + " zeros"];
    return;
  }
  ++n[name + " " + std::to_string(std::clamp(std::ilogb(x), lowest, highest))];
}

}  // namespace halfulp::test
