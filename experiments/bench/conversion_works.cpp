#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "emulation/array_converter.h"
#include "experiments/bench/huge_array.h"
#include "experiments/bench/works.h"
#include "formats/packing.h"
#include "formats/spec.h"
#include "formats/value_table.h"

namespace halfulp {
namespace {

constexpr SpecialValues saturating = special_values(OverflowPolicy::saturate);

struct ConversionCase {
  const char* name;
  BlockFormat format;
  Rounding rounding;
  std::optional<double> goal_ratio;
};

BlockFormat spec(const char* text) { return parse_format(text); }

/// Seventeen numbers as a quantile table has them: sparse far out, dense near zero.
BlockFormat quantile_table() {
  std::vector<double> numbers;
  for (int i = -8; i <= 8; ++i) numbers.push_back(i * std::abs(i) / 16.0);
  return unscaled(table_format(numbers, "table{quantiles}"));
}

/// Goals: speed to reach, for every format that float lanes serve; others are reported.
std::vector<ConversionCase> value_cases() {
  constexpr double nearest_goal = 1.05, block_goal = 1.15, stochastic_goal = 1.40,
                   stochastic_bf16_goal = 1.25;
  std::vector<ConversionCase> cases;
  for (const char* name : {"e4m3", "e5m2", "e2m1", "bf16", "fp16", "e3m4", "e3m4{bias=5}"})
    cases.push_back({name, spec(name), nearest_even, nearest_goal});
  cases.push_back({"table of 17", quantile_table(), nearest_even, {}});
  cases.push_back({"lns of 8 bits", spec("lns{8,8}"), nearest_even, {}});
  cases.push_back({"binary12p3se", spec("binary12p3se"), nearest_even, {}});  // up to 2^255, beyond float
  for (const char* name : {"e4m3", "e2m1"}) cases.push_back({name, spec(name), stochastic, stochastic_goal});
  cases.push_back({"bf16", spec("bf16"), stochastic, stochastic_bf16_goal});
  for (const char* name : {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8"})
    cases.push_back({name, spec(name), nearest_even, block_goal});
  return cases;
}

/// f32 to f32 in place.
PreparedWork prepare_values(const ConversionCase& one, const Bench& bench) {
  const auto x = std::make_shared<HugeArray<float>>(bench.elements());
  const ArrayConverter convert(one.format, one.rounding, saturating);
  const bool draws = one.rounding.random_bits > 0;
  return {[x, convert, draws, bench] {
            constexpr RandomStream stream{1, 1, 0, 0, RandomPurpose::rounding, 0};
            for_each_part(bench, [&](std::size_t first, std::size_t count) {
              const std::span<float> part(x->data() + first, count);
              ArrayConverter own = convert;  // its buffers are a thread's own
              own.values(part, part, 1.0f, draws ? &stream : nullptr, first);
            });
          },
          [x, bench] { std::memcpy(x->data(), bench.normal.data(), bench.normal.size_bytes()); }};
}

/// Codes and scales of one tensor.
struct Packed {
  Packed(const BlockFormat& f, std::size_t elements)
      : format(f),
        codes(packed_bytes(f.element, elements)),
        scales(packed_bytes(f.scale, elements / f.shape.columns)) {}

  std::uint8_t* codes_at(std::size_t first) const {
    return codes.data() + packed_bytes(format.element, first);
  }
  std::uint8_t* scales_at(std::size_t first) const {
    return scales.data() + packed_bytes(format.scale, first / format.shape.columns);
  }

  BlockFormat format;
  HugeArray<std::uint8_t> codes, scales;
};

/// The decode multiplier of a tensor with amax 6: given, not searched for.
constexpr float given_tensor_scale = 6.0f / 2688;

void encode(const ArrayConverter& convert, const Bench& bench, const Packed& packed) {
  for_each_part(bench, [&](std::size_t first, std::size_t count) {
    ArrayConverter own = convert;
    own.encode(bench.normal.subspan(first, count), packed.codes_at(first), packed.scales_at(first),
               given_tensor_scale, nullptr, first);
  });
}

PreparedWork prepare_encode(const Bench& bench) {
  const BlockFormat format = spec("nvfp4");
  const auto packed = std::make_shared<Packed>(format, bench.elements());
  return {[packed, convert = ArrayConverter(format, nearest_even, saturating), bench] {
    encode(convert, bench, *packed);
  }};
}

PreparedWork prepare_decode(const Bench& bench) {
  const BlockFormat format = spec("nvfp4");
  const auto packed = std::make_shared<Packed>(format, bench.elements());
  const auto out = std::make_shared<HugeArray<float>>(bench.elements());
  const ArrayConverter convert(format, nearest_even, saturating);
  encode(convert, bench, *packed);
  return {[packed, out, convert, bench] {
    for_each_part(bench, [&](std::size_t first, std::size_t count) {
      ArrayConverter own = convert;
      own.decode(packed->codes_at(first), packed->scales_at(first), given_tensor_scale,
                 std::span(out->data() + first, count));
    });
  }};
}

}  // namespace

std::vector<Work> conversion_works() {
  std::vector<Work> works;
  for (const ConversionCase& one : value_cases()) {
    const std::string rounding = is_stochastic(one.rounding.mode) ? "stochastic" : "nearest even";
    works.push_back({.name = std::string(one.name) + " " + rounding,
                     .what = "fake-quantise f32 in place, " + rounding +
                             (one.rounding.random_bits > 0 ? ", Philox4x32-10, 16 bits each" : ""),
                     .bytes_read = 4,
                     .bytes_written = 4,
                     .reference = rmw,
                     .goal_ratio = one.goal_ratio,
                     .prepare = [one](const Bench& bench) { return prepare_values(one, bench); }});
  }
  constexpr double nvfp4_bytes = 0.5 + 1.0 / 16;
  works.push_back({.name = "nvfp4 encode",
                   .what = "f32 to packed codes and scales, tensor scale given",
                   .bytes_read = 4,
                   .bytes_written = nvfp4_bytes,
                   .reference = pure_read,
                   .goal_ratio = 1.4,
                   .prepare = prepare_encode});
  works.push_back({.name = "nvfp4 decode",
                   .what = "packed codes and scales to f32",
                   .bytes_read = nvfp4_bytes,
                   .bytes_written = 4,
                   .reference = streaming_write,
                   .goal_ratio = 1.05,
                   .prepare = prepare_decode});
  return works;
}

}  // namespace halfulp
