#include "formats/packing.h"

#include <doctest/doctest.h>

#include <numeric>
#include <random>
#include <vector>

#include "formats/catalog.h"
#include "formats/code_packing.h"

using namespace halfulp;

namespace {

std::vector<std::uint32_t> random_codes(const ScalarFormat& f, std::size_t count) {
  std::mt19937 random(31);
  std::vector<std::uint32_t> codes(count);
  for (std::uint32_t& code : codes) code = static_cast<std::uint32_t>(random() % f.code_count());
  return codes;
}

/// The numbers 0, 1, ..., size - 1 as a table.
ScalarFormat table_of(std::uint32_t size) {
  static const std::vector<double> numbers = [] {
    std::vector<double> all(std::size_t{1} << 16);
    std::iota(all.begin(), all.end(), 0.0);
    return all;
  }();
  ScalarFormat f;
  f.table = numbers.data();
  f.table_size = size;
  return f;
}

/// The catalog, and a table of every width from 1 to 16 bits: the fullest one and the one with a single code
/// of that width.
std::vector<NamedScalarFormat> packed_formats() {
  std::vector<NamedScalarFormat> all(all_scalar_formats.begin(), all_scalar_formats.end());
  for (int bits = 1; bits <= 16; ++bits) {
    all.push_back({"full table", table_of(std::uint32_t{1} << bits)});
    if (bits > 1) all.push_back({"table", table_of((std::uint32_t{1} << (bits - 1)) + 1)});
  }
  return all;
}

bool holds(CodePacking packing, const ScalarFormat& f) { return f.bits() <= widest_code(packing); }

/// Bit number of bit b of code i, from the statement of each packing.
std::size_t bit_number(const ScalarFormat& f, CodePacking packing, std::size_t i, std::size_t b) {
  const auto bits = static_cast<std::size_t>(f.bits());
  switch (packing) {
    case CodePacking::dense: {
      const std::size_t pitch = bits <= 4 ? 4 : bits == 6 ? 6 : bits <= 8 ? 8 : bits <= 16 ? 16 : 32;
      return i * pitch + b + (pitch == 32 ? 32 - bits : 0);
    }
    case CodePacking::byte_per_code:
      return 8 * i + b;
    case CodePacking::byte_per_code_high:
      return 8 * i + (8 - bits) + b;
    case CodePacking::high_nibble_first:
      return 8 * (i / 2) + (i % 2 == 0 ? 4 : 0) + b;
  }
  return 0;
}

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::uint8_t> pack(const ScalarFormat& f, const std::vector<std::uint32_t>& codes) {
  std::vector<std::uint8_t> bytes(packed_bytes(f, codes.size()));
  for (std::size_t i = 0; i < codes.size(); ++i) store_code(f, bytes.data(), i, codes[i]);
  return bytes;
}

using Bytes = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("packing: what was stored is loaded again, at every position and length, for every format") {
  for (const NamedScalarFormat& named : packed_formats())
    for (const std::size_t count : {1u, 2u, 3u, 4u, 5u, 7u, 33u, 257u}) {
      const std::vector<std::uint32_t> codes = random_codes(named.format, count);
      const Bytes bytes = pack(named.format, codes);
      INFO(std::string(named.name), " ", count);
      for (std::size_t i = 0; i < count; ++i) CHECK(load_code(named.format, bytes.data(), i) == codes[i]);
    }
}

TEST_CASE("packing: storing a code touches no neighbour and no byte beyond packed_bytes") {
  for (const NamedScalarFormat& named : packed_formats())
    for (const std::uint8_t fill : {std::uint8_t{0x00}, std::uint8_t{0xff}, std::uint8_t{0xa5}}) {
      const ScalarFormat& f = named.format;
      constexpr std::size_t count = 9;
      const std::size_t size = packed_bytes(f, count);
      for (std::size_t i = 0; i < count; ++i) {
        Bytes bytes(size + 4, fill);
        std::vector<std::uint32_t> before;
        for (std::size_t k = 0; k < count; ++k) before.push_back(load_code(f, bytes.data(), k));
        store_code(f, bytes.data(), i, 1);
        INFO(std::string(named.name), " element ", i);
        for (std::size_t k = 0; k < count; ++k)
          CHECK(load_code(f, bytes.data(), k) == (k == i ? 1 : before[k]));
        for (std::size_t k = size; k < bytes.size(); ++k) CHECK(bytes[k] == fill);
      }
    }
}

TEST_CASE("packing: FP4 puts element 0 into the low nibble") {
  CHECK(pack(e2m1, {0x2, 0x7}) == Bytes{0x72});  // 1 and 6, as CUDA's float2 conversion gives
  CHECK(pack(e2m1, {0x1, 0xf, 0x7, 0x8}) == Bytes{0xf1, 0x87});
  CHECK(pack(e2m1, {0x1, 0xf, 0x7}) == Bytes{0xf1, 0x07});  // the spare nibble is zero
  CHECK(packed_bytes(e2m1, 33) == 17);
  CHECK(packed_bytes(e2m1, 0) == 0);
}

TEST_CASE("packing: FP6 is dense, four codes in three bytes, with a ragged tail") {
  CHECK(pack(e3m2, {0x01, 0x3f, 0x20, 0x15, 0x2a}) == Bytes{0xc1, 0x0f, 0x56, 0x2a});
  for (const std::size_t count : {1u, 2u, 3u, 4u, 5u})
    CHECK(packed_bytes(e2m3, count) == std::vector<std::size_t>{0, 1, 2, 3, 3, 4}[count]);
  // The layout of the MX data generators: e0 = byte0[5:0], e1 = byte0[7:6] | byte1[3:0] << 2, and so on.
  const std::vector<std::uint32_t> codes = random_codes(e2m3, 64);
  const Bytes bytes = pack(e2m3, codes);
  for (std::size_t g = 0; g < 16; ++g) {
    const std::uint32_t b0 = bytes[3 * g], b1 = bytes[3 * g + 1], b2 = bytes[3 * g + 2];
    CHECK((b0 & 0x3f) == codes[4 * g]);
    CHECK(((b0 >> 6) | (b1 & 0xf) << 2) == codes[4 * g + 1]);
    CHECK(((b1 >> 4) | (b2 & 0x3) << 4) == codes[4 * g + 2]);
    CHECK((b2 >> 2) == codes[4 * g + 3]);
  }
}

TEST_CASE("packing: wider codes are little-endian words, TF32 in the high bits of its word") {
  CHECK(pack(bf16, {0x3f80, 0xc049}) == Bytes{0x80, 0x3f, 0x49, 0xc0});
  CHECK(pack(fp32, {0x3f800001}) == Bytes{0x01, 0x00, 0x80, 0x3f});
  CHECK(pack(tf32, {0x1fc01}) == Bytes{0x00, 0x20, 0x80, 0x3f});  // 1 + 2^-10 as a binary32 word
  CHECK(pack(e4m3, {0x7e, 0x80}) == Bytes{0x7e, 0x80});
}

TEST_CASE("packing: bytes per element of the storage formats") {
  CHECK(storage_bits(e2m1) == 4);
  CHECK(storage_bits(e3m2) == 6);
  CHECK(storage_bits(e4m3) == 8);
  CHECK(storage_bits(fp16) == 16);
  CHECK(storage_bits(tf32) == 32);
  CHECK(storage_bits({.exponent_bits = 2, .fraction_bits = 2, .bias = 1}) ==
        8);  // five bits are not packed densely
  CHECK(storage_bits({.exponent_bits = 5, .fraction_bits = 3, .bias = 15}) == 16);
}

TEST_CASE("packing: bits per code of a table follow from the width of its last position") {
  constexpr int expected[] = {0, 4, 4, 4, 4, 8, 6, 8, 8, 16, 16, 16, 16, 16, 16, 16, 16};
  for (int bits = 1; bits <= 16; ++bits) {
    const std::uint32_t full = std::uint32_t{1} << bits;
    INFO(bits, " bits");
    CHECK(table_of(full).bits() == bits);
    CHECK(storage_bits(table_of(full)) == expected[bits]);
    CHECK(storage_bits(table_of(full / 2 + 1)) == expected[bits]);
  }
  // Five numbers take three bits, and those a nibble: 0x4 0x0 0x3 little end first.
  CHECK(pack(table_of(5), {4, 0, 3}) == Bytes{0x04, 0x03});
  CHECK(pack(table_of(33), {32, 31, 1, 2}) == Bytes{0xe0, 0x17, 0x08});  // six bits, dense
}

TEST_CASE("packing: each bit of each code stands where the packing says, and no other bit is set") {
  for (const NamedScalarFormat& named : packed_formats())
    for (const auto& [name, packing] : all_code_packings) {
      if (!holds(packing, named.format)) continue;
      for (const std::size_t count : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 33u, 130u}) {
        const ScalarFormat& f = named.format;
        INFO(std::string(named.name), " of ", f.bits(), " bits, ", std::string(name), ", ", count);
        const std::vector<std::uint32_t> codes = random_codes(f, count);
        const Bytes bytes = pack_codes(f, packing, codes);
        CHECK(bytes.size() == packed_bytes(f, packing, count));
        Bytes expected(bytes.size(), 0);
        for (std::size_t i = 0; i < count; ++i)
          for (int b = 0; b < f.bits(); ++b)
            if ((codes[i] >> b & 1) != 0) {
              const std::size_t at = bit_number(f, packing, i, static_cast<std::size_t>(b));
              expected.at(at / 8) |= static_cast<std::uint8_t>(1 << at % 8);
            }
        CHECK(bytes == expected);
        CHECK(unpack_codes(f, packing, bytes, count) == codes);
      }
    }
}

