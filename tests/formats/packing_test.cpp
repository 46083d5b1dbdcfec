#include "formats/packing.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "formats/catalog.h"

using namespace halfulp;

namespace {

std::vector<std::uint32_t> random_codes(const ScalarFormat& f, std::size_t count) {
  std::mt19937 random(31);
  std::vector<std::uint32_t> codes(count);
  for (std::uint32_t& code : codes) code = static_cast<std::uint32_t>(random() & (f.code_count() - 1));
  return codes;
}

std::vector<std::uint8_t> pack(const ScalarFormat& f, const std::vector<std::uint32_t>& codes) {
  std::vector<std::uint8_t> bytes(packed_bytes(f, codes.size()));
  for (std::size_t i = 0; i < codes.size(); ++i) store_code(f, bytes.data(), i, codes[i]);
  return bytes;
}

using Bytes = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("packing: what was stored is loaded again, at every position and length, for every format") {
  for (const NamedScalarFormat& named : all_scalar_formats)
    for (const std::size_t count : {1u, 2u, 3u, 4u, 5u, 7u, 33u, 257u}) {
      const std::vector<std::uint32_t> codes = random_codes(named.format, count);
      const Bytes bytes = pack(named.format, codes);
      INFO(std::string(named.name), " ", count);
      for (std::size_t i = 0; i < count; ++i) CHECK(load_code(named.format, bytes.data(), i) == codes[i]);
    }
}

TEST_CASE("packing: storing a code touches no neighbour and no byte beyond packed_bytes") {
  for (const NamedScalarFormat& named : all_scalar_formats)
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
