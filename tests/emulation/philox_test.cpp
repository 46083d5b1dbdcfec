#include "emulation/philox.h"

#include <doctest/doctest.h>

namespace halfulp {
namespace {

// Known answers published with Random123 (kat_vectors, "philox4x32 10").
constexpr PhiloxCounter zeros = philox4x32_10({0, 0, 0, 0}, {0, 0});
constexpr PhiloxCounter ones =
    philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff});
constexpr PhiloxCounter pi =
    philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});

static_assert(zeros == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(ones == PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(pi == PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST_CASE("philox: the compiled function gives the published answers, as the compile-time one does") {
  volatile std::uint32_t all = 0xffffffff;  // keeps the compiler from evaluating the call
  CHECK(philox4x32_10({all, all, all, all}, {all, all}) == ones);
  all = 0;
  CHECK(philox4x32_10({all, all, all, all}, {all, all}) == zeros);
}

TEST_CASE("philox: one flipped input bit flips about half of the output bits") {
  // 192 input bits, 128 output bits each: binomial with mean 64, sigma sqrt(32) = 5.7; 32 is more than 5
  // sigma away, probability below 192 * 1.4e-8
  for (unsigned bit = 0; bit < 192; ++bit) {
    PhiloxCounter counter{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
    PhiloxKey key{0xa4093822, 0x299f31d0};
    std::uint32_t& word = bit < 128 ? counter[bit / 32] : key[(bit - 128) / 32];
    word ^= 1u << (bit % 32);
    const PhiloxCounter changed = philox4x32_10(counter, key);
    int flipped = 0;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::uint32_t difference = changed[i] ^ pi[i]; difference != 0; difference &= difference - 1)
        ++flipped;
    CAPTURE(bit);
    CHECK(flipped > 32);
    CHECK(flipped < 96);
  }
}

}  // namespace
}  // namespace halfulp
