// Lanes of every instruction set that this CPU has against the scalar conversion: values, codes and the way back.
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "emulation/fp_environment.h"
#include "emulation/lanes/lane_converter.h"
#include "emulation/normal.h"
#include "emulation/parallel.h"
#include "emulation/reduce.h"
#include "formats/catalog.h"
#include "formats/conformance/settings.h"
#include "formats/special_values.h"

using namespace halfulp;

namespace {

/// Every kind of float: codes and midpoints of the format with both neighbours, any bit pattern, specials.
std::vector<float> points_of(const ScalarFormat& f) {
  std::vector<float> points{0.0f,
                            -0.0f,
                            INFINITY,
                            -INFINITY,
                            NAN,
                            -NAN,
                            0x1p-149f,
                            -0x1p-149f,
                            0x1p-126f,
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::lowest()};
  std::mt19937 bits(11);
  const std::uint64_t step = std::max<std::uint64_t>(1, f.code_count() / 1024);
  for (std::uint64_t code = 0; code < f.code_count(); code += step) {
    const double a = decode(f, static_cast<std::uint32_t>(code)),
                 b = decode(f, static_cast<std::uint32_t>((code + 1) % f.code_count()));
    for (const double x : {a, a + (b - a) / 2, a + (b - a) / 4}) {
      const auto y = static_cast<float>(x);
      for (const float z : {y, std::nextafterf(y, INFINITY), std::nextafterf(y, -INFINITY)})
        points.push_back(z);
    }
  }
  for (int i = 0; i < 3000; ++i) points.push_back(real_of(static_cast<std::uint32_t>(bits())));
  for (int i = 0; i < 2000; ++i) {  // useful exponents
    const int e =
        std::clamp(static_cast<int>(bits() % 40) - 20 + (f.max_exponent() + f.min_exponent()) / 2, -140, 127);
    points.push_back(std::ldexp(1 + static_cast<float>(bits() % 65536) / 65536, e) *
                     (bits() % 2 ? 1.0f : -1.0f));
  }
  return points;
}

std::uint32_t bits_or_nan(float x) { return x != x ? (sign_bit_of(x) | 0x7fc00000u) : bits_of(x); }

/// The number of points that a kernel converts otherwise than Converter does.
std::size_t differences(const ScalarFormat& f, Rounding rounding, const SpecialValues& special,
                        const std::vector<float>& x, const LaneKernels& kernels) {
  const LaneConverter lanes(f, rounding, special, kernels);
  if (!lanes.on_lanes()) return 0;
  const Converter converter(f, rounding, special);
  std::vector<std::uint32_t> random(x.size());
  std::mt19937 draw(3);
  for (std::uint32_t& r : random)
    r = draw() & static_cast<std::uint32_t>((std::uint64_t{1} << rounding.random_bits) - 1);
  std::vector<float> values(x.size()), both(x.size()), decoded(x.size());
  std::vector<std::uint8_t> codes(packed_bytes(f, x.size())), codes_beside(codes.size());
  const std::uint32_t* bits = is_stochastic(rounding.mode) ? random.data() : nullptr;
  lanes.convert(x, bits, {}, values.data(), nullptr, 0, nullptr);
  lanes.convert(x, bits, {}, nullptr, codes.data(), 0, nullptr);
  lanes.convert(x, bits, {}, both.data(), codes_beside.data(), 0, nullptr);
  lanes.decode(codes.data(), 0, {}, decoded);
  std::size_t wrong = codes == codes_beside ? 0 : 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto value = static_cast<float>(converter.value(x[i], random[i]));
    const std::uint32_t code = converter.code(x[i], random[i]);
    const bool right = bits_or_nan(values[i]) == bits_or_nan(value) &&
                       bits_of(values[i]) == bits_of(both[i]) && load_code(f, codes.data(), i) == code &&
                       bits_or_nan(decoded[i]) == bits_or_nan(static_cast<float>(decode(f, code)));
    if (!right && ++wrong == 1)
      MESSAGE(kernels.target, " ", to_string(rounding), " x=", x[i], " bits ", bits_of(x[i]), " random ",
              random[i], ": value ", values[i], " not ", value, ", code ", load_code(f, codes.data(), i),
              " not ", code, ", decoded ", decoded[i]);
  }
  return wrong;
}

}  // namespace

TEST_CASE("lanes: every format they serve, in every mode, for every instruction set of this CPU") {
  const FpEnvironment environment;
  std::size_t served = 0;
  for (const NamedScalarFormat& named : all_scalar_formats) {
    const std::vector<float> x = points_of(named.format);
    for (const LaneKernels* kernels : supported_lane_kernels())
      for (const Rounding rounding : all_roundings()) {
        INFO(std::string(named.name), " ", to_string(rounding), " ", kernels->target);
        CHECK(differences(named.format, rounding, special_values(OverflowPolicy::saturate), x, *kernels) ==
              0);
        served += LaneConverter(named.format, rounding, special_values(OverflowPolicy::saturate)).on_lanes();
      }
  }
  MESSAGE(served, " formats, modes and instruction sets on lanes");
  CHECK(served > 500);
}

