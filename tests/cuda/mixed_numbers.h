#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

/// Numbers of every kind: over many binades, subnormals, zeros of both signs, infinities, NaN, ties.
inline std::vector<float> mixed_numbers(std::size_t count, std::uint32_t seed, bool finite_only = false) {
  std::mt19937 bits(seed);
  std::vector<float> x(count);
  for (float& number : x) {
    const std::uint32_t kind = bits() % 16, word = static_cast<std::uint32_t>(bits());
    if (kind == 0)
      std::memcpy(&number, &word, sizeof number);
    else if (kind == 1)
      number = (word & 1) != 0 ? -0.0f : 0.0f;
    else
      number =
          std::ldexp(static_cast<float>(word % 65536) - 32768.0f, static_cast<int>(word >> 16) % 24 - 24);
    if (finite_only && !(number - number == 0)) number = 1.5f;
  }
  return x;
}
