#include "emulation/cuda/kernel_makers.h"
#include "emulation/quantize.h"
#include "formats/catalog.h"
#include "tests/cuda/kernel_orders.h"

namespace halfulp::cuda {
namespace {

constexpr RandomStream stream{99, 4, 2, 0, RandomPurpose::rounding, 0};

struct Encoded {
  std::vector<std::uint8_t> codes, scales;
  std::vector<float> values;
};

Encoded encode_by_kernel(const BlockFormat& f, std::size_t rows, std::size_t columns, float second,
                         const Quantization& how, const std::vector<float>& x, RunOrder order) {
  const std::size_t blocks = f.has_scale() ? blocks_for(x.size(), f.shape.columns) : 0;
  Encoded out{std::vector<std::uint8_t>(packed_bytes(f.element, x.size())),
              std::vector<std::uint8_t>(packed_bytes(f.scale, blocks)), std::vector<float>(x.size())};
  emulate(encode_kernel(f, rows, columns, second, how, x.data(), out.codes.data(),
                        f.has_scale() ? out.scales.data() : nullptr, out.values.data()),
          order);
  return out;
}

std::vector<float> decode_by_kernel(const BlockFormat& f, std::size_t rows, std::size_t columns, float second,
                                    const Encoded& stored, RunOrder order) {
  std::vector<float> values(rows * columns, -1.0f);
  emulate(decode_kernel(f, rows, columns, second, stored.codes.data(), stored.scales.data(), values.data()),
          order);
  return values;
}

/// Kernels and library agree in codes, scales and numbers.
void check(const BlockFormat& f, std::size_t rows, std::size_t columns, const Quantization& how,
           std::uint32_t seed, RunOrder order) {
  CAPTURE(rows);
  CAPTURE(columns);
  const std::vector<float> x = mixed_numbers(rows * columns, seed, rows > 3);
  const float second = f.has_tensor_scale() ? 0x1.8p-9f : 1.0f;
  const Encoded made = encode_by_kernel(f, rows, columns, second, how, x, order);
  if (x.empty()) return;
  const ElementRandom random{how.draws.from_stream ? std::optional(how.draws.stream) : std::nullopt,
                             how.draws.fixed};
  const Tensor expected =
      quantize(std::vector<double>(x.begin(), x.end()), {rows, columns}, f, how.rounding, how.special, random,
               f.has_tensor_scale() ? std::optional(second) : std::nullopt);
  CHECK(made.codes == expected.code_bytes());
  if (f.has_scale()) CHECK(made.scales == expected.scale_bytes());
  std::vector<float> numbers;
  for (const double number : dequantize(expected)) numbers.push_back(to_float(number));
  CHECK(same_bits(made.values, numbers));
  CHECK(same_bits(decode_by_kernel(f, rows, columns, second, made, order), numbers));
}

bool is_served(const BlockFormat& f) {
  try {
    stored_format(f, 1024, 1);
  } catch (const Error&) {
    return false;
  }
  return true;
}

TEST_SUITE("unit") {
  TEST_CASE("codes, scales and numbers of every named format equal the library's, of every size") {
    int served = 0;
    std::vector<NamedBlockFormat> formats(all_block_formats.begin(), all_block_formats.end());
    for (const NamedScalarFormat& scalar : all_scalar_formats)
      formats.push_back({scalar.name, unscaled(scalar.format)});
    for (const NamedBlockFormat& named : formats) {
      const BlockFormat& format = named.format;
      if (!is_served(format)) continue;
      ++served;
      CAPTURE(named.name);
      for (const std::size_t size : ragged_sizes)
        check(format, 1, size, to_nearest(), 11, RunOrder::ascending);
      check(format, 5, 256, to_nearest(), 12, RunOrder::ascending);
    }
    CHECK(served == 36);
  }

  TEST_CASE("stochastic rounding, and threads in every order") {
    for (const RunOrder order : all_orders)
      for (const BlockFormat& f :
           {unscaled(e3m2), unscaled(e2m1), unscaled(bf16), mx(e4m3, ScaleRule::rceil),
            mx(e2m1, ScaleRule::stochastic_exponent), mx(e3m2, ScaleRule::ocp_floor), nvfp4})
        for (const Rounding rounding : {nearest_even, stochastic, Rounding{RoundingMode::stochastic_a, 20}}) {
          const Quantization how{rounding, special_values(OverflowPolicy::saturate),
                                 draws_of(stream, rounding.random_bits)};
          for (const std::size_t size : {1, 33, 257, 1000, 2049}) check(f, 1, size, how, 13, order);
          check(f, 9, 288, how, 14, order);
        }
  }

  TEST_CASE("every rounding mode into blocks") {
    for (const NamedRoundingMode& named : all_rounding_modes) {
      const RoundingMode mode = named.mode;
      CAPTURE(named.name);
      const int bits = mode == RoundingMode::stochastic_equal ? 1 : is_stochastic(mode) ? 9 : 0;
      const Quantization how{{mode, bits}, special_values(OverflowPolicy::saturate), draws_of(stream, bits)};
      for (const BlockFormat& f : {mx(e2m3, ScaleRule::ocp_floor), nvfp4})
        check(f, 4, 96, how, 15, RunOrder::shuffled);
    }
  }

  TEST_CASE("what the kernels do not serve is refused by name") {
    CHECK_THROWS_WITH(stored_format(with_shape(nvfp4, {BlockAxis::tile, 16, 16}), 64, 64),
                      doctest::Contains("16 rows, 16 columns"));
    CHECK_THROWS_WITH(stored_format(with_tensor_scale(nvfp4, TensorScale::row), 64, 64),
                      doctest::Contains("second scale for every row"));
    CHECK_THROWS_WITH(stored_format(nvfp4, 40, 2), doctest::Contains("rows end inside a block"));
  }
}

}  // namespace
}  // namespace halfulp::cuda
