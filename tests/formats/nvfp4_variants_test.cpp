// The variants of NVFP4 against plain-float references and brute force. Random numbers hardly ever show a difference
// between formulations, so the inputs lie within three fp32 steps of the places where scales and elements change.
#include <doctest/doctest.h>

#include "emulation/reduce.h"
#include "formats/block.h"
#include "formats/catalog.h"
#include "formats/preset.h"
#include "tests/formats/nvfp4_reference.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

BlockFormat with(const ScaleConventions& conventions) { return with_conventions(nvfp4, conventions); }

const BlockFormat transformer_engine = under_preset(nvfp4, parse_preset("transformer_engine")),
                  torchao = under_preset(nvfp4, parse_preset("torchao")),
                  modelopt = with({.zero_block = ZeroBlock::one, .arithmetic = ScaleArithmetic::quotients});

CodedNvfp4 coded(const BlockFormat& f, const std::vector<float>& x, float a) {
  const TensorMultiplier t = choose_tensor_scale(f, a);
  CodedNvfp4 out;
  for (std::size_t begin = 0; begin < x.size(); begin += 16) {
    const auto block = std::span(x).subspan(begin, std::min<std::size_t>(16, x.size() - begin));
    out.scales.push_back(choose_block_scale(f, block, amax(block), t, 0));
    const BlockDivisor divisor = block_divisor(f, out.scales.back(), t);
    for (const float number : block)
      out.codes.push_back(
          convert_in_block(number, f, divisor, nearest_even, special_values(OverflowPolicy::saturate), 0));
  }
  return out;
}

float steps_from(float x, int steps) {
  for (; steps > 0; --steps) x = std::nextafter(x, largest_float);
  for (; steps < 0; ++steps) x = std::nextafter(x, -largest_float);
  return x;
}

/// A tensor whose first number is its amax `a`: blocks whose amax lies around the middle of two scales, and in them
/// numbers around the middles of elements.
std::vector<float> tensor_at_ties(float a, std::uint32_t seed) {
  std::vector<float> x(16, 0.0f);
  x[0] = a;
  const double t = double{a} / 2688;
  for (std::uint32_t k = 0; k < 40; ++k) {
    const std::uint32_t code = (seed * 40503u + k * 2654435761u) % 0x7d;
    const double low = e4m3_magnitudes[code], high = e4m3_magnitudes[code + 1];
    const auto tie = static_cast<float>((low + high) / 2 * 6 * t);
    const float b = std::fmin(
        k % 8 == 7 ? static_cast<float>(high * 6 * t) : steps_from(tie, static_cast<int>(k % 7) - 3), a);
    x.push_back(b);
    // Which of the two scales it becomes is the question: half of the elements for each.
    for (std::uint32_t i = 1; i < 16; ++i) {
      const double middle = (e2m1_magnitudes[i % 7] + e2m1_magnitudes[i % 7 + 1]) / 2.0;
      const auto place = static_cast<float>(middle * (i % 2 == 0 ? low : high) * t);
      const float near = steps_from(place, static_cast<int>((i + k) % 7) - 3);
      x.push_back(std::fmin(near, b) * (i % 3 == 0 ? -1.0f : 1.0f));
    }
  }
  return x;
}

/// Amax over six binades with awkward fractions, bf16 numbers among them.
std::vector<float> amaxes() {
  std::vector<float> all;
  for (int k = -40; k <= 40; k += 8)
    for (const std::uint32_t fraction :
         {0u, 0x280000u, 0x550000u, 0x7fffffu, 0x123457u, 0x2aaaabu, 0x6edcbau})
      all.push_back(std::ldexp(1 + static_cast<float>(fraction) * 0x1p-23f, k));
  return all;
}

struct Differences {
  int scales = 0, codes = 0;
};

Differences count(const CodedNvfp4& a, const CodedNvfp4& b) {
  Differences d;
  for (std::size_t i = 0; i < a.scales.size(); ++i) d.scales += a.scales[i] != b.scales[i] ? 1 : 0;
  for (std::size_t i = 0; i < a.codes.size(); ++i)
    d.codes += a.scales[i / 16] == b.scales[i / 16] && a.codes[i] != b.codes[i] ? 1 : 0;
  return d;
}

}  // namespace

