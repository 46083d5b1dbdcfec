#include "experiments/bench/measure.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <vector>

#include "emulation/normal.h"
#include "emulation/random_bits.h"

namespace halfulp {
namespace {

constexpr RandomStream input_stream{20261130, 0, 0, 0, RandomPurpose::initialization, 0};

/// Seconds that one run takes, its input put back before.
double time_of(const PreparedWork& work, bool one_thread) {
  work.reset();
  const auto now = one_thread ? thread_seconds : wall_seconds;
  const double start = now();
  work.run();
  return now() - start;
}

}  // namespace

void fill_with_normals(std::span<float> out, ThreadPool& pool) {
  pool.for_each_range(out.size(), [&](std::size_t begin, std::size_t end) {
    std::array<std::uint32_t, 64> bits;
    for (std::size_t i = begin; i < end; i += bits.size()) {
      const std::size_t count = std::min(bits.size(), end - i);
      fill_random_bits_32(input_stream, i, std::span(bits.data(), count));
      for (std::size_t k = 0; k < count; ++k) out[i + k] = normal_deviate<float>(bits[k]);
    }
  });
}

double thread_seconds() noexcept {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wall_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::optional<bool> Measurement::reaches_goal() const noexcept {
  if (threads != 1) return std::nullopt;
  if (work.goal_ratio && ratio) return ratio->median <= *work.goal_ratio;
  if (work.goal_ns) return ns.median <= *work.goal_ns;
  return std::nullopt;
}

Measurement measure(const Work& work, const Work* reference, std::span<const float> input, ThreadPool& pool,
                    std::size_t repetitions) {
  const Bench bench{input, pool};
  const bool one_thread = pool.threads() == 1;
  const PreparedWork own = work.prepare(bench);
  const std::optional<PreparedWork> other =
      reference ? std::optional(reference->prepare(bench)) : std::nullopt;
  std::vector<double> own_ns, other_ns;
  const double ns_each = 1e9 / static_cast<double>(input.size());
  // The first one warms up: page tables, dispatch, clock speed.
  for (std::size_t repetition = 0; repetition <= repetitions; ++repetition) {
    double own_seconds = 0, other_seconds = 0;
    const bool reference_first = repetition % 2 == 0;
    if (other && reference_first) other_seconds = time_of(*other, one_thread);
    own_seconds = time_of(own, one_thread);
    if (other && !reference_first) other_seconds = time_of(*other, one_thread);
    if (repetition == 0) continue;
    own_ns.push_back(own_seconds * ns_each);
    if (other) other_ns.push_back(other_seconds * ns_each);
  }
  Measurement result{work, pool.threads(), input.size(), repetitions, quantiles_of(own_ns), {}, {}};
  if (other) {
    result.reference_ns = quantiles_of(other_ns);
    result.ratio = ratio_of(own_ns, other_ns);
  }
  return result;
}

}  // namespace halfulp
