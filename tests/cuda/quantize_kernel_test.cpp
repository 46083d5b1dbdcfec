#include "emulation/cuda/kernel_makers.h"
#include "emulation/quantize.h"
#include "formats/catalog.h"
#include "tests/cuda/kernel_orders.h"

namespace halfulp::cuda {
namespace {

constexpr RandomStream stream{0x123456789abcdefu, 7, 3, 1, RandomPurpose::rounding, 0};

Rounding with_bits(RoundingMode mode, int bits) {
  return {mode, mode == RoundingMode::stochastic_equal ? 1 : is_stochastic(mode) ? bits : 0};
}

std::vector<float> by_converter(const ScalarFormat& f, const Quantization& how, const std::vector<float>& x,
                                std::uint64_t first) {
  const Converter converter(f, how.rounding, how.special);
  std::vector<float> out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    out[i] = to_float(converter.value(static_cast<double>(x[i]), how.draws.of(first + i)));
  return out;
}

TEST_SUITE("unit") {
  TEST_CASE("the random integers of a lane are those of its elements") {
    for (const int bits : {0, 1, 7, 16, 17, 31, 32}) {
      const ElementDraws draws = draws_of(stream, bits);
      for (std::uint64_t group : {0u, 1u, 77u})
        for (unsigned lane = 0; lane < 16; ++lane) {
          std::uint32_t random[8];
          draws.of_lane(group, lane, random);
          for (unsigned d = 0; d < 8; ++d) CHECK(random[d] == draws.of(128 * group + 16 * d + lane));
        }
    }
  }

  TEST_CASE("fake quantisation equals Converter: every format that floats hold, every mode, every policy") {
    for (const NamedScalarFormat& named : all_scalar_formats) {
      const ScalarFormat& format = named.format;
      CAPTURE(named.name);
      for (const NamedRoundingMode& rounds : all_rounding_modes)
        for (const NamedOverflowPolicy& overflows : all_overflow_policies) {
          CAPTURE(rounds.name);
          CAPTURE(overflows.name);
          const int bits = overflows.policy == OverflowPolicy::ocp ? 24 : 11;
          if (format.fraction_bits == 23 && bits > 16) continue;
          const Rounding rounding = with_bits(rounds.mode, bits);
          const Quantization how{rounding, special_values(overflows.policy),
                                 draws_of(stream, rounding.random_bits)};
          const std::vector<float> x = mixed_numbers(777, 5);
          std::vector<float> out(x.size());
          emulate(quantize_kernel(format, how, x.data(), out.data(), x.size(), 1280));
          CHECK(same_bits(out, by_converter(format, how, x, 1280)));
        }
    }
  }

  TEST_CASE("fake quantisation under the rarer conventions") {
    for (const ScalarFormat& format : {e4m3, e5m2, e2m1, bf16, ue4m3, e4m3fnuz, int8, e8m0})
      for (SpecialValues special :
           {special_values(OverflowPolicy::saturate), special_values(OverflowPolicy::ieee)})
        for (int change = 0; change < 6; ++change) {
          CAPTURE(change);
          if (change == 0) special.negative_zero = NegativeZero::drop_source;
          if (change == 1) special.negative_zero = NegativeZero::drop;
          if (change == 2) special.subnormals = Subnormals::flush_results;
          if (change == 3) special.subnormals = Subnormals::flush_sources;
          if (change == 4) special.negative_in_unsigned = NegativeInUnsigned::magnitude;
          if (change == 5) special.nan_without_code = NanWithoutCode::zero;
          const Quantization how{nearest_even, special, no_draws()};
          const std::vector<float> x = mixed_numbers(999, 6);
          std::vector<float> out(x.size());
          emulate(quantize_kernel(format, how, x.data(), out.data(), x.size()));
          CHECK(same_bits(out, by_converter(format, how, x, 0)));
        }
  }

  TEST_CASE("fake quantisation in place, of every size, in every order of threads") {
    for (const std::size_t size : ragged_sizes)
      for (const RunOrder order : all_orders)
        for (const int bits : {0, 16, 20}) {
          CAPTURE(size);
          const Rounding rounding = bits == 0 ? nearest_even : Rounding{RoundingMode::stochastic_c, bits};
          const Quantization how{rounding, special_values(OverflowPolicy::saturate), draws_of(stream, bits)};
          const std::vector<float> x = mixed_numbers(size, 9);
          std::vector<float> out = x;
          emulate(quantize_kernel(e5m2, how, out.data(), out.data(), size), order);
          CHECK(same_bits(out, by_converter(e5m2, how, x, 0)));
        }
  }

  TEST_CASE("what the kernels do not serve is refused by name") {
    float number = 0;
    CHECK_THROWS_WITH(quantize_kernel(e4m3, to_nearest(), &number, &number, 1, 64),
                      doctest::Contains("multiples of 128"));
    const ScalarFormat wide{.exponent_bits = 11, .fraction_bits = 4, .bias = 1023};
    CHECK_THROWS_WITH(quantize_kernel(wide, to_nearest(), &number, &number, 1),
                      doctest::Contains("float's range"));
  }
}

}  // namespace
}  // namespace halfulp::cuda