TEST_CASE("packing: every code of every narrow format survives every packing that holds it") {
  for (const NamedScalarFormat& named : packed_formats())
    for (const auto& [name, packing] : all_code_packings) {
      if (!holds(packing, named.format) || named.format.bits() > 16) continue;
      std::vector<std::uint32_t> codes(named.format.code_count());
      std::iota(codes.begin(), codes.end(), 0u);
      INFO(std::string(named.name), " of ", named.format.bits(), " bits, ", std::string(name));
      CHECK(unpack_codes(named.format, packing, pack_codes(named.format, packing, codes), codes.size()) ==
            codes);
    }
}

TEST_CASE("packing: one code in a byte, low as CUDA has FP6, high as tt-metal has it") {
  CHECK(pack_codes(e3m2, CodePacking::byte_per_code, std::vector{0x0cu, 0x2cu}) ==
        Bytes{0x0c, 0x2c});  // 1, -1
  CHECK(pack_codes(e3m2, CodePacking::byte_per_code_high, std::vector{0x0cu, 0x2cu}) == Bytes{0x30, 0xb0});
  CHECK(packed_bytes(e3m2, CodePacking::byte_per_code, 4) == 4);
  CHECK(pack_codes(e2m1, CodePacking::byte_per_code, std::vector{0x2u, 0xfu}) == Bytes{0x02, 0x0f});
  CHECK(pack_codes(e2m1, CodePacking::byte_per_code_high, std::vector{0x2u, 0xfu}) == Bytes{0x20, 0xf0});
  for (const CodePacking packing : {CodePacking::byte_per_code, CodePacking::byte_per_code_high})
    CHECK(pack_codes(e4m3, packing, std::vector{0x7eu, 0x80u}) == Bytes{0x7e, 0x80});  // nothing to shift
}

