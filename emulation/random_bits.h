#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "emulation/philox.h"
#include "formats/platform.h"

namespace halfulp {

// The map from an element to its random bits. It is frozen: records are reproducible only as long as it
// stays.
//
//   key      = {low word of seed, high word of seed}
//   counter  = {low word of index, high word of index, step, tensor << 16 | slot << 12 | purpose << 8 |
//   sample}
//
//   narrow map, 16 bits for element e (128 elements use 16 counters, 8 draws each):
//     index = 16 * (e / 128) + e % 16
//     draw  = (e % 128) / 16, the halfword: word draw / 2, low half first
//   wide map, 32 bits for element e (64 elements use 16 counters, 4 draws each):
//     index = 16 * (e / 64) + e % 16, with bit 63 set
//     draw  = (e % 64) / 16, the word
//
// Neighbouring elements take the same draw of neighbouring counters, so vectors of up to 16 lanes need no
// shuffle. A narrow index is below 2^61, hence bit 63 keeps the two maps from ever sharing a counter. N bits
// are the high N bits of the draw: of the narrow one for N <= 16, of the wide one for 16 < N <= 32.

/// What the bits are for. The numbers are part of the frozen map.
enum class RandomPurpose : std::uint8_t {
  rounding = 0,
  scale_rounding = 1,
  noise = 2,
  initialization = 3,
  data_order = 4,
  label_noise = 5,
  projection = 6,
  gradient_rounding = 7,
  accumulator_rounding = 8,
};

/// Everything that random bits depend on besides the element.
struct RandomStream {
  std::uint64_t seed;
  std::uint32_t step;
  std::uint32_t tensor;   ///< id in the registry; the low 16 bits count
  std::uint8_t slot;      ///< the low 4 bits count
  RandomPurpose purpose;  ///< fits 4 bits
  std::uint8_t sample;    ///< which of several draws in one step

  friend constexpr bool operator==(const RandomStream&, const RandomStream&) = default;
};

namespace random_map {

inline constexpr std::uint64_t counters_per_group = 16;
inline constexpr std::uint64_t narrow_group = 128, wide_group = 64;  // elements
inline constexpr std::uint64_t wide_mark = std::uint64_t{1} << 63;

HALFULP_HD constexpr PhiloxKey key_of(const RandomStream& s) noexcept {
  return {static_cast<std::uint32_t>(s.seed), static_cast<std::uint32_t>(s.seed >> 32)};
}

HALFULP_HD constexpr PhiloxCounter counter_of(const RandomStream& s, std::uint64_t index) noexcept {
  const std::uint32_t slot = s.slot & 15u, purpose = static_cast<std::uint32_t>(s.purpose) & 15u;
  return {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), s.step,
          s.tensor << 16 | slot << 12 | purpose << 8 | s.sample};
}

/// 128 bits of counter `index`.
HALFULP_HD constexpr PhiloxCounter bits_of_counter(const RandomStream& s, std::uint64_t index) noexcept {
  return philox4x32_10(counter_of(s, index), key_of(s));
}

}  // namespace random_map

/// 16 random bits of an element, by the narrow map.
HALFULP_HD constexpr std::uint16_t random_bits_16(const RandomStream& stream,
                                                  std::uint64_t element) noexcept {
  using namespace random_map;
  const std::uint64_t index = counters_per_group * (element / narrow_group) + element % counters_per_group;
  const std::uint32_t draw = static_cast<std::uint32_t>(element % narrow_group / counters_per_group);
  return static_cast<std::uint16_t>(bits_of_counter(stream, index)[draw / 2] >> (draw % 2 * 16));
}

/// 32 random bits of an element, by the wide map.
HALFULP_HD constexpr std::uint32_t random_bits_32(const RandomStream& stream,
                                                  std::uint64_t element) noexcept {
  using namespace random_map;
  const std::uint64_t index = counters_per_group * (element / wide_group) + element % counters_per_group;
  const std::uint32_t draw = static_cast<std::uint32_t>(element % wide_group / counters_per_group);
  return bits_of_counter(stream, index | wide_mark)[draw];
}

