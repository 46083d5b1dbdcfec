// The counters of tiles made by hand against a slow recount: every branch of every probe, also those that a rule seldom
// takes.
#include "tests/analysis/random_tiles.h"

#include <doctest/doctest.h>

#include "analysis/per_tensor_counters.h"
#include "analysis/probes_together.h"
#include "tests/analysis/recount.h"

namespace halfulp {
namespace {

template <class R>
void check_against_recount(const std::vector<BlockFormat>& formats) {
  test::Draws draw(sizeof(R));
  test::Counts seen;
  for (const BlockFormat& format : formats) {
    CAPTURE(to_spec(format));
    test::CountAndKeep probe;
    for (int step = 0; step < 12; ++step) {
      test::CountAndKeep::Tile tile;
      test::draw_tile<R>(draw, format, 100).show(tile);
      probe.join(tile);
    }
    test::check_equal(probe.counted.stored, probe, true);
    test::check_equal(probe.counted.made_of_parts, probe, false);
    test::check_states(probe.counted.states, probe);
    for (const auto& [name, count] : test::counts_of(probe.counted.stored)) seen[name] += count;
    for (const auto& [name, count] : test::counts_of(probe.counted.states)) seen[name] += count;
  }
  // What is never drawn is not tested.
  for (const auto& counted : seen) {
    CAPTURE(counted.first);
    if (counted.first.find("octave") == std::string::npos) CHECK(counted.second > 20);
  }
}

TEST_CASE("random tiles: all counters equal a recount, double and float") {
  check_against_recount<double>(test::formats_of_tiles(true));
  check_against_recount<float>(test::formats_of_tiles(false));
}

TEST_CASE("per tensor counters: each tensor as if it were alone") {
  test::Draws draw(4);
  const std::vector<BlockFormat> formats = test::formats_of_tiles(true);
  ProbesTogether<PerTensorCounters, CounterProbe> both;
  std::map<std::uint32_t, test::CountAndKeep> alone;
  std::uint64_t elements = 0;
  for (int step = 0; step < 40; ++step)
    for (std::uint32_t tensor : {7u, 2u, 9u}) {
      test::MadeTile<double> tile = test::draw_tile<double>(draw, formats[tensor], 30);
      tile.tensor = tensor;
      decltype(both)::Tile seen;
      tile.show(seen);
      both.join(seen);
      test::CountAndKeep::Tile kept;
      tile.show(kept);
      alone[tensor].join(kept);
      elements += tile.before.size();
    }
  auto& [per_tensor, together] = both.probes;
  REQUIRE(per_tensor.tensors.size() == 3);
  for (const auto& tensor : per_tensor.tensors) {
    CAPTURE(tensor.first);
    test::check_equal(tensor.second.stored, alone[tensor.first], true);
    test::check_equal(tensor.second.made_of_parts, alone[tensor.first], false);
    test::check_states(tensor.second.states, alone[tensor.first]);
  }
  const CounterProbe all = per_tensor.all();
  test::check_counts(test::counts_of(all.stored), test::counts_of(together.stored));
  CHECK(all.has_parts == together.has_parts);
  CHECK(all.stored.trapping.elements + all.stored.nonfinite + all.made_of_parts.trapping.elements +
            all.made_of_parts.nonfinite ==
        elements);
  per_tensor.after_step();
  for (const auto& [id, counters] : per_tensor.tensors) {
    CHECK(counters.stored.runaway.steps == 1);
    CHECK(counters.stored.runaway.before == 0);
  }
}

}  // namespace
}  // namespace halfulp
