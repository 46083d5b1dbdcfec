// Stochastic roundings that went wrong in other software: the distribution over all random integers, counted.
#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <span>

#include "emulation/random_bits.h"
#include "formats/converter.h"
#include "tests/formats/reported_conversions.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

using Integer = boost::multiprecision::cpp_int;
using Counts = std::map<std::uint32_t, std::uint64_t>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr RoundingMode counted_modes[] = {RoundingMode::stochastic_a, RoundingMode::stochastic_b,
                                          RoundingMode::stochastic_c, RoundingMode::stochastic_odd};

/// How many of all random integers give each code.
Counts counts_of(double x, const ScalarFormat& f, Rounding rounding, OverflowPolicy policy) {
  const Converter converter(f, rounding, special_values(policy));
  Counts counts;
  std::uint32_t last = 0;
  std::uint64_t run = 0;
  for (std::uint64_t r = 0; r < std::uint64_t{1} << rounding.random_bits; ++r) {
    const std::uint32_t code = converter.code(x, static_cast<std::uint32_t>(r));
    if (run != 0 && code != last) counts[last] += run, run = 0;
    last = code;
    ++run;
  }
  counts[last] += run;
  return counts;
}

/// Random integers of N bits that go away from zero at the fraction nu of a gap, by the statement of the
/// mode.
std::uint64_t away_count(const Probability& nu, RoundingMode mode, int bits) {
  const std::uint64_t all = std::uint64_t{1} << bits;
  const auto floor_of = [&](const Probability& p) {
    return static_cast<std::uint64_t>(Integer(numerator(p) / denominator(p)));
  };
  const Probability scaled = nu * all;
  const std::uint64_t floor = floor_of(scaled), twice = floor_of(2 * scaled);
  const Probability rest = scaled - floor, half(1, 2);
  const std::uint64_t nearest = floor + (rest > half || (rest == half && floor % 2 == 1) ? 1 : 0);
  const std::uint64_t odd = floor + (rest > half || (rest == half && floor % 2 == 0) ? 1 : 0);
  const auto goes_away = [&](std::uint64_t r) {
    switch (mode) {
      case RoundingMode::stochastic_a:
        return floor + r >= all;
      case RoundingMode::stochastic_b:
        return twice + 2 * r + 1 >= 2 * all;
      case RoundingMode::stochastic_c:
        return nearest + r >= all;
      case RoundingMode::stochastic_odd:
        return odd + r >= all;
      case RoundingMode::stochastic_equal:
        return nu != 0 && r == 1;
      case RoundingMode::nearest_even:
      case RoundingMode::nearest_away:
      case RoundingMode::nearest_to_zero:
      case RoundingMode::toward_zero:
      case RoundingMode::away_from_zero:
      case RoundingMode::up:
      case RoundingMode::down:
      case RoundingMode::odd:
        return false;
    }
    return false;
  };
  std::uint64_t count = 0;
  for (std::uint64_t r = 0; r < all; ++r) count += goes_away(r) ? 1 : 0;
  return count;
}

/// What counts_of() has to be: the reported distribution is that of unlimited random bits.
Counts expected_counts(const ReportedConversion& c, RoundingMode mode, int bits) {
  const std::uint64_t all = std::uint64_t{1} << bits;
  if (c.stochastic.size() == 1) return {{c.stochastic.begin()->first, all}};
  const std::uint32_t near = *c.codes[2];  // toward zero
  Probability nu = 0;
  std::uint32_t far = near;
  for (const auto& [code, probability] : c.stochastic)
    if (code != near) far = code, nu = probability;
  const std::uint64_t away = away_count(nu, mode, bits);
  Counts counts;
  if (away != all) counts[near] = all - away;
  if (away != 0) counts[far] = away;
  return counts;
}

Counts of(double x, const ScalarFormat& f, RoundingMode mode, int bits) {
  return counts_of(x, f, {mode, bits}, OverflowPolicy::saturate);
}

/// 4096 numbers half way between two of E4M3, each rounded with the stream's bits: true where it went up.
std::vector<bool> went_up(const RandomStream& stream) {
  std::vector<bool> up;
  for (std::uint64_t e = 0; e < 4096; ++e)
    up.push_back(convert(1.0625, e4m3, stochastic, special_values(OverflowPolicy::saturate),
                         random_bits(stream, e, stochastic.random_bits)) == 0x39);
  return up;
}

double share(const std::vector<bool>& a, const std::vector<bool>& b) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i] ? 1 : 0;
  return static_cast<double>(same) / static_cast<double>(a.size());
}

