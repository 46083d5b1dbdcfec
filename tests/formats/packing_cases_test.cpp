// What went wrong with packed codes and scale layouts elsewhere, each with its right answer.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <ranges>

#include "formats/catalog.h"
#include "formats/code_packing.h"
#include "formats/encode.h"
#include "formats/scale_layout.h"

using namespace halfulp;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Codes = std::vector<std::uint32_t>;

Codes codes_of(const ScalarFormat& f, const std::vector<double>& values) {
  Codes codes;
  for (const double x : values)
    codes.push_back(convert(x, f, nearest_even, special_values(OverflowPolicy::saturate), 0));
  return codes;
}

template <class Call>
bool refuses(Call call) {
  try {
    call();
  } catch (const Error&) {
    return true;
  }
  return false;
}

template <class Range>
concept Packable = requires(const Range& range) {
  pack_codes(e2m1, CodePacking::dense, range);
};

}  // namespace

TEST_CASE("packing cases: nibble order, seen with codes that differ") {
  // 0.5 and -6 share a byte: with equal neighbours either order would pass.
  // pytorch/ao#3123, triton-lang/triton#5197, Comfy-Org/comfy-kitchen#41
  const Codes codes = codes_of(e2m1, {0.5, -6, 6, -0.0});
  CHECK(codes == Codes{0x1, 0xf, 0x7, 0x8});
  const Bytes low = pack_codes(e2m1, CodePacking::dense, codes);
  const Bytes high = pack_codes(e2m1, CodePacking::high_nibble_first, codes);
  CHECK(low == Bytes{0xf1, 0x87});
  CHECK(high == Bytes{0x1f, 0x78});
  CHECK(unpack_codes(e2m1, CodePacking::dense, low, 4) == codes);
  CHECK(unpack_codes(e2m1, CodePacking::high_nibble_first, high, 4) == codes);
  CHECK(unpack_codes(e2m1, CodePacking::high_nibble_first, low, 4) == Codes{0xf, 0x1, 0x8, 0x7});
}

TEST_CASE("packing cases: FP6 as a bit stream with a ragged tail, and as one code in a byte") {
  // Code i is bits 6i to 6i + 5 of the stream, so five codes end inside the fourth byte and nothing lies
  // beyond.
  // dmlc/dlpack#158, onnx/onnx#8349
  const Codes codes{0x01, 0x3f, 0x20, 0x15, 0x2a};
  for (const ScalarFormat& f : {e3m2, e2m3}) {
    const Bytes stream = pack_codes(f, CodePacking::dense, codes);
    CHECK(stream == Bytes{0xc1, 0x0f, 0x56, 0x2a});
    CHECK(unpack_codes(f, CodePacking::dense, stream, 5) == codes);
    const Bytes shifted = pack_codes(f, CodePacking::byte_per_code_high, codes);
    CHECK(shifted == Bytes{0x04, 0xfc, 0x80, 0x54, 0xa8});
    CHECK(unpack_codes(f, CodePacking::byte_per_code_high, shifted, 5) == codes);
    constexpr std::size_t expected[] = {0, 1, 2, 3, 3, 4};
    for (std::size_t n = 0; n < 6; ++n) {
      CHECK(packed_bytes(f, n) == expected[n]);
      const std::span<const std::uint32_t> first(codes.data(), n);
      const Bytes bytes = pack_codes(f, CodePacking::dense, first);
      CHECK(bytes.size() == expected[n]);
      CHECK(unpack_codes(f, CodePacking::dense, bytes, n) == Codes(first.begin(), first.end()));
    }
    CHECK(refuses([&] { unpack_codes(f, CodePacking::dense, Bytes{0xc1, 0x0f, 0x56}, 5); }));
  }
}

TEST_CASE("packing cases: the number of elements is not the number that padding makes of it") {
  // ceil(33 / 2) bytes hold 33 codes, the last nibble zero; padded to blocks of 32 or 16 the same codes take
  // more.
  struct {
    std::size_t count, bytes, padded_to_32, padded_to_16;
  } const rows[] = {{0, 0, 0, 0},     {1, 1, 16, 8},    {16, 8, 16, 8},   {17, 9, 16, 16},
                    {31, 16, 16, 16}, {32, 16, 16, 16}, {33, 17, 32, 24}, {48, 24, 32, 24}};
  for (const auto& row : rows) {
    INFO(row.count, " elements");
    Codes codes(row.count);
    for (std::size_t i = 0; i < row.count; ++i) codes[i] = static_cast<std::uint32_t>(i * 7 % 15 + 1);
    Bytes bytes = pack_codes(e2m1, CodePacking::dense, codes);
    CHECK(bytes.size() == row.bytes);
    if (row.count % 2 == 1) CHECK((bytes.back() & 0xf0) == 0);
    CHECK(unpack_codes(e2m1, CodePacking::dense, bytes, row.count) == codes);
    // The padded image belongs to the padded number of elements, and says so when it is read as the shorter
    // one.
    for (const std::size_t padded : {row.padded_to_32, row.padded_to_16}) {
      Codes with_padding = codes;
      with_padding.resize(2 * padded);
      bytes = pack_codes(e2m1, CodePacking::dense, with_padding);
      CHECK(bytes.size() == padded);
      CHECK(unpack_codes(e2m1, CodePacking::dense, bytes, 2 * padded) == with_padding);
      if (padded != row.bytes)
        CHECK(refuses([&] { unpack_codes(e2m1, CodePacking::dense, bytes, row.count); }));
    }
  }
}