TEST_CASE("packing: high nibble first is the dense FP4 with its nibbles exchanged") {
  CHECK(pack_codes(e2m1, CodePacking::high_nibble_first, std::vector{0x2u, 0x7u}) == Bytes{0x27});
  CHECK(pack_codes(e2m1, CodePacking::high_nibble_first, std::vector{0x2u, 0x7u, 0x9u}) == Bytes{0x27, 0x90});
  const std::vector<std::uint32_t> codes = random_codes(e2m1, 65);
  const Bytes low = pack_codes(e2m1, CodePacking::dense, codes),
              high = pack_codes(e2m1, CodePacking::high_nibble_first, codes);
  REQUIRE(low.size() == high.size());
  for (std::size_t i = 0; i < low.size(); ++i)
    CHECK(high[i] == static_cast<std::uint8_t>(low[i] << 4 | low[i] >> 4));
}

TEST_CASE("packing: dense bytes are those of load_code and store_code") {
  for (const NamedScalarFormat& named : packed_formats()) {
    const std::vector<std::uint32_t> codes = random_codes(named.format, 67);
    INFO(std::string(named.name));
    CHECK(pack_codes(named.format, CodePacking::dense, codes) == pack(named.format, codes));
  }
}

TEST_CASE("packing: a packing that cannot hold a format's codes refuses it by name") {
  const std::string wide = message_of([] { packed_bytes(fp16, CodePacking::byte_per_code, 1); });
  CHECK(contains(wide, "byte_per_code"));
  CHECK(contains(wide, "16 bits"));
  CHECK(contains(wide, "at most 8"));
  CHECK(contains(message_of([] { pack_codes(e3m2, CodePacking::high_nibble_first, std::vector{1u}); }),
                 "6 bits"));
  CHECK(contains(message_of([] { unpack_codes(e3m2, CodePacking::high_nibble_first, Bytes{1}, 2); }),
                 "at most 4"));
  CHECK(message_of([] { packed_bytes(table_of(16), CodePacking::high_nibble_first, 3); }) == "no error");
  CHECK(contains(message_of([] { packed_bytes(e2m1, CodePacking::dense, std::size_t{1} << 62); }), "2^58"));
}

