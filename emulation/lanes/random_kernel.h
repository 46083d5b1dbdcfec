#pragma once
#include <algorithm>

#include "emulation/lanes/vector.h"
#include "emulation/random_bits.h"

namespace halfulp::HWY_NAMESPACE {

/// Two vectors side by side, or two such pairs: a round of Philox waits some 8 cycles for its product, and chains that do
/// not depend on each other wait for theirs together.
template <class T>
struct Two {
  T a, b;

  Two(T first, T second) noexcept : a(first), b(second) {}
  explicit Two(std::uint32_t n) noexcept : a(n), b(n) {}
  friend HWY_INLINE Two operator^(Two x, Two y) noexcept { return {x.a ^ y.a, x.b ^ y.b}; }
};
template <class T>
HWY_INLINE WideProduct<Two<T>> wide_product(Two<T> x, Two<T> y) noexcept {
  const WideProduct<T> a = wide_product(x.a, y.a), b = wide_product(x.b, y.b);
  return {{a.high, b.high}, {a.low, b.low}};
}

/// What the registers hold of chains of four words and their products: 32 registers with AVX-512, else 16.
inline constexpr std::size_t chains = lane_count == 16 ? 4 : 2;

/// The random words of some groups of elements, by the frozen map: lanes are neighbouring counters, which neighbouring
/// elements take the same draw of, so nothing is shuffled.
template <bool wide>
struct GroupWords {
  static constexpr std::size_t size = wide ? random_map::wide_group : random_map::narrow_group,
                               counters = random_map::counters_per_group;
  const RandomStream& stream;
  std::uint64_t group;  ///< the first
  int bits;
  std::uint32_t* out;

  /// Counters in as many vectors side by side, from vector v of the groups on.
  template <std::size_t count>
  HWY_INLINE auto counters_of(std::size_t v) const noexcept {
    if constexpr (count == 1) {
      const std::uint64_t index =
          counters * (group + v * lane_count / counters) | (wide ? random_map::wide_mark : 0);
      const PhiloxCounter first = random_map::counter_of(stream, index);
      // index is a multiple of 16, so the low word does not carry within a group.
      const auto lane = static_cast<std::uint32_t>(v * lane_count % counters);
      return std::array<Words, 4>{counting_from(first[0] + lane), Words(first[1]), Words(first[2]),
                                  Words(first[3])};
    } else {
      const auto a = counters_of<count / 2>(v), b = counters_of<count / 2>(v + count / 2);
      using Pair = Two<std::decay_t<decltype(a[0])>>;
      return std::array<Pair, 4>{Pair(a[0], b[0]), Pair(a[1], b[1]), Pair(a[2], b[2]), Pair(a[3], b[3])};
    }
  }

  HWY_INLINE void put(Words drawn, std::size_t word, std::size_t v) const noexcept {
    std::uint32_t* const to = out + v * lane_count / counters * size + v * lane_count % counters;
    if constexpr (wide) {
      store(drawn >> (32 - bits), to + counters * word);
    } else {
      store((drawn << 16) >> (32 - bits), to + 2 * counters * word);
      store(drawn >> (32 - bits), to + 2 * counters * word + counters);
    }
  }
  template <std::size_t count, class Drawn>
  HWY_INLINE void put_all(const Drawn& drawn, std::size_t word, std::size_t v) const noexcept {
    if constexpr (count == 1) {
      put(drawn, word, v);
    } else {
      put_all<count / 2>(drawn.a, word, v);
      put_all<count / 2>(drawn.b, word, v + count / 2);
    }
  }

  template <std::size_t groups>
  HWY_INLINE void fill() const noexcept {
    constexpr std::size_t vectors = groups * counters / lane_count, together = std::min(vectors, chains);
    for (std::size_t v = 0; v < vectors; v += together) {
      const auto start = counters_of<together>(v);
      const auto drawn = philox4x32_10<std::decay_t<decltype(start[0])>>(start, random_map::key_of(stream));
      for (std::size_t word = 0; word < 4; ++word) put_all<together>(drawn[word], word, v);
    }
  }
};

template <bool wide>
HWY_INLINE void fill_words(const RandomStream& stream, std::uint64_t first, int bits, std::uint32_t* out,
                           std::size_t n) noexcept {
  constexpr std::size_t size = GroupWords<wide>::size,
                        together = std::max<std::size_t>(1, chains * lane_count / GroupWords<wide>::counters);
  for (std::size_t done = 0; done < n;) {
    const std::uint64_t element = first + done, group = element / size, offset = element % size;
    if (offset == 0 && n - done >= together * size) {
      GroupWords<wide>{stream, group, bits, out + done}.template fill<together>();
      done += together * size;
      continue;
    }
    const std::size_t count = std::min<std::size_t>(size - offset, n - done);
    std::uint32_t whole[size];
    GroupWords<wide>{stream, group, bits, whole}.template fill<1>();
    std::copy_n(whole + offset, count, out + done);
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
