// Which elements share a scale: every shape against cutting the matrix by hand and quantizing each piece alone.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "emulation/quantize.h"
#include "formats/catalog.h"

namespace halfulp {
namespace {

constexpr SpecialValues saturating = special_values(OverflowPolicy::saturate);

Tensor nearest(const std::vector<double>& values, const std::vector<std::size_t>& shape,
               const BlockFormat& format, std::optional<float> tensor_scale = std::nullopt) {
  return quantize(values, shape, format, nearest_even, saturating, {}, tensor_scale);
}

/// Fractions spread over 12 binades, both signs, zeros of both signs among them.
std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
  std::vector<double> out;
  const RandomStream stream{seed, 2, 3, 0, RandomPurpose::data_order, 0};
  for (std::size_t i = 0; i < count; ++i) {
    const double x = std::ldexp(static_cast<double>(random_bits_32(stream, i)) - 0x1p31,
                                -31 - static_cast<int>(i * 7 % 12));
    out.push_back(i % 23 == 5 ? std::copysign(0.0, x) : x);
  }
  return out;
}

std::vector<double> transposed(const std::vector<double>& x, std::size_t rows, std::size_t columns) {
  std::vector<double> out(x.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = x[r * columns + c];
  return out;
}

std::size_t pieces(std::size_t extent, std::size_t piece) { return (extent + piece - 1) / piece; }

/// Rows and columns of a tile in a matrix.
struct Extents {
  std::size_t rows, columns;
};
Extents tile_extents(const BlockShape& shape, std::size_t rows, std::size_t columns) {
  return {shape.rows == 0 ? rows : shape.rows, shape.columns == 0 ? columns : shape.columns};
}

const std::vector<BlockShape> tile_shapes{
    {BlockAxis::tile, 32},     {BlockAxis::tile, 16}, {BlockAxis::tile, 1, 32}, {BlockAxis::tile, 16, 16},
    {BlockAxis::tile, 32, 32}, {BlockAxis::tile, 0},  {BlockAxis::tile, 1, 0},  {BlockAxis::tile, 0, 0},
    {BlockAxis::tile, 5, 3},   {BlockAxis::tile, 1},  {BlockAxis::tile, 128, 4}};

const std::vector<Extents> matrices{{1, 1}, {1, 50}, {50, 1}, {37, 21}, {16, 48}, {33, 65}, {3, 17}, {70, 3}};

/// Formats without a second scale, one for each kind of scale and element width.
const std::vector<BlockFormat> one_level{
    mx(e4m3, ScaleRule::ocp_floor),
    mx(e2m1, ScaleRule::rceil),
    mx(e2m3, ScaleRule::even),
    mx(int8, ScaleRule::ceil),
    mx(e3m2, ScaleRule::amax),
    scaled_by_fp32(e5m2, {BlockAxis::tensor, 0}),
    {e2m1, {BlockAxis::tile, 16}, ue4m3, ScaleRule::amax, TensorScale::none}};

}  // namespace

TEST_CASE("block shapes: which block an element lies in, and its runs, in every tile shape and matrix") {
  for (const BlockShape& shape : tile_shapes)
    for (const Extents& m : matrices) {
      INFO(shape.rows, "x", shape.columns, " of ", m.rows, "x", m.columns);
      const Tensor t(with_shape(one_level[0], shape), {m.rows, m.columns});
      const Extents tile = tile_extents(shape, m.rows, m.columns);
      const std::size_t across = pieces(m.columns, tile.columns), down = pieces(m.rows, tile.rows);
      CHECK(t.block_count() == across * down);
      std::vector<std::size_t> seen(t.size(), t.block_count());
      for (std::size_t block = 0; block < t.block_count(); ++block) {
        std::size_t last = 0;
        t.for_each_run(block, [&](std::size_t begin, std::size_t end) {
          REQUIRE(begin < end);
          REQUIRE(end <= t.size());
          CHECK(begin / m.columns == (end - 1) / m.columns);
          CHECK(begin >= last);
          CHECK(t.run_end(begin) == end);
          CHECK(t.run_end(end - 1) == end);
          for (std::size_t i = begin; i < end; ++i) {
            CHECK(seen[i] == t.block_count());
            seen[i] = block;
          }
          last = end;
        });
      }
      for (std::size_t i = 0; i < t.size(); ++i) {
        const std::size_t r = i / m.columns, c = i % m.columns;
        CHECK(seen[i] == r / tile.rows * across + c / tile.columns);
        CHECK(t.block_of(i) == seen[i]);
      }
    }
}

TEST_CASE("block shapes: every block, short ones at the edges too, is what it is when quantized alone") {
  for (const BlockFormat& format : one_level)
    for (const BlockShape& shape : tile_shapes)
      for (const Extents& m : matrices) {
        const BlockFormat f = with_shape(format, shape);
        const std::vector<double> values = numbers(m.rows * m.columns, 3);
        const Tensor whole = nearest(values, {m.rows, m.columns}, f);
        const Extents tile = tile_extents(shape, m.rows, m.columns);
        std::size_t block = 0;
        for (std::size_t top = 0; top < m.rows; top += tile.rows)
          for (std::size_t left = 0; left < m.columns; left += tile.columns, ++block) {
            const std::size_t bottom = std::min(top + tile.rows, m.rows),
                              right = std::min(left + tile.columns, m.columns);
            std::vector<double> part;
            for (std::size_t r = top; r < bottom; ++r)
              for (std::size_t c = left; c < right; ++c) part.push_back(values[r * m.columns + c]);
            const Tensor alone = nearest(part, {part.size()}, with_shape(f, {BlockAxis::tensor, 0}));
            INFO(shape.rows, "x", shape.columns, " of ", m.rows, "x", m.columns, " block ", block);
            CHECK(whole.scale_code(block) == alone.scale_code(0));
            std::size_t i = 0;
            for (std::size_t r = top; r < bottom; ++r)
              for (std::size_t c = left; c < right; ++c, ++i) {
                const std::size_t e = r * m.columns + c;
                if (whole.code(e) != alone.code(i)) CHECK(whole.code(e) == alone.code(i));
                if (whole.value(e) != alone.value(i)) CHECK(whole.value(e) == alone.value(i));
              }
          }
        CHECK(block == whole.block_count());
      }
}

TEST_CASE("block shapes: padding with zeros of either sign changes no scale and no code") {
  for (const BlockFormat& format : one_level)
    for (const BlockShape& shape :
         {BlockShape{BlockAxis::tile, 32}, {BlockAxis::tile, 16, 16}, {BlockAxis::tile, 1, 32}}) {
      const BlockFormat f = with_shape(format, shape);
      constexpr std::size_t rows = 37, columns = 47, padded_rows = 64, padded_columns = 64;
      const std::vector<double> values = numbers(rows * columns, 4);
      const Tensor ragged = nearest(values, {rows, columns}, f);
      for (const double filling : {0.0, -0.0}) {
        std::vector<double> filled(padded_rows * padded_columns, filling);
        for (std::size_t r = 0; r < rows; ++r)
          for (std::size_t c = 0; c < columns; ++c) filled[r * padded_columns + c] = values[r * columns + c];
        const Tensor padded = nearest(filled, {padded_rows, padded_columns}, f);
        for (std::size_t r = 0; r < rows; ++r)
          for (std::size_t c = 0; c < columns; ++c) {
            const std::size_t small = r * columns + c, large = r * padded_columns + c;
            CHECK(ragged.code(small) == padded.code(large));
            CHECK(ragged.scale_code(ragged.block_of(small)) == padded.scale_code(padded.block_of(large)));
          }
      }
    }
}

TEST_CASE("block shapes: column blocks are the row blocks of the transposed matrix") {
  struct {
    BlockShape columnwise, rowwise;
  } const pairs[] = {{{BlockAxis::tile, 1, 32}, {BlockAxis::tile, 32}},
                     {{BlockAxis::tile, 1, 16}, {BlockAxis::tile, 16}},
                     {{BlockAxis::tile, 1, 0}, {BlockAxis::tile, 0}},
                     {{BlockAxis::tile, 5, 3}, {BlockAxis::tile, 3, 5}},
                     {{BlockAxis::tile, 16, 16}, {BlockAxis::tile, 16, 16}},
                     {{BlockAxis::tile, 32, 32}, {BlockAxis::tile, 32, 32}}};
  std::vector<BlockFormat> formats = one_level;
  for (const NamedBlockFormat& named : all_block_formats)
    if (named.format.tensor_scale == TensorScale::tensor) formats.push_back(named.format);
  formats.push_back(with_conventions(nvfp4, {.four_over_six = FourOverSix::abs_max}));
  for (const BlockFormat& format : formats)
    for (const auto& pair : pairs)
      for (const Extents& m : matrices) {
        // A sum of errors depends on its order, which the transposed block does not share.
        if (format.conventions.four_over_six == FourOverSix::mse && m.rows > 1 && m.columns > 1) continue;
        const std::vector<double> values = numbers(m.rows * m.columns, 5);
        const Tensor q = nearest(values, {m.rows, m.columns}, with_shape(format, pair.columnwise));
        const Tensor qt = nearest(transposed(values, m.rows, m.columns), {m.columns, m.rows},
                                  with_shape(format, pair.rowwise));
        CHECK(q.tensor_scale(0) == qt.tensor_scale(0));
        CHECK(q.block_count() == qt.block_count());
        std::uint64_t different = 0;
        for (std::size_t r = 0; r < m.rows; ++r)
          for (std::size_t c = 0; c < m.columns; ++c) {
            const std::size_t i = r * m.columns + c, j = c * m.rows + r;
            different +=
                q.code(i) != qt.code(j) || q.scale_code(q.block_of(i)) != qt.scale_code(qt.block_of(j)) ? 1
                                                                                                        : 0;
          }
        INFO(m.rows, "x", m.columns, " tile ", pair.columnwise.rows, "x", pair.columnwise.columns);
        CHECK(different == 0);
      }
}

TEST_CASE("block shapes: no block straddles rows, so nothing in one row depends on another") {
  for (const BlockFormat& format : one_level)
    for (const std::size_t length : {16u, 32u, 0u, 7u}) {
      const BlockFormat f = with_shape(format, {BlockAxis::tile, length});
      const std::vector<double> values = numbers(3 * 47, 6);
      std::vector<double> changed = values;
      for (std::size_t c = 0; c < 47; ++c)
        changed[47 + c] = c % 5 == 0 ? std::nan("") : 1e30 * values[47 + c];
      const Tensor a = nearest(values, {3, 47}, f), b = nearest(changed, {3, 47}, f);
      for (const std::size_t row : {std::size_t{0}, std::size_t{2}})
        for (std::size_t i = row * 47; i < (row + 1) * 47; ++i) {
          CHECK(a.code(i) == b.code(i));
          CHECK(a.scale_code(a.block_of(i)) == b.scale_code(b.block_of(i)));
        }
    }
}

TEST_CASE("block shapes: leading axes are rows, and flattened and whole-tensor formats see no axes") {
  const std::vector<double> values = numbers(2 * 3 * 40, 7);
  for (const BlockFormat& format : one_level) {
    for (const BlockShape& shape : tile_shapes) {
      const BlockFormat f = with_shape(format, shape);
      const Tensor flat = nearest(values, {6, 40}, f), deep = nearest(values, {2, 3, 40}, f);
      CHECK(flat.code_bytes() == deep.code_bytes());
      CHECK(flat.scale_bytes() == deep.scale_bytes());
    }
    for (const BlockShape& shape :
         {BlockShape{BlockAxis::flattened, 32}, {BlockAxis::flattened, 7}, {BlockAxis::tensor, 0}}) {
      const BlockFormat f = with_shape(format, shape);
      const Tensor flat = nearest(values, {240}, f);
      for (const auto& other : {std::vector<std::size_t>{6, 40}, {2, 3, 40}, {240, 1}, {5, 48}}) {
        const Tensor t = nearest(values, other, f);
        CHECK(t.code_bytes() == flat.code_bytes());
        CHECK(t.scale_bytes() == flat.scale_bytes());
      }
      CHECK(flat.block_count() == (shape.axis == BlockAxis::tensor ? 1 : pieces(240, shape.columns)));
    }
  }
}

TEST_CASE("block shapes: with a scale per row every row is what it is when quantized alone") {
  for (const ScaleConventions& conventions : {ScaleConventions{},
                                              {.arithmetic = ScaleArithmetic::reciprocal},
                                              {.arithmetic = ScaleArithmetic::mixed, .floor = 0x1p-6},
                                              {.arithmetic = ScaleArithmetic::quotients},
                                              {.four_over_six = FourOverSix::mse, .largest = 256}})
    for (const std::size_t length : {16u, 0u, 5u})
      for (const Extents& m : matrices) {
        const BlockFormat f{e2m1,       {BlockAxis::tile, length}, ue4m3, ScaleRule::amax, TensorScale::row,
                            conventions};
        std::vector<double> values = numbers(m.rows * m.columns, 8);
        for (std::size_t c = 0; c < m.columns && m.rows > 2; ++c) values[m.columns + c] = 0;  // t = 1
        const Tensor whole = nearest(values, {m.rows, m.columns}, f);
        CHECK(whole.tensor_scale_count() == m.rows);
        const BlockFormat alone_format = with_tensor_scale(f, TensorScale::tensor);
        for (std::size_t row = 0; row < m.rows; ++row) {
          const std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(row * m.columns),
                                         values.begin() + static_cast<std::ptrdiff_t>((row + 1) * m.columns));
          const Tensor alone = nearest(part, {m.columns}, alone_format);
          CHECK(whole.tensor_scale(row) == alone.tensor_scale(0));
          for (std::size_t c = 0; c < m.columns; ++c) {
            const std::size_t i = row * m.columns + c;
            if (whole.value(i) != alone.value(c)) CHECK(whole.value(i) == alone.value(c));
            if (whole.code(i) != alone.code(c)) CHECK(whole.code(i) == alone.code(c));
          }
        }
      }
}