TEST_CASE("lanes: every overflow policy and the switches of the presets") {
  const FpEnvironment environment;
  for (const NamedScalarFormat& named : all_scalar_formats) {
    if (named.format.bits() > 8) continue;
    std::vector<float> x = points_of(named.format);
    x.resize(1500);
    for (const SpecialValues& special : all_special_values())
      for (const Rounding rounding :
           {nearest_even, Rounding{RoundingMode::up, 0}, Rounding{RoundingMode::odd, 0},
            Rounding{RoundingMode::toward_zero, 0}, stochastic}) {
        INFO(std::string(named.name), " ", to_string(rounding), " ", to_string(special));
        CHECK(differences(named.format, rounding, special, x, lane_kernels()) == 0);
      }
  }
}

TEST_CASE(
    "lanes: an infinity under a scale stays one, and what lanes cannot divide or multiply by exactly is "
    "refused") {
  const std::vector<float> x{INFINITY, -INFINITY, 2.0f};
  for (const float multiplier : {3.1415927f, 4.0f}) {
    RunScaleList scales;
    CHECK(scales.add(static_cast<double>(multiplier)));
    const LaneConverter lanes(e5m2, nearest_even, special_values(OverflowPolicy::ieee));
    std::vector<float> values(x.size()), decoded(x.size());
    std::vector<std::uint8_t> codes(x.size());
    lanes.convert(x, nullptr, scales.scales(x.size()), values.data(), codes.data(), 0, nullptr);
    lanes.decode(codes.data(), 0, scales.scales(x.size()), decoded);
    CHECK(values[0] == INFINITY);
    CHECK(values[1] == -INFINITY);
    CHECK(decoded == values);
  }
  CHECK(lane_scale(0x1.abcdef7p-12));
  CHECK(!lane_scale(0x1.0ee5e0ba2e8cp+1));  // 11 high + 11 low, rounded twice, is not 11 times it
  // A quotient may underflow among the numbers of bf16.
  CHECK(!LaneConverter(bf16, nearest_even, special_values(OverflowPolicy::saturate)).scales_on_lanes());
  CHECK(LaneConverter(fp16, nearest_even, special_values(OverflowPolicy::saturate)).scales_on_lanes());
}

TEST_CASE("lanes: every instruction set that is compiled runs here") {
  const std::size_t missing = compiled_lane_kernels().size() - supported_lane_kernels().size();
  std::string names;
  for (const LaneKernels* kernels : compiled_lane_kernels().first(missing))
    names += std::string(" ") + kernels->target;
  if (missing > 0) MESSAGE("SKIPPED: this CPU cannot run the lanes of", names);
  CHECK(supported_lane_kernels().size() >= 1);
}

TEST_CASE("lanes: random words are the map's, from any element on, of any number") {
  const RandomStream stream{0x123456789abcdefu, 77, 9, 2, RandomPurpose::rounding, 1};
  for (const LaneKernels* kernels : supported_lane_kernels())
    for (const int bits : {0, 1, 7, 16, 17, 32})
      for (const std::uint64_t first :
           {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{127}, (std::uint64_t{1} << 33) + 3})
        for (const std::size_t n : {1u, 16u, 128u, 300u}) {
          std::vector<std::uint32_t> words(n), expected(n);
          kernels->random(stream, first, bits, words.data(), n);
          for (std::size_t i = 0; i < n; ++i) expected[i] = random_bits(stream, first + i, bits);
          INFO(kernels->target, " ", bits, " ", first, " ", n);
          CHECK(words == expected);
        }
}

