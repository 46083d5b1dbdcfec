#include "emulation/parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

#include "formats/error.h"

namespace halfulp {
namespace {

TEST_CASE("thread pool: each index is handled exactly once, whatever the count and the threads") {
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (const std::size_t count : {0, 1, 2, 3, 7, 8, 9, 1000}) {
      std::vector<std::atomic<int>> handled(count);
      pool.for_each_index(count, [&](std::size_t i) { ++handled[i]; });
      std::size_t wrong = 0;
      for (const std::atomic<int>& times : handled) wrong += times != 1;
      CAPTURE(threads);
      CAPTURE(count);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("thread pool: ranges are contiguous, at most one a thread, and differ by at most one in size") {
  ThreadPool pool(3);
  std::mutex lock;
  std::set<std::pair<std::size_t, std::size_t>> ranges;
  pool.for_each_range(11, [&](std::size_t begin, std::size_t end) {
    const std::lock_guard guard(lock);
    ranges.insert({begin, end});
  });
  CHECK(ranges == std::set<std::pair<std::size_t, std::size_t>>{{0, 4}, {4, 8}, {8, 11}});
}

TEST_CASE("thread pool: one thread runs in the caller, more run on as many threads") {
  const auto threads_seen = [](unsigned threads) {
    ThreadPool pool(threads);
    std::mutex lock;
    std::set<std::thread::id> seen;
    pool.for_each_index(threads, [&](std::size_t) {
      const std::lock_guard guard(lock);
      seen.insert(std::this_thread::get_id());
    });
    return seen;
  };
  CHECK(threads_seen(1) == std::set<std::thread::id>{std::this_thread::get_id()});
  CHECK(threads_seen(4).size() == 4);
}

TEST_CASE(
    "thread pool: an exception reaches the caller, the lowest range's first, and the pool stays usable") {
  for (const unsigned threads : {1u, 4u}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 3; ++repeat) {
      std::string message;
      try {
        pool.for_each_index(100, [](std::size_t i) {
          if (i == 10 || i == 90) throw std::runtime_error(std::to_string(i));
        });
      } catch (const std::runtime_error& thrown) {
        message = thrown.what();
      }
      CHECK(message == "10");
    }
    std::atomic<int> handled = 0;
    pool.for_each_index(100, [&](std::size_t) { ++handled; });
    CHECK(handled == 100);
  }
}

TEST_CASE("thread pool: a nested call finishes, in the thread that makes it") {
  ThreadPool pool(3);
  std::atomic<int> handled = 0;
  pool.for_each_index(6, [&](std::size_t) { pool.for_each_index(10, [&](std::size_t) { ++handled; }); });
  CHECK(handled == 60);
}

TEST_CASE("thread pool: calls from two threads at once both finish") {
  ThreadPool pool(2);
  std::atomic<int> handled = 0;
  const auto caller = [&] {
    for (int i = 0; i < 200; ++i) pool.for_each_index(5, [&](std::size_t) { ++handled; });
  };
  std::thread other(caller);
  caller();
  other.join();
  CHECK(handled == 2000);
}

TEST_CASE("thread pool: no threads is an error that says what is allowed") {
  CHECK_THROWS_WITH_AS(ThreadPool(0), "threads: nobody would do the work: given '0', allowed: 1 or more",
                       Error);
}

}  // namespace
}  // namespace halfulp
