// How long elements dwell near zero: by hand, and against a scan of each element's whole history.
#include "analysis/dwell.h"

#include <doctest/doctest.h>

#include "tests/analysis/random_tiles.h"
#include "tests/analysis/recount_row.h"

namespace halfulp {
namespace {

using test::moved;

/// The steps of one element, one after the other.
Dwell after_steps(const std::vector<ElementStep>& steps) {
  Dwell dwell;
  for (const ElementStep& e : steps) {
    const Dwell::Mark mark = Dwell::mark(e);
    dwell.apply(0, {&mark, 1});
  }
  return dwell;
}
std::uint64_t bin(const OctaveCounts<0, 31>& counts, std::size_t exponent) { return counts.counts[exponent]; }
ElementStep idle(ElementStep e) {
  e.gradient = 0;
  return e;
}

TEST_CASE("dwell: three steps at zero, one near it, then out") {
  const std::vector<ElementStep> steps{moved(e2m1, 0, 0.1, 0),     moved(e2m1, 0, 0.1, 0),
                                       moved(e2m1, 0, 0.1, 0),     moved(e2m1, 0, 0.3, 0.5),
                                       moved(e2m1, 0.5, 0.1, 0.5), moved(e2m1, 0.5, 0.6, 1)};
  const Dwell d = after_steps(steps);
  // At zero: three steps, left by the fourth. Near zero (at most 0.5): five, left by the sixth.
  CHECK(d.at_zero.escapes == 1);
  CHECK(bin(d.at_zero.finished, 1) == 1);
  CHECK(d.at_zero.longest == 3);
  CHECK(d.near_zero.escapes == 1);
  CHECK(bin(d.near_zero.finished, 2) == 1);
  CHECK(d.near_zero.longest == 5);
  CHECK(d.zeroings == 0);
  // One step earlier, the second has not ended.
  const Dwell open = after_steps({steps.begin(), steps.end() - 1});
  CHECK(open.near_zero.escapes == 0);
  CHECK(open.near_zero.longest == 5);
  CHECK(bin(open.near_zero.unfinished(), 2) == 1);
  CHECK(open.near_zero.unfinished().zeros == 0);
}

TEST_CASE("dwell: steps without a gradient do not count, and do not end it either") {
  const Dwell d = after_steps(
      {moved(e2m1, 0, 0.1, 0), idle(moved(e2m1, 0, 0, 0)), moved(e2m1, 0, 0.1, 0), moved(e2m1, 0, 2, 2)});
  CHECK(d.at_zero.longest == 2);
  CHECK(bin(d.at_zero.finished, 1) == 1);
  const Dwell never = after_steps({idle(moved(e2m1, 0, 0, 0)), moved(e2m1, 0, 2, 2)});
  CHECK(never.at_zero.escapes == 0);
  CHECK(never.near_zero.longest == 0);
}

TEST_CASE("dwell: a step with a number that is not finite is passed over") {
  ElementStep bad = moved(e2m1, 0, 2, 2);
  bad.update = std::nan("");
  const Dwell d = after_steps({moved(e2m1, 0, 0.1, 0), bad, moved(e2m1, 0, 0.1, 0)});
  CHECK(d.at_zero.escapes == 0);
  CHECK(d.at_zero.longest == 2);
}

TEST_CASE("dwell: put back to zero, the first time and again") {
  const Dwell d = after_steps({moved(e2m1, 1, -0.9, 0),      // to zero, for the first time
                               moved(e2m1, 0, 0.5, 0.5),     // out
                               moved(e2m1, 0.5, -0.3, 0),    // back: wanted 0.2
                               moved(e2m1, 0, 0.5, 0.5),     // out
                               moved(e2m1, 0.5, -0.5, 0)});  // zero is what was wanted
  CHECK(d.zeroings == 2);
  CHECK(d.rezeroings == 1);
  CHECK(after_steps({moved(e2m1, 0, 1, 1), moved(e2m1, 1, -0.9, 0)}).rezeroings == 1);  // it started at zero
}

TEST_CASE("dwell: the zone follows the scale") {
  // 4 = 0.5 * 8 is the smallest positive number; when the scale falls to 1 it is out without having moved.
  ElementStep carried = moved(e2m1, 4, 0.1, 4, 1);
  carried.multiplier_before = 8;
  const Dwell d = after_steps({moved(e2m1, 4, 0.1, 4, 8), moved(e2m1, 4, 0.1, 4, 8), carried});
  CHECK(d.near_zero.longest == 2);
  CHECK(d.near_zero.escapes == 1);
  CHECK(d.at_zero.longest == 0);
  ElementStep gridless = moved(e2m1, 0, 0.1, 0);
  gridless.grid.reset();
  CHECK(after_steps({gridless, gridless}).near_zero.longest == 0);
  CHECK(after_steps({gridless, gridless}).at_zero.longest == 2);
}

/// From the whole history of one element: dwells by length, cut out between the steps that leave.
struct Scan {
  std::map<std::size_t, std::uint64_t> finished, unfinished;
  std::uint64_t longest = 0;

