#include "emulation/random_bits.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

namespace halfulp {
namespace {

constexpr RandomStream stream{0x0123456789abcdef, 77, 0x1234, 5, RandomPurpose::noise, 9};

/// The map as its statement reads, written apart from the implementation.
std::uint32_t by_statement(const RandomStream& s, std::uint64_t e, bool wide) {
  const PhiloxKey key{static_cast<std::uint32_t>(s.seed & 0xffffffff),
                      static_cast<std::uint32_t>(s.seed >> 32)};
  const std::uint64_t group = wide ? 64 : 128;
  std::uint64_t index = 16 * (e / group) + e % 16;
  if (wide) index += 0x8000000000000000;
  const std::uint32_t last =
      s.tensor * 65536 + s.slot * 4096u + static_cast<std::uint32_t>(s.purpose) * 256 + s.sample;
  const PhiloxCounter out = philox4x32_10(
      {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), s.step, last}, key);
  const std::uint64_t draw = (e % group) / 16;
  if (wide) return out[draw];
  return (out[draw / 2] >> (draw % 2 == 0 ? 0 : 16)) & 0xffff;
}

TEST_CASE("random bits: every element takes the draw that the frozen map states") {
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{0xffffffffff}, std::uint64_t{1} << 62}) {
    for (std::uint64_t e = first; e < first + 300; ++e) {
      CAPTURE(e);
      CHECK(random_bits_16(stream, e) == by_statement(stream, e, false));
      CHECK(random_bits_32(stream, e) == by_statement(stream, e, true));
    }
  }
}

TEST_CASE("random bits: golden values, which no later version may change") {
  static_assert(random_bits_16({0, 0, 0, 0, RandomPurpose::rounding, 0}, 0) == 0xe8d5);  // philox of zeros
  static_assert(random_bits_16({0, 0, 0, 0, RandomPurpose::rounding, 0}, 16) == 0x6627);
  static_assert(random_bits_16({0, 0, 0, 0, RandomPurpose::rounding, 0}, 32) == 0xc58d);
  static_assert(random_bits_16({0, 0, 0, 0, RandomPurpose::rounding, 0}, 112) == 0x9b00);
  CHECK(random_bits_16(stream, 0) == 0x497f);
  CHECK(random_bits_16(stream, 1000003) == 0xfe84);
  CHECK(random_bits_32(stream, 0) == 0x9fe958f1);
  CHECK(random_bits_32(stream, 1000003) == 0x8f09ef89);
}

TEST_CASE("random bits: bulk equals the pure function from any start, for any length") {
  for (const std::uint64_t base : {std::uint64_t{0}, (std::uint64_t{1} << 40) - 70}) {
    for (std::uint64_t start = 0; start < 150; start += 7) {
      for (const std::size_t length : {0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 400}) {
        // one element more than asked for must stay as it was
        std::vector<std::uint16_t> narrow(length + 1, 0xabcd);
        std::vector<std::uint32_t> wide(length + 1, 0xabcdef01);
        fill_random_bits_16(stream, base + start, std::span(narrow).first(length));
        fill_random_bits_32(stream, base + start, std::span(wide).first(length));
        std::size_t different = 0;
        for (std::size_t i = 0; i < length; ++i)
          different += (narrow[i] != random_bits_16(stream, base + start + i)) +
                       (wide[i] != random_bits_32(stream, base + start + i));
        CAPTURE(start);
        CAPTURE(length);
        CHECK(different == 0);
        CHECK(narrow[length] == 0xabcd);
        CHECK(wide[length] == 0xabcdef01);
      }
    }
  }
}

TEST_CASE("random bits: N bits are the high bits of the draw, narrow up to 16, wide above") {
  for (std::uint64_t e = 0; e < 200; ++e) {
    CHECK(random_bits(stream, e, 0) == 0);
    for (int n = 1; n <= 16; ++n) CHECK(random_bits(stream, e, n) == random_bits_16(stream, e) >> (16 - n));
    for (int n = 17; n <= 32; ++n) CHECK(random_bits(stream, e, n) == random_bits_32(stream, e) >> (32 - n));
    CHECK(random_bits(stream, e, 40) == random_bits_32(stream, e));
  }
}

TEST_CASE("random bits: streams that differ in one field share no counter") {
  std::vector<RandomStream> streams(10, stream);
  streams[1].seed ^= 1;
  streams[2].seed ^= std::uint64_t{1} << 32;
  streams[3].step ^= 1;
  streams[4].tensor ^= 1;
  streams[5].tensor ^= 0x8000;
  streams[6].slot ^= 1;
  streams[7].purpose = RandomPurpose::rounding;
  streams[8].sample ^= 1;
  streams[9].sample ^= 0x80;
  std::set<std::pair<PhiloxKey, PhiloxCounter>> seen;
  for (const RandomStream& s : streams)
    for (std::uint64_t e = 0; e < 128; ++e) {
      seen.insert({random_map::key_of(s), random_map::counter_of(s, e)});
      seen.insert({random_map::key_of(s), random_map::counter_of(s, e | random_map::wide_mark)});
    }
  CHECK(seen.size() == streams.size() * 256);
  // 64 wide draws of two unrelated streams all equal by chance: 2^-2048
  for (std::size_t i = 1; i < streams.size(); ++i) {
    std::size_t equal = 0;
    for (std::uint64_t e = 0; e < 64; ++e)
      equal += random_bits_32(streams[i], e) == random_bits_32(stream, e);
    CAPTURE(i);
    CHECK(equal < 4);
  }
}

TEST_CASE("random bits: each of the 16 bits is set about half the time") {
  constexpr std::size_t count = 1 << 18;
  std::vector<std::uint16_t> bits(count);
  fill_random_bits_16(stream, 0, bits);
  for (int position = 0; position < 16; ++position) {
    std::size_t set = 0;
    for (const std::uint16_t b : bits) set += b >> position & 1;
    // sigma = sqrt(n) / 2 = 256; six of them
    CHECK(set > count / 2 - 6 * 256);
    CHECK(set < count / 2 + 6 * 256);
  }
}

}  // namespace
}  // namespace halfulp
