#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "emulation/parallel.h"

namespace halfulp {

/// Where a work is prepared: how many elements, with which numbers, on which threads.
struct Bench {
  std::span<const float> normal;  ///< [elements] standard normal, never 0 or subnormal; on a 64-byte boundary
  ThreadPool& pool;

  std::size_t elements() const noexcept { return normal.size(); }
};

/// A work that has its arrays.
struct PreparedWork {
  std::function<void()> run;            ///< what is timed
  std::function<void()> reset = [] {};  ///< puts the input back, before every run and untimed
};

/// One row of the bench.
struct Work {
  std::string name;                       ///< no two alike
  std::string what;                       ///< one clause: what it does with which bytes
  double bytes_read, bytes_written;       ///< for each element
  std::string reference;                  ///< name of the work timed beside it; empty: timed alone
  std::optional<double> goal_ratio = {};  ///< time / time of the reference on one thread
  std::optional<double> goal_ns = {};     ///< for each element on one thread
  std::size_t usual_elements = std::size_t{1} << 24;  ///< at most, where the user does not say
  std::function<PreparedWork(const Bench&)> prepare = {};
};

/// Elements of a bench are a multiple of this, and so are the parts that threads get: whole 4 KiB pages of bytes, whole
/// blocks of every format, whole groups of the random-bit map.
inline constexpr std::size_t part_step = 4096;

/// Calls f(first, count) once for each thread: contiguous parts of [0, elements), all but the last multiples of
/// part_step.
template <class F>
void for_each_part(const Bench& bench, F f) {
  const std::size_t steps = bench.elements() / part_step;
  bench.pool.for_each_range(
      steps, [&](std::size_t begin, std::size_t end) { f(begin * part_step, (end - begin) * part_step); });
}

/// Keeps the compiler from dropping what `value` was computed from.
template <class T>
void keep(const T& value) noexcept {
  asm volatile("" : : "g"(value) : "memory");
}

}  // namespace halfulp
