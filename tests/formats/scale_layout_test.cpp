#include "formats/scale_layout.h"

#include <doctest/doctest.h>

#include <random>

using namespace halfulp;

namespace {

using Bytes = std::vector<std::uint8_t>;

struct Mode {
  std::size_t size, stride;
};

/// One coordinate of a nested layout (s0, s1, ...) : (d0, d1, ...): its digits to the sizes, the first
/// fastest, times the strides.
std::size_t nested_offset(std::size_t coordinate, std::initializer_list<Mode> modes) {
  std::size_t offset = 0;
  for (const Mode& mode : modes) {
    offset += coordinate % mode.size * mode.stride;
    coordinate /= mode.size;
  }
  return offset;
}

/// Offset of the scale of element (row, k) of an operand with a scale for every `block` elements along k, by
/// the atom ((32, 4), (block, 4)) : ((16, 4), (0, 1)) and atoms of 128 rows and 4 blocks that follow each
/// other along k first.
std::size_t atom_offset(std::size_t row, std::size_t k, std::size_t block, std::size_t columns) {
  const std::size_t atom_length = 4 * block, atoms_across = (columns * block + atom_length - 1) / atom_length;
  return (row / 128 * atoms_across + k / atom_length) * 512 + nested_offset(row % 128, {{32, 16}, {4, 4}}) +
         nested_offset(k % atom_length, {{block, 0}, {4, 1}});
}

constexpr std::size_t some_rows[] = {0, 1, 31, 32, 33, 127, 128, 129, 256, 300};
constexpr std::size_t some_columns[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 17};

Bytes random_bytes(std::size_t count) {
  std::mt19937 random(7);
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
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

}  // namespace

TEST_CASE("scale layout: sizes are whole tiles of 128 x 4") {
  CHECK(swizzled_scale_bytes(1, 1) == 512);
  CHECK(swizzled_scale_bytes(128, 4) == 512);
  CHECK(swizzled_scale_bytes(129, 4) == 1024);
  CHECK(swizzled_scale_bytes(128, 5) == 1024);
  CHECK(swizzled_scale_bytes(130, 5) == 2048);
  CHECK(swizzled_scale_bytes(0, 5) == 0);
  CHECK(swizzled_scale_bytes(5, 0) == 0);
  static_assert(swizzled_scale_bytes(4096, 128) == 4096 * 128);
}

TEST_CASE("scale layout: offsets worked by hand") {
  struct {
    std::size_t row, column, offset;
  } const rows[] = {
      {0, 0, 0},       // the first byte
      {0, 3, 3},       // columns of one row are neighbours
      {1, 0, 16},      // the next row is 16 bytes on
      {31, 3, 499},    // 31 * 16 + 3
      {32, 0, 4},      // row 32 stands beside row 0
      {33, 1, 21},     // 16 + 4 + 1
      {64, 0, 8},      // and row 64
      {96, 2, 14},     // 12 + 2
      {127, 3, 511},   // the last byte of the tile
      {0, 4, 512},     // the next tile lies along the row
      {128, 0, 1024},  // with 5 columns two tiles lie side by side
      {129, 4, 1552},  // tile 3, 16 bytes in
  };
  for (const auto& row : rows) {
    INFO(row.row, " ", row.column);
    CHECK(swizzled_scale_offset(row.row, row.column, 5) == row.offset);
  }
  CHECK(swizzled_scale_offset(128, 0, 4) == 512);    // one tile across
  CHECK(swizzled_scale_offset(128, 0, 12) == 1536);  // three
}

TEST_CASE("scale layout: every element of an operand finds its scale where the nested layout has it") {
  for (const std::size_t block : {std::size_t{16}, std::size_t{32}})
    for (const std::size_t columns : {1u, 4u, 5u, 11u}) {
      std::size_t different = 0;
      for (std::size_t row = 0; row < 300; ++row)
        for (std::size_t k = 0; k < columns * block; ++k)
          if (swizzled_scale_offset(row, k / block, columns) != atom_offset(row, k, block, columns))
            ++different;
      CHECK(different == 0);
    }
}

TEST_CASE("scale layout: offsets of the padded matrix are each byte once") {
  for (const std::size_t rows : some_rows)
    for (const std::size_t columns : some_columns) {
      const std::size_t padded_rows = (rows + 127) / 128 * 128, padded_columns = (columns + 3) / 4 * 4;
      Bytes seen(swizzled_scale_bytes(rows, columns), 0);
      REQUIRE(seen.size() == padded_rows * padded_columns);
      for (std::size_t row = 0; row < padded_rows; ++row)
        for (std::size_t column = 0; column < padded_columns; ++column)
          ++seen.at(swizzled_scale_offset(row, column, columns));
      INFO(rows, " x ", columns);
      CHECK(seen == Bytes(seen.size(), 1));
    }
}

TEST_CASE("scale layout: what was swizzled comes back, and the rest is the padding that was asked for") {
  for (const std::size_t rows : some_rows)
    for (const std::size_t columns : some_columns)
      for (const std::uint8_t padding : {std::uint8_t{0x00}, std::uint8_t{0x7f}}) {
        INFO(rows, " x ", columns, " padded with ", int{padding});
        const Bytes scales = random_bytes(rows * columns);
        Bytes swizzled = swizzle_scales(scales, rows, columns, padding);
        REQUIRE(swizzled.size() == swizzled_scale_bytes(rows, columns));
        CHECK(unswizzle_scales(swizzled, rows, columns) == scales);
        std::vector<bool> is_scale(swizzled.size(), false);
        for (std::size_t row = 0; row < rows; ++row)
          for (std::size_t column = 0; column < columns; ++column)
            is_scale[atom_offset(row, column, 1, columns)] = true;
        std::size_t others = 0;
        for (std::size_t i = 0; i < swizzled.size(); ++i)
          if (!is_scale[i]) {
            if (swizzled[i] != padding) ++others;
            swizzled[i] = 0xa5;  // padding that somebody else left is not looked at
          }
        CHECK(others == 0);
        CHECK(unswizzle_scales(swizzled, rows, columns) == scales);
      }
}

TEST_CASE("scale layout: a small matrix, byte by byte") {
  const Bytes swizzled = swizzle_scales(Bytes{1, 2, 3, 4, 5, 6}, 2, 3, 0xee);
  REQUIRE(swizzled.size() == 512);
  Bytes expected(512, 0xee);
  expected[0] = 1, expected[1] = 2, expected[2] = 3;
  expected[16] = 4, expected[17] = 5, expected[18] = 6;
  CHECK(swizzled == expected);
}

TEST_CASE("scale layout: wrong sizes are refused with the sizes in the message") {
  const std::string few = message_of([] { swizzle_scales(Bytes(11), 3, 4, 0); });
  CHECK(contains(few, "3 x 4 scales"));
  CHECK(contains(few, "given '11', allowed: 12"));
  CHECK(contains(message_of([] { swizzle_scales(Bytes(13), 3, 4, 0); }), "given '13'"));
  CHECK(contains(message_of([] { unswizzle_scales(Bytes(12), 3, 4); }), "given '12', allowed: 512"));
  CHECK(contains(message_of([] { unswizzle_scales(Bytes(1024), 128, 4); }), "given '1024', allowed: 512"));
  // 2^32 times 2^32 is 0 in 64 bits, and so is an empty matrix's size.
  const std::size_t huge = std::size_t{1} << 32;
  CHECK(contains(message_of([&] { swizzle_scales(Bytes{}, huge, huge, 0); }), "too large"));
  CHECK(contains(message_of([&] { unswizzle_scales(Bytes{}, huge, huge); }), "too large"));
}