/// 5 standard deviations of a share of 4096 fair coins are 5 * 0.5 / 64 = 0.039.
bool is_half(double share) { return share > 0.46 && share < 0.54; }

}  // namespace

TEST_CASE("stochastic cases: every reported distribution, counted over all random integers") {
  std::size_t lines = 0;
  for (const ReportedConversion& c : reported_conversions()) {
    if (c.stochastic.empty()) continue;
    ++lines;
    INFO(c.line);
    Probability sum = 0;
    for (const auto& [code, probability] : c.stochastic) sum += probability;
    REQUIRE(sum == 1);
    for (const RoundingMode mode : counted_modes)
      for (const int bits : {1, 2, 3, 5, 8, 11}) {
        INFO(to_string(Rounding{mode, bits}));
        CHECK(counts_of(c.input, c.format, {mode, bits}, c.policy) == expected_counts(c, mode, bits));
      }
    CHECK(counts_of(c.input, c.format, {RoundingMode::stochastic_equal, 1}, c.policy) ==
          expected_counts(c, RoundingMode::stochastic_equal, 1));
  }
  CHECK(lines == 314);
}

TEST_CASE("stochastic cases: enough random bits deliver the reported probability itself") {
  // nu 2^N an integer leaves nothing to floor, to round or to make odd: a, b, c and odd agree with the exact
  // share.
  std::size_t exact = 0;
  for (const ReportedConversion& c : reported_conversions()) {
    if (c.stochastic.empty()) continue;
    const Integer draws = denominator(c.stochastic.begin()->second);
    if (draws > 65536) continue;
    ++exact;
    const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint32_t>(draws))) - 1);
    Counts expected;
    for (const auto& [code, probability] : c.stochastic)
      expected[code] = static_cast<std::uint64_t>(numerator(probability) * (Integer(1) << bits) /
                                                  denominator(probability));
    INFO(c.line);
    for (const RoundingMode mode : counted_modes)
      CHECK(counts_of(c.input, c.format, {mode, bits}, c.policy) == expected);
  }
  CHECK(exact > 150);
}

TEST_CASE("stochastic cases: numbers of the format stay, with every draw up to all ones") {
  // The discarded fraction is 0, so nothing may reach 2^N. Codes rise with r: the last draw decides for the
  // others.
  for (const NamedScalarFormat& named : all_scalar_formats) {
    const ScalarFormat& f = named.format;
    const std::uint64_t stride = f.bits() > 16 ? 65521 : 1;  // prime: every exponent comes up
    for (const RoundingMode mode : counted_modes)
      for (const int bits : {1, 8, 16}) {
        const std::uint32_t last = (std::uint32_t{1} << bits) - 1;
        const Converter converter(f, {mode, bits}, special_values(OverflowPolicy::ieee));
        std::size_t moved = 0;
        for (std::uint64_t code = 0; code < f.code_count(); code += stride) {
          const auto narrow = static_cast<std::uint32_t>(code);
          if (is_nan_code(f, narrow)) continue;
          for (const std::uint32_t r : {0u, last / 2 + 1, last})
            if (converter.code(decode(f, narrow), r) != narrow) ++moved;
        }
        INFO(std::string(named.name), " ", to_string(Rounding{mode, bits}));
        CHECK(moved == 0);
      }
  }
  // All 2^16 draws where that is quick, their order not relied upon.
  for (const NamedScalarFormat& named : all_scalar_formats) {
    if (named.format.bits() > 8) continue;
    INFO(std::string(named.name));
    for (std::uint32_t code = 0; code < named.format.code_count(); ++code)
      if (!is_nan_code(named.format, code) && !is_infinity_code(named.format, code))
        CHECK(of(decode(named.format, code), named.format, RoundingMode::stochastic_c, 16) ==
              Counts{{code, 65536}});
  }
}

TEST_CASE("stochastic cases: noise held in a narrow format would reach 1") {
  // The largest 24-bit uniform number rounds to 1 in fp16 and bf16, hence integers are compared instead.
  const double noise = 1 - 0x1p-24;
  const SpecialValues special = special_values(OverflowPolicy::saturate);
  CHECK(convert(noise, fp16, nearest_even, special, 0) == 0x3c00);
  CHECK(convert(noise, bf16, nearest_even, special, 0) == 0x3f80);
}

