#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "emulation/random_bits.h"

namespace halfulp::test {

/// A pseudo-random number in [-1, 1), a multiple of 2^-31.
inline double uniform(std::uint64_t seed, std::uint32_t step, std::uint64_t element) {
  const RandomStream stream{seed, step, 0, 0, RandomPurpose::data_order, 0};
  return static_cast<double>(random_bits_32(stream, element)) * 0x1p-31 - 1.0;
}

/// The same spread over `binades` binades below 1, where a second moment's range and epsilon show.
inline double log_spread(std::uint64_t seed, std::uint32_t step, std::uint64_t element, int binades) {
  const RandomStream stream{seed, step, 0, 1, RandomPurpose::data_order, 0};
  const int down = static_cast<int>(random_bits_32(stream, element) % static_cast<std::uint32_t>(binades));
  return std::ldexp(uniform(seed, step, element), -down);
}

/// Zeros, NaN, infinities, subnormals and numbers whose square overflows or underflows.
template <class R>
std::vector<R> special_gradients() {
  using Limits = std::numeric_limits<R>;
  return {R(0),
          -R(0),
          Limits::quiet_NaN(),
          Limits::infinity(),
          -Limits::infinity(),
          Limits::denorm_min(),
          -Limits::denorm_min(),
          Limits::min() / R(2),
          Limits::max(),
          -Limits::max(),
          R(1e-30),
          R(1e30),
          R(1),
          -R(1)};
}

/// Equal bit for bit, all NaNs alike: their sign and payload are nobody's promise.
inline bool same_bits(double a, double b) {
  return (a != a && b != b) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
inline bool same_bits(float a, float b) {
  return (a != a && b != b) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
template <class R>
bool same_bits(const R& a, const R& b) {
  return (a != a && b != b) || a == b;
}

}  // namespace halfulp::test