/// N random bits of an element, in the low bits of the result: the high N bits of its draw.
/// in: N in 0..32 (more counts as 32)
HALFULP_HD constexpr std::uint32_t random_bits(const RandomStream& stream, std::uint64_t element,
                                               int n) noexcept {
  if (n <= 0) return 0;
  if (n <= 16) return static_cast<std::uint32_t>(random_bits_16(stream, element)) >> (16 - n);
  return random_bits_32(stream, element) >> (n < 32 ? 32 - n : 0);
}

namespace random_map {

/// The 8 x 16 halfwords of a narrow group, in element order.
inline void narrow_group_bits(const RandomStream& s, std::uint64_t group, std::uint16_t* out) noexcept {
  for (std::uint64_t lane = 0; lane < counters_per_group; ++lane) {
    const PhiloxCounter bits = bits_of_counter(s, counters_per_group * group + lane);
    for (std::size_t word = 0; word < 4; ++word) {
      out[32 * word + lane] = static_cast<std::uint16_t>(bits[word]);
      out[32 * word + 16 + lane] = static_cast<std::uint16_t>(bits[word] >> 16);
    }
  }
}

/// The 4 x 16 words of a wide group, in element order.
inline void wide_group_bits(const RandomStream& s, std::uint64_t group, std::uint32_t* out) noexcept {
  for (std::uint64_t lane = 0; lane < counters_per_group; ++lane) {
    const PhiloxCounter bits = bits_of_counter(s, (counters_per_group * group + lane) | wide_mark);
    for (std::size_t word = 0; word < 4; ++word) out[16 * word + lane] = bits[word];
  }
}

/// Calls group_bits for each group that [first, first + out.size()) touches, straight into out where the
/// group lies inside it.
template <std::uint64_t group_size, class Bits, class GroupBits>
void fill(std::uint64_t first, std::span<Bits> out, GroupBits group_bits) noexcept {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::uint64_t element = first + done, offset = element % group_size;
    const std::size_t count = std::min<std::size_t>(group_size - offset, out.size() - done);
    if (count == group_size) {
      group_bits(element / group_size, out.data() + done);
    } else {
      std::array<Bits, group_size> whole;
      group_bits(element / group_size, whole.data());
      std::copy_n(whole.data() + offset, count, out.data() + done);
    }
    done += count;
  }
}

}  // namespace random_map

/// out[i] = random_bits_16(stream, first_element + i), each counter computed once.
inline void fill_random_bits_16(const RandomStream& stream, std::uint64_t first_element,
                                std::span<std::uint16_t> out) noexcept {
  random_map::fill<random_map::narrow_group>(first_element, out, [&](std::uint64_t group, std::uint16_t* to) {
    random_map::narrow_group_bits(stream, group, to);
  });
}

/// out[i] = random_bits_32(stream, first_element + i), each counter computed once.
inline void fill_random_bits_32(const RandomStream& stream, std::uint64_t first_element,
                                std::span<std::uint32_t> out) noexcept {
  random_map::fill<random_map::wide_group>(first_element, out, [&](std::uint64_t group, std::uint32_t* to) {
    random_map::wide_group_bits(stream, group, to);
  });
}

/// out[i] = random_bits(stream, first_element + i, n), each counter computed once.
inline void fill_random_bits(const RandomStream& stream, std::uint64_t first_element, int n,
                             std::span<std::uint32_t> out) noexcept {
  if (n > 16) {
    fill_random_bits_32(stream, first_element, out);
    for (std::uint32_t& bits : out) bits >>= n < 32 ? 32 - n : 0;
    return;
  }
  std::array<std::uint16_t, random_map::narrow_group> draws;
  for (std::size_t done = 0; done < out.size(); done += draws.size()) {
    const std::size_t count = std::min(draws.size(), out.size() - done);
    fill_random_bits_16(stream, first_element + done, std::span(draws.data(), count));
    for (std::size_t i = 0; i < count; ++i)
      out[done + i] = n <= 0 ? 0 : static_cast<std::uint32_t>(draws[i]) >> (16 - n);
  }
}

}  // namespace halfulp
