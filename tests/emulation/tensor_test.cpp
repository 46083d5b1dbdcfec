#include "emulation/tensor.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "formats/catalog.h"
#include "formats/error.h"

namespace halfulp {
namespace {

const std::vector<std::vector<std::size_t>> shapes{{1},      {5},        {16},      {17},     {3, 10},
                                                   {2, 785}, {2, 3, 48}, {4, 1, 1}, {1, 256}, {257}};

std::size_t product(const std::vector<std::size_t>& shape) {
  std::size_t size = 1;
  for (const std::size_t extent : shape) size *= extent;
  return size;
}

TEST_CASE("tensor: the runs of all blocks cover every element once, and block_of and run_end invert them") {
  std::vector<BlockFormat> formats;
  for (const NamedBlockFormat& known : all_block_formats) formats.push_back(known.format);
  for (const BlockShape shape : {BlockShape{BlockAxis::tile, 16, 16}, BlockShape{BlockAxis::tile, 1, 32},
                                 BlockShape{BlockAxis::tile, 3, 2}, BlockShape{BlockAxis::tile, 0, 1},
                                 BlockShape{BlockAxis::tile, 1, 0}, BlockShape{BlockAxis::tile, 0, 0}})
    formats.push_back(with_shape(mx(e4m3, ScaleRule::rceil), shape));
  for (const BlockFormat& format : formats)
    for (const auto& shape : shapes) {
      if (format.tensor_scale == TensorScale::row && format.shape.rows != 1) continue;
      const Tensor t(format, shape);
      CHECK(t.size() == product(shape));
      std::vector<int> covered(t.size());
      std::size_t previous_first = 0;
      for (std::size_t block = 0; block < t.block_count(); ++block) {
        std::size_t runs = 0, first = 0;
        t.for_each_run(block, [&](std::size_t begin, std::size_t end) {
          if (runs++ == 0) first = begin;
          CHECK(begin < end);
          const bool tile = format.shape.axis == BlockAxis::tile;
          if (tile) CHECK(begin / shape.back() == (end - 1) / shape.back());  // in one row
          if (tile && format.shape.columns != 0) CHECK(end - begin <= format.shape.columns);
          for (std::size_t i = begin; i < end; ++i) {
            ++covered[i];
            REQUIRE(t.block_of(i) == block);
            REQUIRE(t.run_end(i) == end);
          }
        });
        if (format.shape.axis == BlockAxis::tile && format.shape.rows != 0) CHECK(runs <= format.shape.rows);
        CHECK((block == 0 || first > previous_first));
        previous_first = first;
      }
      CHECK(std::count(covered.begin(), covered.end(), 1) == static_cast<std::ptrdiff_t>(t.size()));
    }
}

TEST_CASE("tensor: scales per row above blocks that span rows are refused") {
  const BlockFormat rows = with_tensor_scale(with_shape(nvfp4, {BlockAxis::tile, 16, 16}), TensorScale::row);
  CHECK_THROWS_AS(Tensor(rows, {32, 32}), Error);
  const Tensor fine(with_tensor_scale(nvfp4, TensorScale::row), {4, 40});
  CHECK(fine.tensor_scale_count() == 4);
  CHECK(fine.tensor_scale_index(41) == 1);
  CHECK(fine.stored_bytes() == 80 + 12 + 16);
}

TEST_CASE("tensor: numbers of blocks by hand") {
  const auto blocks = [](const BlockFormat& f, std::vector<std::size_t> shape) {
    return Tensor(f, std::move(shape)).block_count();
  };
  const BlockFormat mx32 = mx(e2m1, ScaleRule::rceil);
  CHECK(blocks(mx32, {32}) == 1);
  CHECK(blocks(mx32, {33}) == 2);
  CHECK(blocks(mx32, {3, 10}) == 3);  // each row restarts
  CHECK(blocks(mx32, {2, 785}) == 2 * 25);
  const BlockFormat flat{e4m3, {BlockAxis::flattened, 256}, fp32, ScaleRule::amax, TensorScale::none};
  CHECK(blocks(flat, {2, 785}) == 7);  // 1570 / 256, through the rows
  CHECK(blocks(flat, {256}) == 1);
  const BlockFormat whole{e4m3, {BlockAxis::tensor, 0}, fp32, ScaleRule::amax, TensorScale::none};
  CHECK(blocks(whole, {2, 785}) == 1);
  CHECK(blocks(unscaled(bf16), {7}) == 7);
}

TEST_CASE("tensor: codes and scales are stored apart from their neighbours") {
  for (const NamedBlockFormat& known : all_block_formats) {
    CAPTURE(known.name);
    Tensor t(known.format, {3, 50});
    const auto codes = static_cast<std::uint32_t>(known.format.element.code_count());
    for (std::size_t i = 0; i < t.size(); ++i) t.set_code(i, static_cast<std::uint32_t>(i * 7 + 3) % codes);
    for (std::size_t b = 0; b < t.block_count(); ++b)
      t.set_scale_code(b, static_cast<std::uint32_t>(b * 5 + 1) % 127);
    for (std::size_t i = 0; i < t.size(); ++i)
      CHECK(t.code(i) == static_cast<std::uint32_t>(i * 7 + 3) % codes);
    for (std::size_t b = 0; b < t.block_count(); ++b)
      CHECK(t.scale_code(b) == static_cast<std::uint32_t>(b * 5 + 1) % 127);
  }
}

TEST_CASE("tensor: a value is element times scale times tensor scale, rounded to fp32") {
  Tensor t(BlockFormat{e2m1, {BlockAxis::tile, 16}, ue4m3, ScaleRule::amax, TensorScale::tensor}, {2, 20});
  t.set_code(17, 0x7);        // 6, in the short second block of row 0
  t.set_scale_code(1, 0x39);  // 1.125
  t.set_tensor_scale(0, 0.1f);
  CHECK(t.block_of(17) == 1);
  CHECK(t.multiplier(1) == 1.125 * static_cast<double>(0.1f));
  CHECK(t.value(17) == static_cast<float>(6.75 * static_cast<double>(0.1f)));
  CHECK(t.value(16) == 0);
  Tensor plain(unscaled(e4m3), {3});
  plain.set_code(2, 0x7e);
  CHECK(plain.value(2) == 448);
  CHECK(plain.multiplier(2) == 1);
  CHECK(plain.scale_code(0) == 0);
}

TEST_CASE("tensor: stored bytes by hand") {
  CHECK(Tensor(unscaled(bf16), {10}).stored_bytes() == 20);
  CHECK(Tensor(unscaled(e2m1), {5}).stored_bytes() == 3);
  CHECK(Tensor(unscaled(e3m2), {5}).stored_bytes() == 4);  // 30 bits
  CHECK(Tensor(mx(e3m2, ScaleRule::rceil), {2, 40}).stored_bytes() == 60 + 4);
  CHECK(Tensor(BlockFormat{e2m1, {BlockAxis::tile, 16}, ue4m3, ScaleRule::amax, TensorScale::tensor}, {2, 20})
            .stored_bytes() == 20 + 4 + 4);
}

TEST_CASE("tensor: a shape without elements is an error") {
  CHECK_THROWS_AS(Tensor(unscaled(bf16), {}), Error);
  CHECK_THROWS_AS(Tensor(unscaled(bf16), {0}), Error);
  CHECK_THROWS_AS(Tensor(unscaled(bf16), {3, 0, 2}), Error);
}

TEST_CASE("tensor: a shape whose size overflows is an error, not a small tensor") {
  // 2^33 * 2^33 wraps to 0, and (2^63 + 1) * 2 to 2.
  const std::size_t large = std::size_t{1} << 33;
  CHECK_THROWS_AS(Tensor(unscaled(e2m1), {large, large}), Error);
  CHECK_THROWS_AS(Tensor(unscaled(e2m1), {(std::size_t{1} << 63) + 1, 2}), Error);
}

}  // namespace
}  // namespace halfulp
