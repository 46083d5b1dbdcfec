#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace halfulp::test {

/// FNV-1a hashes of the bytes that threads_test stores: for each rule, under nearest_even and under
/// stochastic rounding, in the order of its schemes. Any change of bits, wanted or not, changes one; bits
/// that are meant to change raise the bits version of the records as well.
inline const std::map<std::string, std::vector<std::array<std::uint64_t, 2>>> golden_hashes{
    {"adamw",
     {{0xf53dc6066bb353c5u, 0xf53dc6066bb353c5u},
      {0x626a29ccf60fdc3fu, 0x626a29ccf60fdc3fu},
      {0x7f8f709aecbaa24cu, 0x873aba57f691e06eu},
      {0x89768747399b2a99u, 0x0e5c931a82144ceeu},
      {0x38ad273e216c7651u, 0x18eaa6d2be957c1bu},
      {0x407b554e2e97b119u, 0xf28cb7c23d7476b6u},
      {0x8f57b91d4931bba2u, 0xea3d650d9bff9555u},
      {0xd98f99b5986536feu, 0x669b080722f47b56u}}},
    {"madam",
     {{0xe0650b749ee35299u, 0xe0650b749ee35299u},
      {0x5a0e14d1e760c930u, 0x5a0e14d1e760c930u},
      {0xde0804fb0dd1465au, 0x69f5c1a6ad032340u},
      {0x93e83e0e232fd671u, 0xf5f6b5661d9fce5au},
      {0x43095655fd63e603u, 0x7e7841ae5a19e92eu},
      {0xc81ab62fe3fc2b70u, 0xa1448e2130cef259u},
      {0xeeff9e7ba5d36dafu, 0xfabf4c72add8565au},
      {0x13eb491699f869dfu, 0xdc6487b08b7cd463u}}},
    {"lmd",
     {{0x25ab4ad022db3ab1u, 0x25ab4ad022db3ab1u},
      {0x03a55691ddaac4bdu, 0x03a55691ddaac4bdu},
      {0xed67c7c2e4f85240u, 0xe5b34fe7f127f0e0u},
      {0x88137b0b663d873cu, 0x6da5bc43e5cc6695u},
      {0xe5eee789921eef84u, 0x013eed14c00b337fu},
      {0xdf23fc343b422b83u, 0x27a56fcbb09d3f26u},
      {0x162794c0920ecc95u, 0xb9a089dc9c5f2082u},
      {0x78dde935fb3f8d2du, 0xba14d669a4ef0cd5u}}},
    {"m_adam",
     {{0x4e53205d5d4acd85u, 0x4e53205d5d4acd85u},
      {0xae9dfedfc072bbafu, 0xae9dfedfc072bbafu},
      {0x22766b509ae5068au, 0x9c2f89a459dd6505u},
      {0x49b3ea8648093f39u, 0xf575039d072b71c0u},
      {0xf54e2fd9118cb073u, 0xc9520c8ddc6a58b3u},
      {0x2b01a68d359f27c0u, 0x7b8e49e2a50e00a4u},
      {0xf5bc9bca07b68441u, 0x80aa80eace071de1u},
      {0xb6738554cab01c54u, 0xfd88e0428bcd06beu}}},
};

}  // namespace halfulp::test