TEST_CASE("stochastic cases: at a power of two each side has its own step") {
  // Below 2 the step is 1/8, above 1/4: the gap that holds the number decides, and 2 itself lies in none.
  for (const RoundingMode mode : counted_modes) {
    CHECK(of(2.0, e4m3, mode, 3) == Counts{{0x40, 8}});
    CHECK(of(2 - 0x1p-6, e4m3, mode, 3) == Counts{{0x3f, 1}, {0x40, 7}});
    CHECK(of(2 + 0x1p-5, e4m3, mode, 3) == Counts{{0x40, 7}, {0x41, 1}});
  }
}

TEST_CASE("stochastic cases: infinities and NaN whatever the draw") {
  // Noise added to the bits of Inf makes a NaN: specials must bypass it.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  struct {
    double x;
    ScalarFormat format;
    OverflowPolicy policy;
    std::uint32_t code;
  } const rows[] = {
      {infinity, bf16, OverflowPolicy::ieee, 0x7f80},   {-infinity, bf16, OverflowPolicy::ieee, 0xff80},
      {nan, bf16, OverflowPolicy::ieee, 0x7fc0},        {infinity, e5m2, OverflowPolicy::ocp, 0x7c},
      {-infinity, e5m2, OverflowPolicy::ocp, 0xfc},     {nan, e5m2, OverflowPolicy::ocp, 0x7e},
      {infinity, e4m3, OverflowPolicy::ieee, 0x7f},     {-infinity, e4m3, OverflowPolicy::ocp, 0xff},
      {infinity, e4m3, OverflowPolicy::saturate, 0x7e}, {-infinity, e4m3, OverflowPolicy::saturate, 0xfe},
      {nan, e4m3, OverflowPolicy::saturate, 0x7f}};
  for (const auto& row : rows)
    for (const RoundingMode mode : counted_modes)
      CHECK(counts_of(row.x, row.format, {mode, 16}, row.policy) == Counts{{row.code, 65536}});
}

TEST_CASE("stochastic cases: below the smallest subnormal the step stays what it is") {
  // The share is that of the fixed subnormal step, not of a step that shrinks with the exponent of the
  // source.
  // pytorch/FBGEMM#2798, milankl/StochasticRounding.jl#62
  for (const RoundingMode mode : counted_modes) {
    CHECK(of(0x1p-25, fp16, mode, 1) == Counts{{0x0000, 1}, {0x0001, 1}});
    CHECK(of(0x1p-34, fp16, mode, 10) == Counts{{0x0000, 1023}, {0x0001, 1}});
    CHECK(of(0x1.8p-24, fp16, mode, 1) == Counts{{0x0001, 1}, {0x0002, 1}});
    CHECK(of(0x1p-10, e4m3, mode, 1) == Counts{{0x00, 1}, {0x01, 1}});
    CHECK(of(0x1p-20, e4m3, mode, 11) == Counts{{0x00, 2047}, {0x01, 1}});
    CHECK(of(7.5 * 0x1p-9, e4m3, mode, 1) == Counts{{0x07, 1}, {0x08, 1}});
  }
}

TEST_CASE("stochastic cases: few random bits, the bias of each mode") {
  // a floors nu 2^N, c rounds it to nearest even: biases below 2^-N and up to 2^-(N+1), none if nu 2^N is an
  // integer.
  // graphcore-research/gfloat#36, graphcore-research/unit-scaling#56, apytypes/apytypes#738
  struct {
    double nu;
    int bits;
    std::uint64_t a, c;
  } const rows[] = {{1 / 16.0, 2, 0, 0},  {1 / 16.0, 3, 0, 0},  {1 / 16.0, 8, 16, 16},
                    {1 / 2.0, 2, 2, 2},   {1 / 2.0, 3, 4, 4},   {1 / 2.0, 8, 128, 128},
                    {15 / 16.0, 2, 3, 4}, {15 / 16.0, 3, 7, 8}, {15 / 16.0, 8, 240, 240},
                    {1 / 3.0, 2, 1, 1},   {1 / 3.0, 3, 2, 3},   {1 / 3.0, 8, 85, 85}};
  for (const auto& row : rows) {
    const double x = 1 + row.nu / 8;  // E4M3: between 38 and 39
    INFO(row.nu, " with ", row.bits, " bits");
    Counts a = of(x, e4m3, RoundingMode::stochastic_a, row.bits),
           c = of(x, e4m3, RoundingMode::stochastic_c, row.bits);
    CHECK(a[0x39] == row.a);
    CHECK(c[0x39] == row.c);
    const double all = std::ldexp(1.0, row.bits), nu = (x - 1) * 8;
    CHECK(nu - static_cast<double>(row.a) / all >= 0);
    CHECK(nu - static_cast<double>(row.a) / all < 1 / all);
    CHECK(std::fabs(nu - static_cast<double>(row.c) / all) <= 0.5 / all);
  }
}

