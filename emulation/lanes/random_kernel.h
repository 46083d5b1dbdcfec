#pragma once
#include <algorithm>

#include "emulation/lanes/vector.h"
#include "emulation/random_bits.h"

namespace halfulp::HWY_NAMESPACE {

/// Vectors side by side: a round of Philox waits some 8 cycles for its product, and two chains wait for each other.
struct TwoWords {
  Words a, b;

  TwoWords(Words first, Words second) noexcept : a(first), b(second) {}
  explicit TwoWords(std::uint32_t n) noexcept : a(n), b(n) {}
  friend HWY_INLINE TwoWords operator^(TwoWords x, TwoWords y) noexcept { return {x.a ^ y.a, x.b ^ y.b}; }
};
HWY_INLINE WideProduct<TwoWords> wide_product(TwoWords x, TwoWords y) noexcept {
  const WideProduct<Words> a = wide_product(x.a, y.a), b = wide_product(x.b, y.b);
  return {{a.high, b.high}, {a.low, b.low}};
}

/// The random words of one group of elements, by the frozen map: lanes are neighbouring counters, which neighbouring
/// elements take the same draw of, so nothing is shuffled.
template <bool wide>
HWY_INLINE void group_words(const RandomStream& stream, std::uint64_t group, int bits,
                            std::uint32_t* out) noexcept {
  using namespace random_map;
  const std::uint64_t index = counters_per_group * group | (wide ? wide_mark : 0);
  const PhiloxCounter first = counter_of(stream, index);
  const auto put = [&](Words drawn, std::size_t word, std::size_t lane) {
    if constexpr (wide) {
      store(drawn >> (32 - bits), out + 16 * word + lane);
    } else {
      store((drawn << 16) >> (32 - bits), out + 32 * word + lane);
      store(drawn >> (32 - bits), out + 32 * word + 16 + lane);
    }
  };
  // index is a multiple of 16, so the low word does not carry.
  const auto counters = [&](std::size_t lane) {
    return counting_from(first[0] + static_cast<std::uint32_t>(lane));
  };
  if constexpr (lane_count == counters_per_group) {
    const auto drawn = philox4x32_10<Words>({counters(0), Words(first[1]), Words(first[2]), Words(first[3])},
                                            key_of(stream));
    for (std::size_t word = 0; word < 4; ++word) put(drawn[word], word, 0);
  } else {
    for (std::size_t lane = 0; lane < counters_per_group; lane += 2 * lane_count) {
      const auto drawn = philox4x32_10<TwoWords>({TwoWords(counters(lane), counters(lane + lane_count)),
                                                  TwoWords(first[1]), TwoWords(first[2]), TwoWords(first[3])},
                                                 key_of(stream));
      for (std::size_t word = 0; word < 4; ++word) {
        put(drawn[word].a, word, lane);
        put(drawn[word].b, word, lane + lane_count);
      }
    }
  }
}

template <bool wide>
HWY_INLINE void fill_words(const RandomStream& stream, std::uint64_t first, int bits, std::uint32_t* out,
                           std::size_t n) noexcept {
  constexpr std::size_t size = wide ? random_map::wide_group : random_map::narrow_group;
  for (std::size_t done = 0; done < n;) {
    const std::uint64_t element = first + done, offset = element % size;
    const std::size_t count = std::min<std::size_t>(size - offset, n - done);
    if (count == size) {
      group_words<wide>(stream, element / size, bits, out + done);
    } else {
      std::uint32_t whole[size];
      group_words<wide>(stream, element / size, bits, whole);
      std::copy_n(whole + offset, count, out + done);
    }
    done += count;
  }
}

inline void random_words(const RandomStream& stream, std::uint64_t first, int bits, std::uint32_t* out,
                         std::size_t n) noexcept {
  if (bits <= 0) {
    std::fill_n(out, n, 0u);
  } else if (bits <= 16) {
    fill_words<false>(stream, first, bits, out, n);
  } else {
    fill_words<true>(stream, first, std::min(bits, 32), out, n);
  }
}

}  // namespace halfulp::HWY_NAMESPACE