  void add(const std::vector<test::Row>& history, bool near) {
    const auto inside = [&](const test::Row& r, double x) {
      if (!near) return x == 0;
      return r.has_grid() && std::fabs(x) <= test::gaps(r.plan, r.unmoved, r.multiplier).smallest;
    };
    std::size_t begin = 0;
    while (begin < history.size()) {
      std::size_t end = begin, length = 0;
      while (end < history.size() && inside(history[end], history[end].after)) ++end;
      for (std::size_t i = begin; i < end; ++i)
        length += history[i].gradient != 0 && inside(history[i], history[i].before);
      if (length > 0) ++(end < history.size() ? finished : unfinished)[length];
      longest = std::max<std::uint64_t>(longest, length);
      begin = end + 1;
    }
  }
  void check(const DwellTimes& times) const {
    OctaveCounts<0, 31> closed, open;
    std::uint64_t escapes = 0;
    for (const auto& [length, count] : finished) {
      escapes += count;
      closed.counts[static_cast<std::size_t>(std::ilogb(static_cast<double>(length)))] += count;
    }
    for (const auto& [length, count] : unfinished)
      open.counts[static_cast<std::size_t>(std::ilogb(static_cast<double>(length)))] += count;
    CHECK(times.finished.counts == closed.counts);
    CHECK(times.unfinished().counts == open.counts);
    CHECK(times.escapes == escapes);
    CHECK(times.longest == longest);
    CHECK(escapes > 10);
    CHECK(longest > 4);
  }
};

TEST_CASE("dwell probe: random tiles of two tensors and two slots against a scan of their histories") {
  test::Draws draw(31);
  DwellProbe probe;
  std::map<DwellProbe::Key, std::map<std::size_t, std::vector<test::Row>>> histories;
  const BlockFormat formats[] = {parse_format("nvfp4"), parse_format("e4m3")};
  for (int step = 0; step < 60; ++step)
    for (std::uint32_t tensor = 0; tensor < 2; ++tensor)
      for (const std::size_t first : {0u, 20u}) {
        DwellProbe::Tile tile;
        std::vector<test::Row> rows;
        for (std::size_t slot = 0; slot < 2; ++slot) {
          test::MadeTile<double> made = test::draw_tile<double>(draw, formats[tensor], 20);
          made.tensor = tensor, made.weight_slot = slot, made.first = first;
          for (std::size_t i = 0; i < 20; ++i) {
            const double smallest =
                made.multiplier.empty() ? 1 : static_cast<float>(e2m1.min_positive() * made.multiplier[i]);
            if (!draw.one_in(6)) made.before[i] = draw.one_in(3) ? smallest : 0;
            if (!draw.one_in(6))
              made.after[i] = made.unmoved[i] = tensor == 0 && draw.one_in(3) ? smallest : 0;
          }
          made.show(tile);
          struct {
            std::vector<test::Row>& rows;
            void see(const TileRecord<double>& r) {
              for (const test::Row& row : test::rows_of(r)) rows.push_back(row);
            }
          } keep{rows};
          made.show(keep);
        }
        probe.join(tile);
        for (const test::Row& row : rows)
          if (row.is_finite()) histories[{row.tensor, row.weight_slot}][row.element].push_back(row);
      }
  REQUIRE(probe.memories().size() == 4);
  for (const auto& [key, dwell] : probe.memories()) {
    Scan near, at;
    std::uint64_t zeroings = 0, rezeroings = 0;
    for (const auto& [element, history] : histories[key]) {
      near.add(history, true);
      at.add(history, false);
      for (std::size_t i = 0; i < history.size(); ++i) {
        if (history[i].before == 0 || history[i].wanted == 0 || history[i].after != 0) continue;
        ++zeroings;
        rezeroings += std::any_of(
            history.begin(), history.begin() + static_cast<std::ptrdiff_t>(i),
            [](const auto& r) { return r.before == 0 || (r.after == 0 && r.before != 0 && r.wanted != 0); });
      }
    }
    CHECK(histories[key].size() == 40);
    near.check(dwell.near_zero);
    at.check(dwell.at_zero);
    CHECK(dwell.zeroings == zeroings);
    CHECK(dwell.rezeroings == rezeroings);
    CHECK(rezeroings > 0);
    CHECK(zeroings > rezeroings);
  }
}

}  // namespace
}  // namespace halfulp