TEST_CASE("stochastic cases: tensors and steps are rounded with different noise") {
  // The counter includes tensor, step and element: any two tensors agree in half of their directions, and no
  // more.
  std::vector<std::vector<bool>> tensors;
  for (std::uint32_t tensor = 0; tensor < 16; ++tensor)
    tensors.push_back(went_up({11, 1, tensor, 0, RandomPurpose::rounding, 0}));
  for (std::size_t a = 0; a < tensors.size(); ++a) {
    CHECK(is_half(share(tensors[a], std::vector<bool>(4096, true))));
    for (std::size_t b = 0; b < a; ++b) CHECK(is_half(share(tensors[a], tensors[b])));
  }
  CHECK(is_half(share(tensors[0], went_up({11, 2, 0, 0, RandomPurpose::rounding, 0}))));
  CHECK(share(tensors[0], went_up({11, 1, 0, 0, RandomPurpose::rounding, 0})) == 1);
}

TEST_CASE("stochastic cases: all 64 bits of a seed count, and seed 0 is a seed") {
  // The two halves of these seeds are equal: folded together by exclusive or, all four would be seed 0.
  std::vector<std::vector<bool>> streams;
  for (const std::uint64_t seed :
       {0x0000000100000001ull, 0x0000000200000002ull, 0x0ull, 0xffffffffffffffffull})
    streams.push_back(went_up({seed, 1, 0, 0, RandomPurpose::rounding, 0}));
  for (std::size_t a = 0; a < streams.size(); ++a) {
    CHECK(is_half(share(streams[a], std::vector<bool>(4096, true))));
    for (std::size_t b = 0; b < a; ++b) CHECK(is_half(share(streams[a], streams[b])));
  }
}

TEST_CASE("stochastic cases: what is left over reaches nearly a whole ulp, not half") {
  // 1 + 2^-16 is 1/512 of a bf16 gap: rounded up it leaves -511/512 ulp, which a compensation has to hold.
  const double x = 1 + 0x1p-16;
  for (const RoundingMode mode : counted_modes) {
    CHECK(of(x, bf16, mode, 9) == Counts{{0x3f80, 511}, {0x3f81, 1}});
    CHECK(of(x, bf16, mode, 16) == Counts{{0x3f80, 511 * 128}, {0x3f81, 128}});
  }
  CHECK(x - decode(bf16, 0x3f81) == -511 * 0x1p-16);
  CHECK(std::fabs(x - decode(bf16, 0x3f81)) < 0x1p-7);
  CHECK(std::fabs(x - decode(bf16, 0x3f81)) > 0x1p-8);
}

TEST_CASE("stochastic cases: a number and its negative have mirrored distributions") {
  // The recipe works on the magnitude: away from zero with the same share, so that the mean of both is the
  // number.
  for (const RoundingMode mode : counted_modes) {
    CHECK(of(1.03125, e4m3, mode, 2) == Counts{{0x38, 3}, {0x39, 1}});
    CHECK(of(-1.03125, e4m3, mode, 2) == Counts{{0xb8, 3}, {0xb9, 1}});
  }
  CHECK((3 * decode(e4m3, 0xb8) + decode(e4m3, 0xb9)) / 4 == -1.03125);
}

TEST_CASE("stochastic cases: FP4 with eight random bits") {
  // Steps of 1 in [2, 4), 1/2 in [0, 2), 2 in [4, 6): with 8 bits 2.1 goes up in floor(25.6) of 256 draws.
  const RoundingMode a = RoundingMode::stochastic_a, c = RoundingMode::stochastic_c;
  CHECK(of(2.1, e2m1, a, 8) == Counts{{0x4, 231}, {0x5, 25}});
  CHECK(of(2.1, e2m1, c, 8) == Counts{{0x4, 230}, {0x5, 26}});
  CHECK(of(0.1, e2m1, a, 8) == Counts{{0x0, 205}, {0x1, 51}});
  CHECK(of(-0.1, e2m1, a, 8) == Counts{{0x8, 205}, {0x9, 51}});
  CHECK(of(5.0, e2m1, a, 8) == Counts{{0x6, 128}, {0x7, 128}});
}
