#pragma once
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "emulation/cuda/host_emulator.h"
#include "tests/cuda/mixed_numbers.h"

/// Sizes around every edge of the kernels: warps, groups of random bits, tiles, blocks of scales.
inline const std::vector<std::size_t> ragged_sizes{0,   1,   2,   15,  16,  17,   31,   32,   33,   127,
                                                   128, 129, 255, 256, 257, 1000, 1023, 1024, 1025, 2049};

inline constexpr halfulp::cuda::RunOrder all_orders[]{halfulp::cuda::RunOrder::ascending,
                                                      halfulp::cuda::RunOrder::descending,
                                                      halfulp::cuda::RunOrder::shuffled};

/// Bit by bit, so that -0 is not 0 and every NaN is looked at.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
