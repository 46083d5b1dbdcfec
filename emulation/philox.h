#pragma once
#include <array>
#include <cstdint>

#include "formats/platform.h"

namespace halfulp {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Multipliers and key increments of Philox4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
/// 3", SC 2011, table 2). The increments are the golden ratio and sqrt(3) - 1 as 0.32 fixed point.
struct Philox4x32 {
  static constexpr std::uint32_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
  static constexpr std::uint32_t weyl_0 = 0x9E3779B9, weyl_1 = 0xBB67AE85;
  static constexpr int rounds = 10;
};

/// 128 random bits, a pure function of counter and key: Philox4x32 with 10 rounds.
/// errors: none (total function)
/// source: Salmon et al. 2011; word order as in Random123, whose known answers it reproduces
HALFULP_HD constexpr PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) noexcept {
  using P = Philox4x32;
  std::uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  std::uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < P::rounds; ++round) {
    const std::uint64_t product_0 = std::uint64_t{P::multiplier_0} * c0;
    const std::uint64_t product_1 = std::uint64_t{P::multiplier_1} * c2;
    c0 = static_cast<std::uint32_t>(product_1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(product_1);
    c2 = static_cast<std::uint32_t>(product_0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(product_0);
    k0 += P::weyl_0;
    k1 += P::weyl_1;
  }
  return {c0, c1, c2, c3};
}

}  // namespace halfulp