TEST_CASE("nvfp4 variants: bit for bit what Transformer Engine, ModelOpt and torchao compute, at the ties") {
  Differences engine, quotients, mixed, between;
  std::uint32_t seed = 0;
  for (const float a : amaxes()) {
    const std::vector<float> x = tensor_at_ties(a, ++seed);
    const CodedNvfp4 exact = coded(nvfp4, x, a);
    const auto compare = [&](const BlockFormat& f, const CodedNvfp4& expected, Differences& from_exact) {
      INFO("amax ", a);
      const CodedNvfp4 got = coded(f, x, a);
      CHECK(got == expected);
      const Differences d = count(got, exact);
      from_exact.scales += d.scales, from_exact.codes += d.codes;
      return got;
    };
    const auto te = compare(transformer_engine, transformer_engine_nvfp4(x, a), engine);
    compare(modelopt, modelopt_nvfp4(x, a), quotients);
    const auto ao = compare(torchao, torchao_nvfp4(x, a), mixed);
    const Differences d = count(te, ao);
    between.scales += d.scales, between.codes += d.codes;
  }
  MESSAGE("differences from exact (scales, elements): Transformer Engine ", engine.scales, " ", engine.codes,
          ", ModelOpt ", quotients.scales, " ", quotients.codes, ", torchao ", mixed.scales, " ",
          mixed.codes);
  for (const Differences& d : {engine, quotients, mixed, between}) {
    CHECK(d.scales > 0);
    CHECK(d.codes > 0);
  }
}

TEST_CASE("nvfp4 variants: at the ends of fp32, where reciprocals overflow or vanish") {
  std::vector<float> largest(32, 0.0f), tiny(32, 0.0f);
  for (std::size_t i = 0; i < 32; ++i) {
    largest[i] = largest_float * std::ldexp(1.0f, -static_cast<int>(i)) * (i % 2 == 0 ? 1.0f : -1.0f);
    tiny[i] = 0x1p-100f * std::ldexp(1.5f, -static_cast<int>(i));
  }
  CHECK(coded(transformer_engine, largest, largest_float) ==
        transformer_engine_nvfp4(largest, largest_float));
  CHECK(coded(modelopt, largest, largest_float) == modelopt_nvfp4(largest, largest_float));
  CHECK(coded(torchao, largest, largest_float) == torchao_nvfp4(largest, largest_float));
  CHECK(coded(transformer_engine, tiny, tiny[0]) == transformer_engine_nvfp4(tiny, tiny[0]));
  CHECK(coded(modelopt, tiny, tiny[0]) == modelopt_nvfp4(tiny, tiny[0]));
  CHECK(coded(torchao, tiny, tiny[0]) == torchao_nvfp4(tiny, tiny[0]));
  // 2688 / A beyond the largest float is that float.
  std::vector<float> subnormal(16, 0x1p-149f);
  subnormal[0] = 0x1p-140f;
  CHECK(coded(transformer_engine, subnormal, subnormal[0]) ==
        transformer_engine_nvfp4(subnormal, subnormal[0]));
  const std::vector<float> zeros(32, 0.0f);
  CHECK(coded(transformer_engine, zeros, 0) == transformer_engine_nvfp4(zeros, 0));
  CHECK(coded(transformer_engine, zeros, 0).scales == std::vector<std::uint32_t>{0, 0});
}

TEST_CASE("nvfp4 variants: a block of zeros beside another") {
  std::vector<float> x(32, 0.0f);
  x[0] = 0.75f, x[20] = -0.0f;
  const CodedNvfp4 te = coded(transformer_engine, x, 0.75f), mo = coded(modelopt, x, 0.75f),
                   ao = coded(torchao, x, 0.75f);
  CHECK(te == transformer_engine_nvfp4(x, 0.75f));
  CHECK(mo == modelopt_nvfp4(x, 0.75f));
  CHECK(ao == torchao_nvfp4(x, 0.75f));
  CHECK(te.scales[1] == 0x00);
  CHECK(mo.scales[1] == 0x38);
  CHECK(ao.scales[1] == 0x08);
  for (const CodedNvfp4& coding : {te, mo, ao}) CHECK(coding.codes[20] == 0x8);
}
