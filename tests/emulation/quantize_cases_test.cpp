// What people met in other libraries when they quantised whole tensors.
#include <doctest/doctest.h>

#include <cmath>

#include "emulation/axis_order.h"
#include "emulation/fp_environment.h"
#include "emulation/quantize.h"
#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

constexpr SpecialValues saturate = special_values(OverflowPolicy::saturate);

Tensor nearest(const std::vector<double>& values, const std::vector<std::size_t>& shape, const char* format) {
  return quantize(values, shape, parse_format(format), nearest_even, saturate, {}, std::nullopt);
}

std::vector<double> numbers(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = std::ldexp(1.0 + static_cast<double>(i * 37 % 64) / 64, static_cast<int>(i % 9) - 4);
  return values;
}

// Padding to whole blocks or bytes once came back as elements.
TEST_CASE("quantize cases: a tensor keeps its size, whatever the blocks and bytes are padded to") {
  struct {
    std::size_t size, mx_scales, nv_scales, bytes;
  } const rows[] = {{33, 2, 3, 17}, {1, 1, 1, 1},   {16, 1, 1, 8}, {17, 1, 2, 9},
                    {31, 1, 2, 16}, {32, 1, 2, 16}, {48, 2, 3, 24}};
  for (const auto& row : rows) {
    CAPTURE(row.size);
    const Tensor mx = nearest(numbers(row.size), {row.size}, "mxfp4"),
                 nv = nearest(numbers(row.size), {row.size}, "nvfp4");
    CHECK(mx.block_count() == row.mx_scales);
    CHECK(nv.block_count() == row.nv_scales);
    for (const Tensor* tensor : {&mx, &nv}) {
      CHECK(tensor->code_bytes().size() == row.bytes);
      CHECK(dequantize(*tensor).size() == row.size);
      if (row.size % 2 == 1) CHECK((tensor->code_bytes().back() & 0xf0) == 0);  // the unused nibble
    }
  }
  CHECK_THROWS_AS(nearest({}, {0}, "mxfp4"), Error);
}

// Strided views were once read as if they were contiguous. Here a view is an order of elements.
TEST_CASE("quantize cases: blocks along another axis are those of the reordered copy") {
  const std::vector<double> values = numbers(3 * 4 * 48);
  const AxisOrder order = axis_last({3, 4, 48}, 1);
  std::vector<double> copy;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t c = 0; c < 48; ++c)
      for (std::size_t b = 0; b < 4; ++b) copy.push_back(values[(a * 4 + b) * 48 + c]);
  const Tensor along = nearest(reordered<double>(order, values), order.shape, "mxfp6_e2m3");
  const Tensor contiguous = nearest(copy, {3, 48, 4}, "mxfp6_e2m3");
  CHECK(along.code_bytes() == contiguous.code_bytes());
  CHECK(along.scale_bytes() == contiguous.scale_bytes());
  CHECK(along.shape() == contiguous.shape());
}

// NaN has no code in FP4 and FP6: it must not become a number.
TEST_CASE("quantize cases: a NaN turns its block into NaN through the scale") {
  for (const auto& [format, scale] :
       {std::pair("mxfp4", 0xffu), std::pair("mxfp6_e3m2", 0xffu), std::pair("mxfp6_e2m3", 0xffu)}) {
    std::vector<double> values = numbers(64);
    values[40] = std::nan("");
    const Tensor tensor = nearest(values, {64}, format);
    CHECK(tensor.scale_code(0) != scale);
    CHECK(tensor.scale_code(1) == scale);
    const std::vector<double> back = dequantize(tensor);
    for (std::size_t i = 0; i < 64; ++i) CHECK(std::isnan(back[i]) == (i >= 32));
  }
  std::vector<double> values = numbers(32);
  values[20] = std::nan("");
  const Tensor tensor = quantize(values, {32}, nvfp4, nearest_even, saturate, {}, 1.0f);
  CHECK(tensor.scale_code(1) == 0x7f);
  CHECK(std::isnan(dequantize(tensor)[31]));
}

#if defined(__SSE2__)
// The E8M0 scale 00 is 2^-127, a subnormal float, and the caller may flush those.
TEST_CASE("quantize cases: the smallest scales survive a caller that flushes subnormals") {
  const std::vector<double> values{0x1p-127, -0x1p-126, 0x1.8p-128};
  const Tensor expected = nearest(values, {3}, "mxfp8_e4m3");
  const unsigned original = _mm_getcsr();
  _mm_setcsr(original | 0x8040);  // flush to zero, denormals are zero
  const Tensor tensor = nearest(values, {3}, "mxfp8_e4m3");
  const std::vector<double> back = dequantize(tensor);
  _mm_setcsr(original);
  CHECK(tensor.scale_code(0) == 0x00);
  CHECK(tensor.code_bytes() == expected.code_bytes());
  CHECK(tensor.code(0) == 0x38);
  CHECK(back == values);
}
#endif

}  // namespace
}  // namespace halfulp