TEST_CASE("block shapes: NaN that a convention ignores does not hide that the others are flushed") {
  BlockFormat f = mx(e4m3, ScaleRule::ocp_floor);
  f.conventions = {.nan = NanInBlock::ignore,
                   .infinity = InfinityInBlock::ignore,
                   .subnormal_block = SubnormalBlock::flush};
  for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const Tensor t = nearest({0x1p-127, odd, -0x1p-130}, {3}, f);
    CHECK(t.scale_code(0) == 0);
    CHECK(t.code(0) == 0x00);
    CHECK(t.code(2) == 0x80);
    CHECK(std::isnan(t.value(1)) == std::isnan(odd));
  }
  const Tensor kept = nearest({0x1p-126, std::nan("")}, {2}, f);
  CHECK(kept.value(0) == 0x1p-126);
}

TEST_CASE("block shapes: a scale's random bits are those of its first element") {
  const RandomStream stream{11, 5, 2, 1, RandomPurpose::rounding, 0};
  for (const BlockShape& shape : {BlockShape{BlockAxis::tile, 16},
                                  {BlockAxis::tile, 16, 16},
                                  {BlockAxis::tile, 1, 32},
                                  {BlockAxis::flattened, 10},
                                  {BlockAxis::tensor, 0}}) {
    const BlockFormat f = with_shape(mx(e2m1, ScaleRule::stochastic_exponent), shape);
    const std::vector<double> values = numbers(40 * 37, 9);
    const Tensor t = quantize(values, {40, 37}, f, nearest_even, saturating, {stream, 0}, {});
    const Tensor again = quantize(values, {40, 37}, f, nearest_even, saturating, {stream, 0}, {});
    CHECK(t.code_bytes() == again.code_bytes());
    CHECK(t.scale_bytes() == again.scale_bytes());
    RandomStream scales = stream;
    scales.purpose = RandomPurpose::scale_rounding;
    std::size_t ups = 0;
    for (std::size_t block = 0; block < t.block_count(); ++block) {
      double largest = 0;
      std::size_t first = t.size();
      t.for_each_run(block, [&](std::size_t begin, std::size_t end) {
        first = std::min(first, begin);
        for (std::size_t i = begin; i < end; ++i) largest = std::fmax(largest, std::fabs(values[i]));
      });
      const std::uint32_t expected =
          choose_scale(f, largest, 1.0f, random_bits(scales, first, scale_random_bits));
      CHECK(t.scale_code(block) == expected);
      ups += expected != choose_scale(f, largest, 1.0f, 0) ? 1 : 0;
    }
    if (t.block_count() > 20) {
      CHECK(ups > t.block_count() / 5);
      CHECK(ups < t.block_count() * 4 / 5);
    }
  }
}

}  // namespace halfulp
