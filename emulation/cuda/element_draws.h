#pragma once
#include "emulation/random_bits.h"
#include "formats/scale_rule.h"

namespace halfulp::cuda {

/// Random integers of elements, as ElementRandom (quantize.h) hands them out: from a stream, by element, or one value for
/// all.
struct ElementDraws {
  RandomStream stream;
  bool from_stream;
  std::uint32_t fixed;
  int bits;  ///< of each integer; 0 draws none

  HALFULP_HD std::uint32_t of(std::uint64_t element) const noexcept {
    return from_stream && bits > 0 ? random_bits(stream, element, bits) : fixed;
  }

  /// For the scale of the block that starts at this element.
  HALFULP_HD std::uint32_t of_scale(std::uint64_t first_element) const noexcept {
    if (!from_stream) return fixed & ((1u << scale_random_bits) - 1);
    RandomStream scales = stream;
    scales.purpose = RandomPurpose::scale_rounding;
    return random_bits(scales, first_element, scale_random_bits);
  }

  /// out[d] = of(128 group + 16 d + lane): what one counter of the narrow map yields for eight elements, or two counters
  /// of the wide map.
  /// in: lane < 16
  HALFULP_HD void of_lane(std::uint64_t group, unsigned lane, std::uint32_t (&out)[8]) const noexcept {
    using namespace random_map;
    if (!from_stream || bits <= 0) {
      for (std::uint32_t& draw : out) draw = fixed;
    } else if (bits <= 16) {
      const PhiloxCounter words = bits_of_counter(stream, counters_per_group * group + lane);
      for (unsigned d = 0; d < 8; ++d) out[d] = ((words[d / 2] >> (d % 2 * 16)) & 0xffffu) >> (16 - bits);
    } else {
      for (unsigned half = 0; half < 2; ++half) {
        const PhiloxCounter words =
            bits_of_counter(stream, (counters_per_group * (2 * group + half) + lane) | wide_mark);
        for (unsigned d = 0; d < 4; ++d) out[4 * half + d] = words[d] >> (bits < 32 ? 32 - bits : 0);
      }
    }
  }
};

/// No random bits: of roundings that draw none.
inline ElementDraws no_draws() noexcept { return {{0, 0, 0, 0, RandomPurpose::rounding, 0}, false, 0, 0}; }
inline ElementDraws draws_of(const RandomStream& stream, int bits) noexcept {
  return {stream, true, 0, bits};
}

}  // namespace halfulp::cuda
