#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/error.h"
#include "formats/packing.h"

namespace halfulp {

/// How codes stand in bytes that other software wrote or will read. Tensors hold their codes dense.
enum class CodePacking : std::uint8_t {
  dense,               ///< as packing.h: FP4 low nibble first, four FP6 in three bytes
  byte_per_code,       ///< a byte each, the code in its low bits (FP6 in CUDA and PTX: two zero bits above)
  byte_per_code_high,  ///< a byte each, the code in its high bits (FP6 in tt-metal: code << 2)
  high_nibble_first,   ///< two in a byte, element 0 in the high nibble (torchao before its pull request 3123)
};

struct NamedCodePacking {
  std::string_view name;
  CodePacking packing;
};

inline constexpr std::array all_code_packings{
    NamedCodePacking{"dense", CodePacking::dense},
    NamedCodePacking{"byte_per_code", CodePacking::byte_per_code},
    NamedCodePacking{"byte_per_code_high", CodePacking::byte_per_code_high},
    NamedCodePacking{"high_nibble_first", CodePacking::high_nibble_first},
};

constexpr std::string_view name_of(CodePacking packing) noexcept {
  for (const NamedCodePacking& known : all_code_packings)
    if (known.packing == packing) return known.name;
  return "none";
}

/// Widest code that a packing holds, in bits.
constexpr int widest_code(CodePacking packing) noexcept {
  switch (packing) {
    case CodePacking::dense:
      return 32;
    case CodePacking::byte_per_code:
    case CodePacking::byte_per_code_high:
      return 8;
    case CodePacking::high_nibble_first:
      return 4;
  }
  return 0;
}

/// Bytes of `count` codes: n of them for n codes, or ceil(n / 2), or packed_bytes(f, n).
/// errors: throws Error if the codes of f are wider than the packing holds, and on 2^58 codes and more.
inline std::size_t packed_bytes(const ScalarFormat& f, CodePacking packing, std::size_t count) {
  if (f.bits() > widest_code(packing))
    throw Error("packing " + std::string(name_of(packing)), "codes are too wide",
                std::to_string(f.bits()) + " bits", "at most " + std::to_string(widest_code(packing)));
  if (count >> 58 != 0)
    throw Error("packing " + std::string(name_of(packing)), "too many codes", std::to_string(count),
                "below 2^58");
  switch (packing) {
    case CodePacking::dense:
      return packed_bytes(f, count);
    case CodePacking::byte_per_code:
    case CodePacking::byte_per_code_high:
      return count;
    case CodePacking::high_nibble_first:
      return count / 2 + count % 2;
  }
  return 0;
}

/// The bytes of codes[0], codes[1], ...; bits that belong to no code are zero.
/// errors: throws Error on a code of more than f.bits() bits, which would run into its neighbour, and as
///         packed_bytes() does.
inline std::vector<std::uint8_t> pack_codes(const ScalarFormat& f, CodePacking packing,
                                            std::span<const std::uint32_t> codes) {
  std::vector<std::uint8_t> bytes(packed_bytes(f, packing, codes.size()));
  const int bits = f.bits();
  for (std::size_t i = 0; i < codes.size(); ++i)
    if (std::uint64_t{codes[i]} >> bits != 0)
      throw Error("packing " + std::string(name_of(packing)), "code " + std::to_string(i) + " is too wide",
                  std::to_string(codes[i]), "0 to " + std::to_string((std::uint64_t{1} << bits) - 1));
  switch (packing) {
    case CodePacking::dense:
      store_codes(f, bytes.data(), 0, codes);
      break;
    case CodePacking::byte_per_code:
    case CodePacking::byte_per_code_high: {
      const int shift = packing == CodePacking::byte_per_code ? 0 : 8 - bits;
      for (std::size_t i = 0; i < codes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(codes[i] << shift);
      break;
    }
    case CodePacking::high_nibble_first:
      for (std::size_t i = 0; i < codes.size(); ++i)
        bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] | codes[i] << (i % 2 == 0 ? 4 : 0));
      break;
  }
  return bytes;
}

/// The `count` codes that pack_codes() made these bytes of. Positions beyond a table come back as they stand:
/// they are its NaNs.
/// errors: throws Error if there are not exactly packed_bytes(f, packing, count) bytes, as packed_bytes()
///         does, and if a bit that belongs to no code is set: such bytes were packed otherwise, or are wider
///         numbers (an fp32 word is no TF32 word).
inline std::vector<std::uint32_t> unpack_codes(const ScalarFormat& f, CodePacking packing,
                                               std::span<const std::uint8_t> bytes, std::size_t count) {
  const std::string where = "unpacking " + std::string(name_of(packing));
  const std::size_t expected = packed_bytes(f, packing, count);
  if (bytes.size() != expected)
    throw Error(where,
                "wrong size for " + std::to_string(count) + " codes of " + std::to_string(f.bits()) + " bits",
                std::to_string(bytes.size()) + " bytes", std::to_string(expected));
  std::vector<std::uint32_t> codes(count);
  switch (packing) {
    case CodePacking::dense:
      load_codes(f, bytes.data(), 0, codes);
      break;
    case CodePacking::byte_per_code:
    case CodePacking::byte_per_code_high: {
      const int shift = packing == CodePacking::byte_per_code ? 0 : 8 - f.bits();
      for (std::size_t i = 0; i < count; ++i) codes[i] = bytes[i] >> shift;
      break;
    }
    case CodePacking::high_nibble_first:
      for (std::size_t i = 0; i < count; ++i) codes[i] = bytes[i / 2] >> (i % 2 == 0 ? 4 : 0) & 0xfu;
      break;
  }
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << f.bits()) - 1);
  for (std::uint32_t& code : codes) code &= mask;
  const std::vector<std::uint8_t> again = pack_codes(f, packing, codes);
  for (std::size_t i = 0; i < expected; ++i)
    if (bytes[i] != again[i])
      throw Error(where, "byte " + std::to_string(i) + " has bits set that belong to no code",
                  std::to_string(bytes[i]), std::to_string(again[i]) + " with these bits cleared");
  return codes;
}

}  // namespace halfulp