TEST_CASE("lanes: elementary functions, normal deviates and sums are those of numbers") {
  const FpEnvironment environment;
  std::vector<float> x = points_of(fp16);
  x.resize(4999);
  const auto by_number = [](ElementaryFunction function, float v) {
    switch (function) {
      case ElementaryFunction::exp2:
        return elementary::exp2(v);
      case ElementaryFunction::exp2m1:
        return elementary::exp2m1(v);
      case ElementaryFunction::exp:
        return elementary::exp(v);
      case ElementaryFunction::expm1:
        return elementary::expm1(v);
      case ElementaryFunction::log:
        return elementary::log(v);
      case ElementaryFunction::log2:
        return elementary::log2(v);
      case ElementaryFunction::log1p:
        return elementary::log1p(v);
    }
    return v;
  };
  for (const LaneKernels* kernels : supported_lane_kernels()) {
    for (const auto function : {ElementaryFunction::exp2, ElementaryFunction::exp2m1, ElementaryFunction::exp,
                                ElementaryFunction::expm1, ElementaryFunction::log, ElementaryFunction::log2,
                                ElementaryFunction::log1p}) {
      std::vector<float> out(x.size());
      kernels->apply(function, x.data(), out.data(), x.size());
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        wrong += bits_of(out[i]) != bits_of(by_number(function, x[i]));
      INFO(kernels->target, " ", static_cast<int>(function));
      CHECK(wrong == 0);
    }
    std::vector<std::uint32_t> bits(4999);
    std::mt19937 draw(1);
    for (std::uint32_t& b : bits) b = static_cast<std::uint32_t>(draw());
    bits[0] = 0, bits[1] = ~0u, bits[2] = 1u << 31;
    std::vector<float> z(bits.size());
    kernels->normals(bits.data(), z.data(), z.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < z.size(); ++i)
      wrong += bits_of(z[i]) != bits_of(normal_deviate<float>(bits[i]));
    CHECK(wrong == 0);
    for (std::size_t n : {0u, 1u, 31u, 32u, 33u, 64u, 100u, 4999u})
      CHECK(bits_of(kernels->sum(z.data(), n)) == bits_of(sum(std::span<const float>(z.data(), n))));
  }
}

TEST_CASE("lanes: odd lengths, unaligned pointers, and nothing written beside them") {
  const FpEnvironment environment;
  for (const LaneKernels* kernels : supported_lane_kernels())
    for (const ScalarFormat& f : {e4m3, bf16, e2m1, e2m3}) {
      const LaneConverter lanes(f, nearest_even, special_values(OverflowPolicy::saturate), *kernels);
      const Converter converter(f, nearest_even, special_values(OverflowPolicy::saturate));
      for (std::size_t n = 1; n < 70; ++n) {
        std::vector<float> x(n + 3), out(n + 3, 7.0f);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.37f * static_cast<float>(i) - 4;
        std::vector<std::uint8_t> codes(packed_bytes(f, n) + 1, 0xa5);
        lanes.convert(std::span(x).subspan(1, n), nullptr, {}, out.data() + 1, nullptr, 0, nullptr);
        lanes.convert(std::span(x).subspan(1, n), nullptr, {}, nullptr, codes.data(), 0, nullptr);
        bool right = out[0] == 7 && out[n + 1] == 7 && codes.back() == 0xa5;
        for (std::size_t i = 0; i < n; ++i)
          right = right && out[i + 1] == static_cast<float>(converter.value(x[i + 1], 0)) &&
                  load_code(f, codes.data(), i) == converter.code(x[i + 1], 0);
        INFO(kernels->target, " ", n);
        CHECK(right);
      }
    }
}

TEST_CASE("lanes: all floats there are, in every named format, to nearest even and stochastically" *
          doctest::test_suite("exhaustive")) {
  constexpr std::size_t chunk = 1 << 16;
  const FpEnvironment environment;
  for (const NamedScalarFormat& named : all_scalar_formats)
    for (const Rounding rounding : {nearest_even, stochastic}) {
      const LaneConverter widest(named.format, rounding, special_values(OverflowPolicy::saturate));
      if (!widest.on_lanes()) continue;
      const Converter converter(named.format, rounding, special_values(OverflowPolicy::saturate));
      std::atomic<std::uint64_t> wrong = 0;
      ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()));
      pool.for_each_index((std::size_t{1} << 32) / chunk, [&](std::size_t part) {
        std::vector<float> x(chunk), values(chunk), others(chunk);
        std::vector<std::uint32_t> random(chunk);
        for (std::size_t i = 0; i < chunk; ++i) x[i] = real_of(static_cast<std::uint32_t>(part * chunk + i));
        const RandomStream stream{1, 2, 3, 0, RandomPurpose::rounding, 0};
        lane_kernels().random(stream, part * chunk, rounding.random_bits, random.data(), chunk);
        widest.convert(x, random.data(), {}, values.data(), nullptr, 0, nullptr);
        std::uint64_t here = 0;
        for (std::size_t i = 0; i < chunk; ++i)
          here += bits_or_nan(values[i]) != bits_or_nan(static_cast<float>(converter.value(x[i], random[i])));
        for (const LaneKernels* kernels : supported_lane_kernels().subspan(1)) {
          const LaneConverter narrower(named.format, rounding, special_values(OverflowPolicy::saturate),
                                       *kernels);
          narrower.convert(x, random.data(), {}, others.data(), nullptr, 0, nullptr);
          here += std::memcmp(values.data(), others.data(), chunk * sizeof(float)) != 0;
        }
        wrong += here;
      });
      INFO(std::string(named.name), " ", to_string(rounding));
      CHECK(wrong == 0);
    }
}
