#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulation/fp_environment.h"
#include "emulation/normal.h"
#include "emulation/random_bits.h"

namespace halfulp {

/// Random bits of the tables a synthetic data set is made of: table 1, 2, ... below 16, one element of the stream for
/// each entry. Table 0 is not taken: its bits are those of the first permutation of a BatchOrder with the same seed.
constexpr RandomStream data_table(std::uint64_t data_seed, std::uint8_t table) noexcept {
  return {data_seed, 0, 0, table, RandomPurpose::data_order, 0};
}

/// Returns `count` normal numbers of mean 0: deviation times the normal deviate of the stream's element i.
inline std::vector<double> normal_values(const RandomStream& stream, std::size_t count, double deviation) {
  const FpEnvironment environment;
  std::vector<std::uint32_t> bits(count);
  fill_random_bits_32(stream, 0, bits);
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = deviation * normal_deviate<double>(bits[i]);
  return values;
}

}  // namespace halfulp
