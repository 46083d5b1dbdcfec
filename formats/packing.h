#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/scalar_format.h"

namespace halfulp {

/// Bits that a code takes in packed storage: 4 up to 4 bits, 6 for 6 bits, else 8, 16 or 32.
HALFULP_HD constexpr int storage_bits(const ScalarFormat& f) noexcept {
  const int bits = f.bits();
  return bits <= 4 ? 4 : bits == 6 ? 6 : bits <= 8 ? 8 : bits <= 16 ? 16 : 32;
}

/// Bytes of `count` packed codes.
HALFULP_HD constexpr std::size_t packed_bytes(const ScalarFormat& f, std::size_t count) noexcept {
  return (count * static_cast<std::size_t>(storage_bits(f)) + 7) / 8;
}

/// Packed codes are a little-endian bit stream: code i occupies bits [i b, i b + b). For FP4 this puts
/// element 0 in the low nibble; for FP6 it is the dense layout of four codes in three bytes,
///   byte 0 = e1[1:0] e0[5:0]   byte 1 = e2[3:0] e1[5:2]   byte 2 = e3[5:0] e2[5:4];
/// wider codes are plain little-endian words. TF32 stands in the high 19 bits of its 32-bit word, as hardware
/// has it.
HALFULP_HD constexpr int storage_shift(const ScalarFormat& f) noexcept {
  return f.bits() > 16 ? storage_bits(f) - f.bits() : 0;
}

/// in: bytes of at least packed_bytes(f, i + 1).
/// errors: none.
HALFULP_HD constexpr std::uint32_t load_code(const ScalarFormat& f, const std::uint8_t* bytes,
                                             std::size_t i) noexcept {
  const auto width = static_cast<std::size_t>(storage_bits(f));
  if (width >= 8) {
    const std::uint8_t* word = bytes + i * (width / 8);
    std::uint32_t code = word[0];
    for (std::size_t b = 1; b < width / 8; ++b) code |= static_cast<std::uint32_t>(word[b]) << (8 * b);
    return code >> storage_shift(f);
  }
  const std::size_t bit = i * width, first = bit / 8, offset = bit % 8;
  std::uint32_t window = bytes[first];
  if (offset + width > 8) window |= static_cast<std::uint32_t>(bytes[first + 1]) << 8;
  return (window >> offset) & ((std::uint32_t{1} << width) - 1);
}

/// in: as load_code; code in [0, code_count()). Neighbouring codes are untouched.
HALFULP_HD constexpr void store_code(const ScalarFormat& f, std::uint8_t* bytes, std::size_t i,
                                     std::uint32_t code) noexcept {
  const auto width = static_cast<std::size_t>(storage_bits(f));
  if (width >= 8) {
    const std::uint32_t word = code << storage_shift(f);
    for (std::size_t b = 0; b < width / 8; ++b)
      bytes[i * (width / 8) + b] = static_cast<std::uint8_t>(word >> (8 * b));
    return;
  }
  const std::size_t bit = i * width, first = bit / 8, offset = bit % 8;
  const std::uint32_t mask = ((std::uint32_t{1} << width) - 1) << offset;
  const std::uint32_t value = code << offset;
  bytes[first] = static_cast<std::uint8_t>((bytes[first] & ~mask) | value);
  if (offset + width > 8)
    bytes[first + 1] = static_cast<std::uint8_t>((bytes[first + 1] & ~(mask >> 8)) | (value >> 8));
}

/// out[i] = load_code(f, bytes, first + i).
inline void load_codes(const ScalarFormat& f, const std::uint8_t* bytes, std::size_t first,
                       std::span<std::uint32_t> out) noexcept {
  // Bytes are most of it: a loop of their own keeps the width test out.
  if (storage_bits(f) == 8)
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = bytes[first + i];
  else
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = load_code(f, bytes, first + i);
}

/// store_code(f, bytes, first + i, codes[i]) for all i.
inline void store_codes(const ScalarFormat& f, std::uint8_t* bytes, std::size_t first,
                        std::span<const std::uint32_t> codes) noexcept {
  if (storage_bits(f) == 8)
    for (std::size_t i = 0; i < codes.size(); ++i) bytes[first + i] = static_cast<std::uint8_t>(codes[i]);
  else
    for (std::size_t i = 0; i < codes.size(); ++i) store_code(f, bytes, first + i, codes[i]);
}

}  // namespace halfulp
