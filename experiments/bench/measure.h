#pragma once
#include <optional>
#include <span>
#include <vector>

#include "experiments/bench/quantiles.h"
#include "experiments/bench/works.h"

namespace halfulp {

/// The numbers that all works start from: standard normal, element i from draw i of a fixed stream, so that every
/// machine measures the same ones. The smallest magnitude is beyond 1e-10: no zero, no subnormal float, which would
/// make arithmetic several times slower.
void fill_with_normals(std::span<float> out, ThreadPool& pool);

/// Seconds of this thread's processor time: what others do on the same core is not in it, their memory traffic is.
double thread_seconds() noexcept;
/// Seconds on a clock that only goes forward.
double wall_seconds() noexcept;

/// One work on one number of threads.
struct Measurement {
  Work work;
  unsigned threads;
  std::size_t elements;
  std::size_t repetitions;
  Quantiles ns;                           ///< for each element
  std::optional<Quantiles> reference_ns;  ///< of the reference, on as many threads
  std::optional<Quantiles> ratio;         ///< time / time of the reference in the same repetition

  double gigabytes_per_second() const noexcept { return (work.bytes_read + work.bytes_written) / ns.median; }
  /// Whether the goal is reached: nullopt without one, and on more threads than one, which goals do not speak of.
  std::optional<bool> reaches_goal() const noexcept;
};

/// Runs the work and its reference (may be null) in turn, `repetitions` times after one that does not count, and
/// alternates which goes first. One thread is timed by its processor time, more by the wall clock.
/// in: repetitions >= 1; input: a multiple of part_step elements, on a 64-byte boundary
Measurement measure(const Work& work, const Work* reference, std::span<const float> input, ThreadPool& pool,
                    std::size_t repetitions);

}  // namespace halfulp
