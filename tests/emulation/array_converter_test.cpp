// Whole arrays on lanes against quantize() and dequantize(), which go a number at a time: the same codes, scales, values.
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "emulation/array_converter.h"
#include "emulation/parallel.h"
#include "emulation/quantize.h"
#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/spec.h"

#if defined(__SSE2__)
#  include <xmmintrin.h>
#endif

using namespace halfulp;

namespace {

std::uint32_t bits_or_nan(float x) { return x != x ? (sign_bit_of(x) | 0x7fc00000u) : bits_of(x); }

/// Blocks of every kind: normal numbers of many magnitudes, ties, zeros of both signs, subnormals, huge ones, specials.
std::vector<float> blocks_of(std::size_t n, std::size_t block, unsigned seed) {
  std::mt19937 draw(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(n);
  for (std::size_t begin = 0; begin < n; begin += block) {
    const unsigned kind = draw() % 24;
    const int e = kind < 12 ? 0 : static_cast<int>(draw() % 200) - 100;
    for (std::size_t i = begin; i < std::min(begin + block, n); ++i) {
      x[i] = std::ldexp(normal(draw), e);
      if (kind == 1) x[i] = draw() % 2 ? 0.0f : -0.0f;
      if (kind == 2) x[i] = static_cast<float>(draw() % 64) / 8;  // many ties
      if (kind == 3) x[i] *= 0x1p-140f;
      if (kind == 4) x[i] *= 0x1p126f;
      if (kind == 5 && i % 7 == 3) x[i] = NAN;
      if (kind == 6 && i % 11 == 5) x[i] = -INFINITY;
      if (kind == 7) x[i] = real_of(static_cast<std::uint32_t>(draw()));
      if (kind == 8) x[i] = i == begin ? 1.0f : 0x1p-149f;
    }
  }
  return x;
}

/// Normal numbers alone, the blocks up to 2^spread apart: what nearly all real blocks are, and gone through otherwise.
std::vector<float> usual_blocks_of(std::size_t n, std::size_t block, int spread, unsigned seed) {
  std::mt19937 draw(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(n);
  for (std::size_t begin = 0; begin < n; begin += block) {
    const int e = static_cast<int>(draw() % static_cast<unsigned>(2 * spread + 1)) - spread;
    for (std::size_t i = begin; i < std::min(begin + block, n); ++i) x[i] = std::ldexp(normal(draw), e);
  }
  return x;
}

constexpr RandomStream stream{5, 6, 7, 1, RandomPurpose::rounding, 0};

/// What quantize() makes of x as one row.
struct Expected {
  std::vector<std::uint32_t> codes, scales;
  std::vector<float> values;
};

Expected expected_of(const BlockFormat& f, Rounding rounding, const std::vector<float>& x, TensorMultiplier t,
                     OverflowPolicy policy = OverflowPolicy::saturate) {
  const std::vector<double> wide(x.begin(), x.end());
  const Tensor tensor = quantize(wide, {1, x.size()}, f, rounding, special_values(policy), {stream, 0},
                                 f.has_tensor_scale() ? std::optional<float>(t.decode) : std::nullopt);
  Expected expected;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t block = tensor.block_of(i);
    const std::uint32_t scale = f.has_scale() ? tensor.scale_code(block) : 0;
    expected.codes.push_back(tensor.code(i));
    expected.scales.resize(block + 1, scale);
    expected.values.push_back(static_cast<float>(decode_in_block(f, tensor.code(i), scale, t)));
  }
  return expected;
}

std::size_t differences(const Expected& expected, const BlockFormat& f, Rounding rounding,
                        const std::vector<float>& x, TensorMultiplier t, const LaneKernels& kernels,
                        OverflowPolicy policy = OverflowPolicy::saturate) {
  ArrayConverter arrays(f, rounding, special_values(policy), kernels);
  std::vector<float> values(x.size()), decoded(x.size());
  const std::size_t columns = std::max<std::size_t>(1, f.shape.columns);
  std::vector<std::uint8_t> codes(packed_bytes(f.element, x.size())),
      scales(packed_bytes(f.scale, x.size() / columns + 1));
  arrays.values(x, values, t, &stream, 0);
  arrays.encode(x, codes.data(), scales.data(), t, &stream, 0);
  arrays.decode(codes.data(), scales.data(), t, decoded);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t block = f.has_scale() ? i / columns : 0;
    const std::uint32_t scale = f.has_scale() ? load_code(f.scale, scales.data(), block) : 0,
                        wanted_scale = f.has_scale() ? expected.scales[block] : 0;
    const float value = expected.values[i];
    const bool right = load_code(f.element, codes.data(), i) == expected.codes[i] && scale == wanted_scale &&
                       bits_or_nan(decoded[i]) == bits_or_nan(value) &&
                       bits_or_nan(values[i]) == bits_or_nan(value);
    if (!right && ++wrong == 1)
      MESSAGE("element ", i, " x=", x[i], " bits ", bits_of(x[i]), ": code ",
              load_code(f.element, codes.data(), i), " not ", expected.codes[i], ", scale ", scale, " not ",
              wanted_scale, ", value ", values[i], " decoded ", decoded[i], " not ", value);
  }
  return wrong;
}

std::size_t differences(const BlockFormat& f, Rounding rounding, const std::vector<float>& x,
                        TensorMultiplier t, const LaneKernels& kernels,
                        OverflowPolicy policy = OverflowPolicy::saturate) {
  return differences(expected_of(f, rounding, x, t, policy), f, rounding, x, t, kernels, policy);
}

std::vector<BlockFormat> formats_for_arrays() {
  std::vector<BlockFormat> formats;
  for (const NamedBlockFormat& named : all_block_formats)
    if (named.format.shape.axis == BlockAxis::flattened ||
        (named.format.shape.axis == BlockAxis::tile && named.format.shape.rows == 1 &&
         named.format.tensor_scale != TensorScale::row))
      formats.push_back(named.format);
  return formats;
}

}  // namespace

