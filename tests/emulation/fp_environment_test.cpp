#include "emulation/fp_environment.h"

#include <doctest/doctest.h>

#include <cfenv>

#include "emulation/parallel.h"

namespace halfulp {
namespace {

/// 2^-126 / 2 = 2^-127, with operands and result in memory so that the division happens where it stands.
float half_of_smallest_normal() {
  volatile float smallest_normal = 0x1p-126f, two = 2;
  volatile float half = smallest_normal / two;
  return half;
}

/// 1 + 2^-24 is a tie: 1 to nearest even, more upward.
float tie() {
  volatile float one = 1, half_ulp = 0x1p-24f;
  volatile float result = one + half_ulp;
  return result;
}

TEST_CASE("fp environment: rounds to nearest inside, the caller's direction is back afterwards") {
  std::fesetround(FE_UPWARD);
  const float before = tie();
  float inside = 0;
  {
    const FpEnvironment environment;
    inside = tie();
  }
  const int direction = std::fegetround();
  const float after = tie();
  std::fesetround(FE_TONEAREST);
  CHECK(before > 1);
  CHECK(inside == 1);
  CHECK(after > 1);
  CHECK(direction == FE_UPWARD);
}

#if defined(__SSE2__)

constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;

TEST_CASE("fp environment: subnormals live inside although the caller flushes them, who then flushes again") {
  const unsigned original = _mm_getcsr();
  _mm_setcsr(original | flush_to_zero | denormals_are_zero);
  const unsigned callers = _mm_getcsr();
  const float before = half_of_smallest_normal();
  float inside = -1, doubled = -1;
  {
    const FpEnvironment environment;
    inside = half_of_smallest_normal();
    volatile float subnormal = inside, two = 2;
    volatile float product = subnormal * two;  // as an input: denormals-are-zero would make it 0
    doubled = product;
  }
  const unsigned restored = _mm_getcsr();
  const float after = half_of_smallest_normal();
  _mm_setcsr(original);
  const bool inside_right = inside == 0x1p-127f, doubled_right = doubled == 0x1p-126f;
  CHECK(before == 0);
  CHECK(inside_right);
  CHECK(doubled_right);
  CHECK(after == 0);
  CHECK((restored & 0xFFC0) == (callers & 0xFFC0));
}

TEST_CASE("fp environment: every thread of a pool computes in it, the caller's too") {
  const unsigned original = _mm_getcsr();
  _mm_setcsr(original | flush_to_zero | denormals_are_zero);
  for (const unsigned threads : {1u, 3u}) {
    ThreadPool pool(threads);
    float results[6] = {};
    pool.for_each_index(6, [&](std::size_t i) { results[i] = half_of_smallest_normal(); });
    _mm_setcsr(original);
    for (const float result : results) CHECK(result == 0x1p-127f);
    _mm_setcsr(original | flush_to_zero | denormals_are_zero);
  }
  _mm_setcsr(original);
}

#endif

}  // namespace
}  // namespace halfulp