TEST_CASE("packing cases: strided views pack as the copy of their elements, or not at all") {
  // Position i of the packed bytes is logical element i: strides, of whatever sign, must be gone by then.
  Codes base(3 * 4 * 6);
  for (std::size_t i = 0; i < base.size(); ++i) base[i] = static_cast<std::uint32_t>(i * 5 % 16);
  struct {
    std::size_t shape[3];
    std::ptrdiff_t stride[3], first;
  } const views[] = {
      {{3, 2, 6}, {24, 12, 1}, 0},    // [:, ::2, :]
      {{1, 6, 12}, {0, 1, 6}, 0},     // a 12 x 6 matrix transposed
      {{3, 2, 6}, {24, 6, 1}, 6},     // rows 1 and 2 along axis 1
      {{3, 5, 6}, {24, 0, 1}, 12},    // broadcast, stride 0
      {{3, 4, 6}, {-24, 6, -1}, 53},  // backwards in two axes
  };
  for (const auto& view : views) {
    Codes copy;
    for (std::size_t i = 0; i < view.shape[0]; ++i)
      for (std::size_t j = 0; j < view.shape[1]; ++j)
        for (std::size_t k = 0; k < view.shape[2]; ++k)
          copy.push_back(
              base.at(static_cast<std::size_t>(view.first + static_cast<std::ptrdiff_t>(i) * view.stride[0] +
                                               static_cast<std::ptrdiff_t>(j) * view.stride[1] +
                                               static_cast<std::ptrdiff_t>(k) * view.stride[2])));
    for (const CodePacking packing : {CodePacking::dense, CodePacking::high_nibble_first}) {
      const Bytes bytes = pack_codes(e2m1, packing, copy);
      CHECK(unpack_codes(e2m1, packing, bytes, copy.size()) == copy);
      CHECK(bytes != pack_codes(e2m1, packing, std::span(base.data(), copy.size() < 72 ? copy.size() : 72)));
    }
  }
  // A view whose elements are not neighbours does not compile.
  static_assert(Packable<Codes> && Packable<std::span<std::uint32_t>>);
  static_assert(!Packable<std::ranges::reverse_view<std::views::all_t<Codes&>>>);
  static_assert(!Packable<std::uint32_t*>);
}

TEST_CASE("packing cases: fraction bits of fp32 scales stay out of packed exponent bytes") {
  // 0x3be48e8a has the exponent field 0x77 and a fraction: shifted together unmasked, four of them are
  // 0x77ffffff.
  constexpr std::uint32_t bits = 0x3be48e8a;
  const double scale = std::bit_cast<float>(bits);
  const SpecialValues special = special_values(OverflowPolicy::saturate);
  const std::uint32_t below = convert(scale, e8m0, {RoundingMode::toward_zero, 0}, special, 0);
  const std::uint32_t above = convert(scale, e8m0, {RoundingMode::up, 0}, special, 0);
  CHECK(pack_codes(e8m0, CodePacking::dense, Codes(4, below)) == Bytes(4, 0x77));
  CHECK(pack_codes(e8m0, CodePacking::dense, Codes(4, above)) == Bytes(4, 0x78));
  CHECK((decode(e8m0, below) < scale &&
         scale < decode(e8m0, above)));  // no power of two: exact storage is not possible
  CHECK((bits >> 23 | bits >> 15 | bits >> 7 | bits << 1) != 0x77777777);
  CHECK(refuses([] {
    pack_codes(e8m0, CodePacking::dense, Codes{bits >> 23, bits >> 15, bits >> 7, bits << 1});
  }));
}

TEST_CASE("packing cases: offsets in the 128 x 4 layout need the padded shape") {
  // 130 x 5 scales fill tiles of 256 x 8: without the padding, tile 1 begins where the last rows already are.
  // pytorch/pytorch#152665, ROCm/rocm-libraries#12232
  CHECK(swizzled_scale_bytes(130, 5) == 2048);
  struct {
    std::size_t row, column, offset;
  } const rows[] = {{0, 0, 0},     {1, 0, 16},  {32, 0, 4},    {33, 1, 21},
                    {127, 3, 511}, {0, 4, 512}, {129, 4, 1552}};
  for (const auto& row : rows) CHECK(swizzled_scale_offset(row.row, row.column, 5) == row.offset);
  // What pads is asked for, neither left as it was nor taken for granted: iree-org/iree#22104,
  // triton-lang/triton#10190
  const Bytes scales(130 * 5, 0x80);
  for (const std::uint8_t padding : {std::uint8_t{0x00}, std::uint8_t{0x7f}}) {
    const Bytes swizzled = swizzle_scales(scales, 130, 5, padding);
    CHECK(swizzled.size() == 2048);
    CHECK(std::ranges::count(swizzled, std::uint8_t{0x80}) == 650);
    CHECK(std::ranges::count(swizzled, padding) == 2048 - 650);
  }
}