TEST_CASE("arrays: every block format of the catalog, for every instruction set of this CPU") {
  std::size_t tried = 0;
  for (const BlockFormat& f : formats_for_arrays())
    for (const LaneKernels* kernels : supported_lane_kernels())
      for (const Rounding rounding :
           {nearest_even, stochastic, Rounding{RoundingMode::up, 0}, Rounding{RoundingMode::odd, 0},
            Rounding{RoundingMode::stochastic_b, 16}})
        for (const float t : {1.0f, 0.0123f, 3.7e-5f, 0x1p-30f}) {
          if (t != 1.0f && !f.has_tensor_scale()) continue;
          const std::vector<float> x = blocks_of(6007, f.shape.columns, 3);
          INFO(to_spec(f), " ", to_string(rounding), " t=", t, " ", kernels->target);
          CHECK(differences(f, rounding, x, t, *kernels) == 0);
          ++tried;
        }
  CHECK(tried > 100);
}

TEST_CASE("arrays: blocks of normal numbers alone, near and far apart, for every instruction set") {
  for (const BlockFormat& f : formats_for_arrays())
    for (const LaneKernels* kernels : supported_lane_kernels())
      for (const int spread : {0, 8, 55, 75, 120}) {
        INFO(to_spec(f), " 2^", spread, " ", kernels->target);
        const std::vector<float> x = usual_blocks_of(20'011, f.shape.columns, spread, 17);
        CHECK(differences(f, nearest_even, x, 1.0f, *kernels) == 0);
      }
}

TEST_CASE("arrays: every overflow policy under scales, for every instruction set") {
  for (const char* spec : {"mxfp4", "mxfp8_e4m3", "mxfp8_e5m2", "mxint8", "nvfp4",
                           "block{e4m3_ieee,32,scale=e8m0,rule=ocp_floor}"})
    for (const LaneKernels* kernels : supported_lane_kernels())
      for (const OverflowPolicy policy :
           {OverflowPolicy::saturate, OverflowPolicy::ieee, OverflowPolicy::ocp})
        for (const Rounding rounding : {nearest_even, stochastic, Rounding{RoundingMode::toward_zero, 0}}) {
          const BlockFormat f = parse_format(spec);
          INFO(spec, " ", kernels->target, " policy ", static_cast<int>(policy), " ", to_string(rounding));
          CHECK(differences(f, rounding, blocks_of(6007, f.shape.columns, 5), 1.0f, *kernels, policy) == 0);
          CHECK(differences(f, rounding, usual_blocks_of(6007, f.shape.columns, 3, 5), 1.0f, *kernels,
                            policy) == 0);
        }
}

TEST_CASE(
    "arrays: too long for the caches, they are decoded past them to the same values, wherever they begin") {
  const std::size_t n = (std::size_t{1} << 22) + 37;
  std::mt19937 draw(3);
  for (const char* spec : {"mxfp4", "nvfp4", "e4m3", "bf16"}) {
    const BlockFormat f = parse_format(spec);
    ArrayConverter arrays(f, nearest_even, special_values(OverflowPolicy::saturate));
    std::vector<std::uint8_t> codes(packed_bytes(f.element, n)), scales(n / 16 + 1);
    for (std::uint8_t& byte : codes) byte = static_cast<std::uint8_t>(draw());
    for (std::uint8_t& scale : scales) scale = static_cast<std::uint8_t>(100 + draw() % 27);
    std::vector<float> whole(n + 32), pieces(n);
    const std::size_t aligned =
        (64 - reinterpret_cast<std::uintptr_t>(whole.data()) % 64) % 64 / sizeof(float);
    for (const std::size_t offset : {aligned, aligned + 1}) {
      const std::span<float> out = std::span(whole).subspan(offset, n);
      std::fill(out.begin(), out.end(), 7.0f);
      arrays.decode(codes.data(), scales.data(), 1.0f, out);
      const std::size_t half = std::size_t{1} << 21;
      for (std::size_t begin = 0; begin < n; begin += half)
        arrays.decode(codes.data() + packed_bytes(f.element, begin),
                      scales.data() + (f.has_scale() ? begin / f.shape.columns : 0), 1.0f,
                      std::span(pieces).subspan(begin, std::min(half, n - begin)));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < n; ++i) wrong += bits_or_nan(out[i]) != bits_or_nan(pieces[i]);
      INFO(spec, " from ", offset);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("arrays: every scale rule, under every convention of the presets") {
  for (const NamedScaleRule& named : all_scale_rules) {
    if (named.rule == ScaleRule::stochastic_exponent) continue;
    for (const std::string element : {"e4m3", "e2m1", "e3m2", "int8", "e5m2"})
      for (const std::string scale : {"e8m0", "ue4m3", "ue5m3", "fp32", "bf16"}) {
        const std::string spec =
            "block{" + element + ",32,scale=" + scale + ",rule=" + std::string(named.name) + "}";
        INFO(spec);
        std::optional<BlockFormat> f;
        try {
          f = parse_format(spec);
        } catch (const Error&) {
          continue;  // a rule that does not go with the scale format
        }
        CHECK(differences(*f, nearest_even, blocks_of(4001, 32, 9), 1.0f, lane_kernels()) == 0);
      }
  }
}

TEST_CASE("arrays: scalar formats, those without lanes included") {
  for (const char* spec : {"e4m3", "bf16", "e2m1", "e2m3", "tf32", "fp32", "e8m0", "lns{bits=8,gamma=8}",
                           "binary8p3se", "e3m4{bias=3}"}) {
    INFO(spec);
    CHECK(differences(parse_format(spec), nearest_even, blocks_of(5003, 16, 2), 1.0f, lane_kernels()) == 0);
    CHECK(differences(parse_format(spec), stochastic, blocks_of(5003, 16, 4), 1.0f, lane_kernels()) == 0);
  }
}

#if defined(__SSE2__)
TEST_CASE(
    "arrays: flush-to-zero and another rounding direction, set by the caller, change nothing and stay set") {
  constexpr unsigned flushes_and_rounds_up = 0x1F80 | 0x8040 | 0x4000;
  for (const char* spec : {"bf16", "e4m3", "mxfp4", "mxfp8_e5m2", "nvfp4"}) {
    const BlockFormat f = parse_format(spec);
    const std::vector<float> x = blocks_of(3000, std::max<std::size_t>(1, f.shape.columns), 8);
    const auto run = [&] {
      ArrayConverter arrays(f, nearest_even, special_values(OverflowPolicy::saturate));
      std::vector<float> out(x.size());
      arrays.values(x, out, 0.01f, nullptr, 0);
      return out;
    };
    const std::vector<float> expected = run();
    const unsigned before = _mm_getcsr();
    _mm_setcsr(flushes_and_rounds_up);
    const std::vector<float> got = run();
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    INFO(spec);
    CHECK((after & 0xffc0u) == (flushes_and_rounds_up & 0xffc0u));
    CHECK(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)) == 0);
  }
}
#endif

TEST_CASE("arrays: 2^20 pseudo-random blocks of every format, and as many usual ones" *
          doctest::test_suite("exhaustive")) {
  ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()));
  for (const BlockFormat& f : formats_for_arrays()) {
    std::atomic<std::size_t> wrong = 0;
    pool.for_each_index(128, [&](std::size_t part) {
      const auto seed = static_cast<unsigned>(part / 2);
      const std::size_t n = f.shape.columns << 14;
      const std::vector<float> x =
          part % 2 ? blocks_of(n, f.shape.columns, seed) : usual_blocks_of(n, f.shape.columns, 60, seed);
      const Rounding rounding = seed % 2 ? stochastic : nearest_even;
      const TensorMultiplier t = f.has_tensor_scale() ? 0.0123f : 1.0f;
      const Expected expected = expected_of(f, rounding, x, t);
      for (const LaneKernels* kernels : supported_lane_kernels())
        wrong += differences(expected, f, rounding, x, t, *kernels);
    });
    INFO(to_spec(f));
    CHECK(wrong == 0);
  }
}

TEST_CASE("arrays: what cannot be is refused") {
  CHECK_THROWS_AS(
      ArrayConverter(parse_format("fp8_tensor"), nearest_even, special_values(OverflowPolicy::saturate)),
      Error);
  ArrayConverter sr(parse_format("e4m3"), stochastic, special_values(OverflowPolicy::saturate));
  std::vector<float> x(4), out(3);
  CHECK_THROWS_AS(sr.values(x, x, 1.0f, nullptr, 0), Error);
  CHECK_THROWS_AS(sr.values(x, out, 1.0f, nullptr, 0), Error);
}
