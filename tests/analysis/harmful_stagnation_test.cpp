// Stagnation that harms, apart from noise: by hand, and against windows cut out of whole histories.
#include "analysis/harmful_stagnation.h"

#include <doctest/doctest.h>

#include "tests/analysis/random_tiles.h"
#include "tests/analysis/recount_row.h"

namespace halfulp {
namespace {

using test::moved;

/// The windows of one element's steps.
std::vector<StagnationWindow> windows_of(std::uint32_t length, const std::vector<ElementStep>& steps) {
  HarmfulStagnation memory(length);
  for (const ElementStep& e : steps) {
    const HarmfulStagnation::Mark mark = HarmfulStagnation::mark(e);
    memory.apply(0, {&mark, 1});
  }
  return memory.windows();
}
void check(const StagnationWindow& w, std::uint64_t updated, std::uint64_t stayed, std::uint64_t harmful) {
  CHECK(w.elements == 1);
  CHECK(w.nonfinite == 0);
  CHECK(w.updated == updated);
  CHECK(w.stayed == stayed);
  CHECK(w.harmful == harmful);
}

TEST_CASE("harmful stagnation: small updates that add up to more than half a gap") {
  // bf16 at 1: half a gap upwards is 2^-8. Updates of 2^-10: four of them are no more than it, five are.
  const ElementStep up = moved(bf16, 1, 0x1p-10, 1);
  check(windows_of(4, {4, up}).at(0), 1, 1, 0);
  check(windows_of(5, {5, up}).at(0), 1, 1, 1);
  // Downwards from a power of two half a gap is 2^-9.
  check(windows_of(3, {3, moved(bf16, 1, -0x1p-10, 1)}).at(0), 1, 1, 1);
  CHECK(windows_of(5, {4, up}).empty());  // not full
}

TEST_CASE("harmful stagnation: updates that cancel are noise, and one movement is enough") {
  const ElementStep up = moved(bf16, 1, 0x1p-9, 1), down = moved(bf16, 1, -0x1p-9, 1);
  check(windows_of(4, {up, down, up, down}).at(0), 1, 1, 0);
  check(windows_of(4, {up, up, up, up}).at(0), 1, 1, 1);
  check(windows_of(4, {up, moved(bf16, 1, 0x1p-7, 1 + 0x1p-7), up, up}).at(0), 1, 0, 0);
  check(windows_of(2, {2, moved(bf16, 1, 0, 1)}).at(0), 0, 0, 0);
}

TEST_CASE("harmful stagnation: windows follow one another and start anew") {
  const ElementStep up = moved(bf16, 1, 0x1p-9, 1), move = moved(bf16, 1, 0x1p-7, 1 + 0x1p-7);
  const std::vector<StagnationWindow> windows = windows_of(3, {up, up, up, up, move, up, up, up, up, up});
  REQUIRE(windows.size() == 3);
  check(windows[0], 1, 1, 1);
  check(windows[1], 1, 0, 0);
  check(windows[2], 1, 1, 1);
}

TEST_CASE("harmful stagnation: where nothing follows, without a grid, and carried by the scale") {
  check(windows_of(2, {2, moved(e4m3, 448, 100, 448)}).at(0), 1, 1, 0);  // a ceiling trap
  check(windows_of(2, {2, moved(e4m3, 448, -10, 448)}).at(0), 1, 1, 1);
  ElementStep gridless = moved(bf16, 1, 1, 1);
  gridless.grid.reset();
  check(windows_of(1, {gridless}).at(0), 1, 1, 0);
  check(windows_of(1, {moved(e2m1, 0, 1, 0, 0)}).at(0), 1, 1, 0);  // a scale of zero
  // Carried by its scale is not moved; its gap is that of where it lies now: 1 at 3 on.
  ElementStep carried = moved(e2m1, 2, 0.6, 3);
  carried.unmoved = 3;
  check(windows_of(1, {carried}).at(0), 1, 1, 1);
  carried.update = 0.5;
  check(windows_of(1, {carried}).at(0), 1, 1, 0);
}

TEST_CASE("harmful stagnation: one number that is not finite spoils the window and no other") {
  const ElementStep up = moved(bf16, 1, 0x1p-7, 1);
  ElementStep bad = up;
  bad.gradient = std::nan("");
  const std::vector<StagnationWindow> windows = windows_of(2, {up, bad, up, up});
  CHECK(windows.at(0).elements == 0);
  CHECK(windows.at(0).nonfinite == 1);
  CHECK(windows.at(0).updated + windows.at(0).stayed + windows.at(0).harmful == 0);
  check(windows.at(1), 1, 1, 1);
}

TEST_CASE("harmful stagnation probe: random tiles against windows cut out of histories") {
  for (const std::uint32_t length : {1u, 2u, 3u}) {
    test::Draws draw(41 + length);
    HarmfulStagnationProbe probe{HarmfulStagnation(length)};
    const BlockFormat formats[] = {parse_format("nvfp4"), parse_format("bf16")};
    std::map<HarmfulStagnationProbe::Key, std::map<std::size_t, std::vector<test::Row>>> histories;
    for (int step = 0; step < 20; ++step)
      for (std::uint32_t tensor = 0; tensor < 2; ++tensor)
        for (const std::size_t first : {0u, 50u}) {
          test::MadeTile<double> made = test::draw_tile<double>(draw, formats[tensor], 50);
          made.tensor = tensor, made.first = first;
          for (std::size_t i = 0; i < 50; ++i)
            if (!draw.one_in(4)) made.after[i] = made.unmoved[i];
          HarmfulStagnationProbe::Tile tile;
          made.show(tile);
          probe.join(tile);
          test::CountAndKeep::Tile kept;
          made.show(kept);
          for (const test::Row& row : kept.rows) histories[{tensor, 0}][row.element].push_back(row);
        }
    REQUIRE(probe.memories().size() == 2);
    for (const auto& [key, memory] : probe.memories()) {
      std::vector<StagnationWindow> expected(20 / length);
      for (const auto& [element, history] : histories[key])
        for (std::size_t w = 0; w < expected.size(); ++w) {
          double net = 0;
          bool finite = true, updated = false, stayed = true;
          for (std::size_t i = w * length; i < (w + 1) * length; ++i) {
            const test::Row& r = history[i];
            finite = finite && r.is_finite();
            net += r.is_finite() ? r.update : 0;
            updated = updated || r.update != 0;
            stayed = stayed && r.after == r.unmoved;
          }
          ++(finite ? expected[w].elements : expected[w].nonfinite);
          if (!finite || !updated) continue;
          ++expected[w].updated;
          if (!stayed) continue;
          ++expected[w].stayed;
          const test::Row& last = history[(w + 1) * length - 1];
          if (!last.has_grid() || last.multiplier == 0) continue;
          const test::Gap gap = test::gaps(last.plan, last.after, last.multiplier);
          expected[w].harmful += net > gap.up / 2 || -net > gap.down / 2;
        }
      REQUIRE(memory.windows().size() == expected.size());
      std::uint64_t harmful = 0, harmless = 0;
      for (std::size_t w = 0; w < expected.size(); ++w) {
        const StagnationWindow &got = memory.windows()[w], &want = expected[w];
        CHECK(got.elements == want.elements);
        CHECK(got.nonfinite == want.nonfinite);
        CHECK(got.updated == want.updated);
        CHECK(got.stayed == want.stayed);
        CHECK(got.harmful == want.harmful);
        harmful += want.harmful, harmless += want.stayed - want.harmful;
      }
      CHECK(harmful > 20);
      CHECK(harmless > 5);
    }
  }
}

}  // namespace
}  // namespace halfulp