TEST_CASE("packing: a code with bits beyond its format is refused where it would run into a neighbour") {
  for (const auto& [name, packing] : all_code_packings) {
    INFO(std::string(name));
    const std::string message = message_of([&] { pack_codes(e2m1, packing, std::vector{0x1u, 0x10u}); });
    CHECK(contains(message, std::string(name)));
    CHECK(contains(message, "code 1 is too wide"));
    CHECK(contains(message, "given '16', allowed: 0 to 15"));
  }
  CHECK(message_of([] { pack_codes(fp32, CodePacking::dense, std::vector{0xffffffffu}); }) == "no error");
  CHECK(
      contains(message_of([] { pack_codes(tf32, CodePacking::dense, std::vector{0x80000u}); }), "too wide"));
}

TEST_CASE("packing: bytes of another size are refused") {
  for (const std::size_t size : {2u, 4u}) {
    const std::string message = message_of([&] { unpack_codes(e2m1, CodePacking::dense, Bytes(size), 5); });
    CHECK(contains(message, "5 codes of 4 bits"));
    CHECK(contains(message, "given '" + std::to_string(size) + " bytes', allowed: 3"));
  }
  CHECK(unpack_codes(e2m1, CodePacking::dense, Bytes{}, 0).empty());
  CHECK(contains(message_of([] { unpack_codes(e2m3, CodePacking::byte_per_code, Bytes(3), 4); }),
                 "allowed: 4"));
}

TEST_CASE("packing: bits that belong to no code tell of another packing") {
  // FP6 in high bits, read as low bits: code << 2 leaves bit 7 or 6 set.
  const Bytes high = pack_codes(e3m2, CodePacking::byte_per_code_high, std::vector{0x01u, 0x3fu});
  CHECK(contains(message_of([&] { unpack_codes(e3m2, CodePacking::byte_per_code, high, 2); }), "byte 1"));
  const Bytes low = pack_codes(e3m2, CodePacking::byte_per_code, std::vector{0x04u, 0x02u});
  CHECK(contains(message_of([&] { unpack_codes(e3m2, CodePacking::byte_per_code_high, low, 2); }), "byte 1"));
  // Spare bits at the end of dense FP4 and FP6, an fp32 word that is no TF32 word, a nibble of three bits.
  CHECK(contains(message_of([] { unpack_codes(e2m1, CodePacking::dense, Bytes{0x11, 0x91}, 3); }), "byte 1"));
  CHECK(contains(message_of([] {
                   unpack_codes(e2m1, CodePacking::high_nibble_first, Bytes{0x11, 0x19}, 3);
                 }),
                 "given '25', allowed: 16"));
  CHECK(contains(message_of([] { unpack_codes(e2m3, CodePacking::dense, Bytes{0x41}, 1); }), "byte 0"));
  CHECK(contains(message_of([] {
                   unpack_codes(tf32, CodePacking::dense, Bytes{0x01, 0x00, 0x80, 0x3f}, 1);
                 }),
                 "byte 0"));
  CHECK(
      contains(message_of([] { unpack_codes(table_of(8), CodePacking::dense, Bytes{0x87}, 2); }), "byte 0"));
  // A position beyond a table is its NaN, and stays what it is.
  CHECK(unpack_codes(table_of(5), CodePacking::dense, Bytes{0x74}, 2) == std::vector{4u, 7u});
}
