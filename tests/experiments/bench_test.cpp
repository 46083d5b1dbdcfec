// The bench: its statistics by hand, its rows, its access patterns. Nothing here depends on how long anything takes.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "experiments/bench/access_patterns.h"
#include "experiments/bench/huge_array.h"
#include "experiments/bench/measure.h"
#include "experiments/bench/reference_kernels.h"
#include "formats/error.h"

namespace halfulp {
namespace {

TEST_CASE("bench: quantiles by hand, in any order") {
  CHECK(quantile({7}, 0) == 7);
  CHECK(quantile({7}, 0.9) == 7);
  CHECK(quantile({3, 1, 2}, 0.5) == 2);
  CHECK(quantile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(quantile({4, 1, 3, 2}, 0) == 1);
  CHECK(quantile({4, 1, 3, 2}, 1) == 4);
  CHECK(quantile({10, 20}, 0.25) == 12.5);
  // 11 values: 10 % is the second, 90 % the tenth.
  const Quantiles q = quantiles_of({10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5});
  CHECK(q.low == 1);
  CHECK(q.median == 5);
  CHECK(q.high == 9);
  CHECK_THROWS_AS(quantile({}, 0.5), Error);
}

TEST_CASE("bench: a ratio is the median of the ratios of repetitions, not the ratio of medians") {
  // The third repetition was disturbed by a factor of 10 on both sides: ratios 2, 2, 2. One side alone: 3, 2, 20.
  const Quantiles disturbed = ratio_of({2, 4, 60}, {1, 2, 30});
  CHECK(disturbed.low == 2);
  CHECK(disturbed.median == 2);
  CHECK(disturbed.high == 2);
  CHECK(ratio_of({3, 4, 20}, {1, 2, 1}).median == 3);
  CHECK(quantile({3, 4, 20}, 0.5) / quantile({1, 2, 1}, 0.5) == 4);
  CHECK_THROWS_AS(ratio_of({1}, {1, 2}), Error);
  CHECK_THROWS_AS(ratio_of({}, {}), Error);
}

TEST_CASE("bench: arrays begin on 2 MiB, are zero, and say how much is on large pages") {
  const HugeArray<float> array(part_step + 3);
  CHECK(reinterpret_cast<std::uintptr_t>(array.data()) % (2 << 20) == 0);
  CHECK(array.size() == part_step + 3);
  CHECK(std::accumulate(array.all().begin(), array.all().end(), 0.0f) == 0);
  CHECK(array.memory().bytes_on_huge_pages() <= array.memory().bytes());
}

TEST_CASE("bench: the input is standard normal, without subnormals, the same on any number of threads") {
  ThreadPool one(1), three(3);
  std::vector<float> x(1 << 16), same(x.size());
  fill_with_normals(x, one);
  fill_with_normals(same, three);
  CHECK(x == same);
  double sum = 0, squares = 0;
  for (const float number : x) {
    if (!std::isnormal(number)) FAIL("not a normal number");
    sum += number;
    squares += double{number} * number;
  }
  const auto n = static_cast<double>(x.size());
  CHECK(std::fabs(sum / n) < 5 / std::sqrt(n));  // five standard errors; sqrt(2) more for squares
  CHECK(std::fabs(squares / n - 1) < 5 * std::sqrt(2 / n));
}

TEST_CASE("bench: access patterns touch every byte they say") {
  const std::size_t n = 2 * part_step;
  HugeArray<float> x(n), y(n);
  std::iota(x.data(), x.data() + n, 1.0f);
  std::uint32_t all = 0;
  for (const float number : x.all()) all ^= std::bit_cast<std::uint32_t>(number);
  CHECK(read_all(x.data(), n) == all);
  read_modify_write(x.data(), n);
  for (std::size_t i = 0; i < n; ++i) REQUIRE(x.data()[i] == -static_cast<float>(i + 1));
  read_modify_write_with_prefetch(x.data(), n);
  copy_past_caches(x.data(), y.data(), n);
  for (std::size_t i = 0; i < n; ++i) REQUIRE(y.data()[i] == static_cast<float>(i + 1));
  write_past_caches(y.data(), 2.5f, n);
  for (std::size_t i = 0; i < n; ++i) REQUIRE(y.data()[i] == 2.5f);

  HugeArray<std::uint8_t> one(n), two(2 * n), four(4 * n);
  const AccessStream streams[]{{one.data(), 1, true}, {two.data(), 2, false}, {four.data(), 4, true}};
  two.data()[2 * n - 1] = 0x40;  // what is only read comes back, from its last byte too
  CHECK(access_streams(streams, 3, n) == 0x40000000);
  const auto flipped = [](const HugeArray<std::uint8_t>& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (bytes.data()[i] != (i % 4 == 3 ? 0x80 : 0)) return false;
    return true;
  };
  CHECK(flipped(one));
  CHECK(flipped(four));
  CHECK(std::accumulate(two.all().begin(), two.all().end(), 0) == 0x40);
}

TEST_CASE("bench: access patterns of steps move the bytes in their names") {
  for (const AccessPattern& pattern : access_patterns()) {
    const std::string bytes =
        std::to_string(static_cast<int>(pattern.bytes_read() + pattern.bytes_written()));
    CHECK(std::string(pattern.name) == "access of a step " + bytes + " B");
  }
  CHECK_THROWS_AS(access_pattern("access of a step 11 B"), Error);
}

TEST_CASE("bench: no two rows have one name, and every reference is a row") {
  const std::vector<Work> works = all_works();
  std::set<std::string> names;
  for (const Work& work : works) {
    CAPTURE(work.name);
    CHECK(names.insert(work.name).second);
    CHECK(work.bytes_read + work.bytes_written > 0);
    CHECK_FALSE(work.what.empty());
    CHECK(work.name.find(',') == std::string::npos);  // lists of names are separated by commas
    const Work* reference = find_work(works, work.reference);
    CHECK((reference == nullptr) == work.reference.empty());
    CHECK_FALSE((work.goal_ratio && !reference));
  }
  CHECK_THROWS_AS(find_work(works, "no such row"), Error);
  CHECK_THROWS_AS(works_with(works, "no such row"), Error);
  CHECK(works_with(works, "").size() == works.size());
  CHECK(works_with(works, "memcpy").size() == 1);
}

TEST_CASE("bench: every row runs on 4096 elements, and on two threads") {
  const std::vector<Work> works = all_works();
  ThreadPool one(1), two(2);
  const HugeArray<float> input(2 * part_step);
  fill_with_normals(input.all(), one);
  for (const Work& work : works) {
    CAPTURE(work.name);
    const Work* reference = find_work(works, work.reference);
    const Measurement alone = measure(work, reference, input.all().first(part_step), one, 1);
    CHECK(alone.threads == 1);
    CHECK(alone.elements == part_step);
    CHECK(alone.ratio.has_value() == !work.reference.empty());
    CHECK(alone.reference_ns.has_value() == !work.reference.empty());
    CHECK(alone.reaches_goal().has_value() == (work.goal_ratio || work.goal_ns));
    const Measurement shared = measure(work, reference, input.all(), two, 1);
    CHECK(shared.threads == 2);
    CHECK_FALSE(shared.reaches_goal().has_value());
  }
}

TEST_CASE("bench: a work and its reference run in turns, each from its own input, warmed up once") {
  std::string order;
  const auto counting = [&order](char run, char reset) {
    return [&order, run, reset](const Bench&) {
      return PreparedWork{[&order, run] { order += run; }, [&order, reset] { order += reset; }};
    };
  };
  const Work reference{.name = "b",
                       .what = "",
                       .bytes_read = 4,
                       .bytes_written = 0,
                       .reference = "",
                       .prepare = counting('B', 'b')};
  const Work work{.name = "a",
                  .what = "",
                  .bytes_read = 4,
                  .bytes_written = 0,
                  .reference = "b",
                  .prepare = counting('A', 'a')};
  ThreadPool pool(1);
  const std::vector<float> input(part_step, 1.0f);
  const Measurement both = measure(work, &reference, input, pool, 2);
  CHECK(order ==
        "bBaA"
        "aAbB"
        "bBaA");
  CHECK(both.repetitions == 2);
  order.clear();
  measure(work, nullptr, input, pool, 3);
  CHECK(order == "aAaAaAaA");
}

TEST_CASE("bench: goals are compared with the median, of one thread") {
  Measurement row{.work = {.name = "", .what = "", .bytes_read = 4, .bytes_written = 2, .reference = "r"},
                  .threads = 1,
                  .elements = part_step,
                  .repetitions = 3,
                  .ns = {1, 2, 9},
                  .reference_ns = {},
                  .ratio = Quantiles{0.5, 1.5, 9}};
  CHECK(row.gigabytes_per_second() == 3);
  CHECK_FALSE(row.reaches_goal().has_value());
  row.work.goal_ratio = 1.5;
  CHECK(row.reaches_goal() == true);
  row.work.goal_ratio = 1.49;
  CHECK(row.reaches_goal() == false);
  row.work.goal_ratio.reset();
  row.work.goal_ns = 2;
  CHECK(row.reaches_goal() == true);
  row.work.goal_ns = 1.9;
  CHECK(row.reaches_goal() == false);
  row.threads = 2;
  CHECK_FALSE(row.reaches_goal().has_value());
}

}  // namespace
}  // namespace halfulp
