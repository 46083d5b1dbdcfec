// Bins of powers of two, their ends, and what goes into them.
#include "analysis/octaves.h"

#include <doctest/doctest.h>

#include <numeric>

#include "tests/analysis/representable.h"

namespace halfulp {
namespace {

using Small = OctaveCounts<-2, 3>;

TEST_CASE("octaves: bin k is [2^(lowest + k), 2^(lowest + k + 1)), the ends take the rest") {
  Small bins;
  CHECK(bins.counts.size() == 6);
  for (const double x : {0x1p-2, 0x1.fffffffffffffp-2, 0x1p-1, 1.0, 1.999, 2.0, 8.0, 15.9}) bins.add(x);
  CHECK(bins.counts == std::array<std::uint64_t, 6>{2, 1, 2, 1, 0, 2});
  bins.add(0x1.fffffffffffffp-3);
  bins.add(5e-324);
  bins.add(16);
  bins.add(1e300);
  CHECK(bins.counts == std::array<std::uint64_t, 6>{4, 1, 2, 1, 0, 4});
  bins.add(0.0);
  bins.add(-0.0);
  CHECK(bins.zeros == 2);
  Small twice = bins;
  twice.join(bins);
  CHECK(twice.counts == std::array<std::uint64_t, 6>{8, 2, 4, 2, 0, 8});
  CHECK(twice.zeros == 4);
}

std::uint64_t total(const auto& octaves) {
  return std::accumulate(octaves.counts.begin(), octaves.counts.end(), octaves.zeros);
}

TEST_CASE("stagnation octaves: by magnitude before the step, and update over half a gap") {
  StagnationOctaves octaves;
  const auto bin = [](const auto& counts, int exponent) {
    return counts.counts[static_cast<std::size_t>(exponent - counts.lowest_exponent)];
  };
  octaves.see(test::moved(bf16, 1, 0, 1));  // no update
  CHECK(total(octaves.updated) == 0);
  octaves.see(test::moved(bf16, 1.5, 0x1p-8, 1.5));  // half a gap exactly: 2^0
  octaves.see(test::moved(bf16, -1.5, 0x1p-9, -1.5));
  octaves.see(test::moved(bf16, 1, -0x1p-9, 1));  // half the gap below a power of two is 2^-9: 2^0
  octaves.see(test::moved(bf16, 0.25, 0x1p-9, 0.25 + 0x1p-9));
  octaves.see(test::moved(bf16, 0, 0x1p-136, 0));
  CHECK(bin(octaves.updated, 0) == 3);
  CHECK(bin(octaves.stayed, 0) == 3);
  CHECK(bin(octaves.updated, -2) == 1);
  CHECK(bin(octaves.stayed, -2) == 0);
  CHECK(octaves.updated.zeros == 1);
  CHECK(octaves.stayed.zeros == 1);
  CHECK(bin(octaves.update_over_half_gap, 0) == 2);
  CHECK(bin(octaves.update_over_half_gap, -1) == 1);
  CHECK(bin(octaves.update_over_half_gap, 1) == 1);   // 2^-9 over 2^-10
  CHECK(bin(octaves.update_over_half_gap, -2) == 1);  // 2^-136 over 2^-134
}

TEST_CASE("stagnation octaves: no gap, no ratio") {
  StagnationOctaves octaves;
  octaves.see(test::moved(e4m3, 448, 100, 448));
  ElementStep unrounded = test::moved(bf16, 1, 1, 2);
  unrounded.grid.reset();
  octaves.see(unrounded);
  // A block whose scale underflowed to zero: all its numbers are zero.
  octaves.see(test::moved(e2m1, 0, 1e-9, 0, 0));
  CHECK(total(octaves.updated) == 3);
  CHECK(total(octaves.update_over_half_gap) == 0);
}

}  // namespace
}  // namespace halfulp
