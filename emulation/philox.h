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

/// Both halves of the product of two words.
template <class Bits>
struct WideProduct {
  Bits high, low;
};
HALFULP_HD constexpr WideProduct<std::uint32_t> wide_product(std::uint32_t a, std::uint32_t b) noexcept {
  const std::uint64_t product = std::uint64_t{a} * b;
  return {static_cast<std::uint32_t>(product >> 32), static_cast<std::uint32_t>(product)};
}

/// 128 random bits, a pure function of counter and key: Philox4x32 with 10 rounds. Bits: a word, or a vector of words
/// with a wide_product() of its own.
/// errors: none (total function)
/// source: Salmon et al. 2011; word order as in Random123, whose known answers it reproduces
template <class Bits = std::uint32_t>
HALFULP_LANES constexpr std::array<Bits, 4> philox4x32_10(std::array<Bits, 4> counter,
                                                          PhiloxKey key) noexcept {
  using P = Philox4x32;
  Bits c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  std::uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < P::rounds; ++round) {
    const auto product_0 = wide_product(Bits(P::multiplier_0), c0),
               product_1 = wide_product(Bits(P::multiplier_1), c2);
    c0 = product_1.high ^ c1 ^ Bits(k0);
    c1 = product_1.low;
    c2 = product_0.high ^ c3 ^ Bits(k1);
    c3 = product_0.low;
    k0 += P::weyl_0;
    k1 += P::weyl_1;
  }
  return {c0, c1, c2, c3};
}

}  // namespace halfulp
