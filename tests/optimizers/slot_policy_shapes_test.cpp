// Scale policies in every block shape: where the scales come from, and that a step reports what it stored.
#include <doctest/doctest.h>

#include "emulation/parallel.h"
#include "emulation/quantize.h"
#include "formats/catalog.h"
#include "tests/optimizers/additive_rule.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

using test::same_bits;

constexpr SpecialValues saturating = special_values(OverflowPolicy::saturate);
constexpr ScalePolicy keep{ScalePolicyKind::keep, 0}, delayed{ScalePolicyKind::delayed, 0},
    lazy{ScalePolicyKind::lazy, 1};

const std::vector<BlockShape> block_shapes{
    {BlockAxis::tile, 16, 16}, {BlockAxis::tile, 1, 32},    {BlockAxis::tile, 16},
    {BlockAxis::tile, 0},      {BlockAxis::tile, 1, 0},     {BlockAxis::tile, 0, 0},
    {BlockAxis::tile, 5, 3},   {BlockAxis::flattened, 100}, {BlockAxis::tensor, 0}};

std::vector<BlockFormat> formats_of(const BlockShape& shape) {
  std::vector<BlockFormat> all;
  for (const BlockFormat& f :
       {mx(e4m3, ScaleRule::rceil), mx(e2m1, ScaleRule::ocp_floor), scaled_by_fp32(e5m2, shape), nvfp4,
        with_conventions(nvfp4, {.arithmetic = ScaleArithmetic::reciprocal}),
        with_tensor_scale(nvfp4, TensorScale::row)})
    if (f.tensor_scale != TensorScale::row || (shape.axis == BlockAxis::tile && shape.rows == 1))
      all.push_back(with_shape(f, shape));
  return all;
}

std::vector<double> numbers(std::size_t count, std::uint32_t step, double factor) {
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(factor * test::log_spread(21, step, i, 8));
  return out;
}

SlotPlan plan_of(const BlockFormat& f, ScalePolicy policy, Rounding rounding) {
  return {f, rounding, OverflowPolicy::saturate, policy};
}

}  // namespace

TEST_CASE(
    "slot policies: a step reports what loads read back, the multiplier in force, and before under it") {
  for (const BlockShape& shape : block_shapes)
    for (const BlockFormat& format : formats_of(shape))
      for (const ScalePolicy policy : {recompute_scale, lazy, keep, delayed})
        for (const Rounding rounding : {nearest_even, stochastic}) {
          CAPTURE(to_string(policy));
          CAPTURE(shape.rows);
          CAPTURE(shape.columns);
          const TensorInfo info{"w", 3, {40, 33}, 0};
          OptimizedTensor<test::Additive, double> tensor(
              info, test::weights_in(plan_of(format, policy, rounding)), numbers(info.size(), 0, 1));
          const Tensor& stored = tensor.weight(0).tensor();
          const Converter converter(format.element, rounding, saturating);
          for (std::uint32_t step = 1; step <= 5; ++step) {
            const std::vector<double> before = dequantize(stored);
            std::vector<double> multiplier_before;
            for (std::size_t i = 0; i < info.size(); ++i)
              multiplier_before.push_back(stored.multiplier(stored.block_of(i)));
            test::Recorder<double> seen;
            tensor.step({}, {step, 1.0, 8}, {numbers(info.size(), step, step == 3 ? 30 : 0.02)}, nullptr,
                        seen);
            const std::vector<double> after = dequantize(stored);
            const RandomStream stream{8, step, 3, 0, RandomPurpose::rounding, 0};
            std::size_t next = 0, wrong = 0, scales_changed = 0;
            for (const auto& tile : seen.tiles)
              for (std::size_t i = 0; i < tile.after.size(); ++i, ++next) {
                const std::size_t block = stored.block_of(next);
                const double multiplier = stored.multiplier(block);
                wrong += tile.first + i == next && same_bits(tile.after[i], after[next]) ? 0 : 1;
                wrong += same_bits(tile.before[i], before[next]) ? 0 : 1;
                wrong += tile.multiplier[i] == multiplier ? 0 : 1;
                if (multiplier == multiplier_before[next]) {
                  wrong += same_bits(tile.unmoved[i], before[next]) ? 0 : 1;
                  continue;
                }
                ++scales_changed;
                const BlockDivisor divisor =
                    block_divisor(format, stored.scale_code(block), stored.tensor_scale_of_block(block));
                const std::uint32_t bits = random_bits(stream, next, rounding.random_bits);
                const auto again = [&](double x) -> double {
                  return to_float(element_in_block(x, true, divisor, converter, bits) * multiplier);
                };
                wrong += same_bits(tile.unmoved[i], again(before[next])) ? 0 : 1;
                wrong += same_bits(tile.after[i], again(tile.wanted[i])) ? 0 : 1;
              }
            CHECK(next == info.size());
            CHECK(wrong == 0);
            if (policy.kind == ScalePolicyKind::keep) CHECK(scales_changed == 0);
            if (policy.kind == ScalePolicyKind::recompute && step == 3) CHECK(scales_changed > 0);
          }
        }
}

TEST_CASE("slot policies: delayed scales are those of the values stored before") {
  for (const BlockShape& shape : block_shapes)
    for (const BlockFormat& format : formats_of(shape)) {
      CAPTURE(shape.rows);
      CAPTURE(shape.columns);
      const TensorInfo info{"w", 3, {40, 33}, 0};
      OptimizedTensor<test::Additive, double> tensor(
          info, test::weights_in(plan_of(format, delayed, nearest_even)), numbers(info.size(), 0, 1));
      const Tensor& stored = tensor.weight(0).tensor();
      for (std::uint32_t step = 1; step <= 4; ++step) {
        const Tensor of_before =
            quantize(dequantize(stored), info.shape, format, nearest_even, saturating, {}, {});
        NoProbe nobody;
        tensor.step({}, {step, 1.0, 8}, {numbers(info.size(), step, step == 2 ? 10 : 0.1)}, nullptr, nobody);
        CHECK(stored.scale_bytes() == of_before.scale_bytes());
        for (std::size_t i = 0; i < of_before.tensor_scale_count(); ++i)
          CHECK(stored.tensor_scale(i) == of_before.tensor_scale(i));
      }
    }
}

TEST_CASE("slot policies: the bytes do not depend on the number of threads") {
  ThreadPool two(2), three(3);
  for (const BlockShape& shape : block_shapes)
    for (const BlockFormat& format : formats_of(shape))
      for (const ScalePolicy policy : {lazy, keep, delayed}) {
        CAPTURE(to_string(policy));
        CAPTURE(shape.rows);
        CAPTURE(shape.columns);
        const TensorInfo info{"w", 3, {80, 33}, 0};
        const auto run = [&](ThreadPool* pool) {
          OptimizedTensor<test::Additive, float> tensor(
              info, test::weights_in(plan_of(format, policy, stochastic)), numbers(info.size(), 0, 1));
          for (std::uint32_t step = 1; step <= 4; ++step) {
            const std::vector<double> change = numbers(info.size(), step, step == 3 ? 30 : 0.02);
            NoProbe nobody;
            tensor.step({}, {step, 1.0, 8}, {std::vector<float>(change.begin(), change.end())}, pool, nobody);
          }
          std::vector<std::uint8_t> bytes;
          tensor.weight(0).visit_bytes([&](const std::uint8_t* data, std::size_t size) {
            bytes.insert(bytes.end(), data, data + size);
          });
          return bytes;
        };
        const std::vector<std::uint8_t> alone = run(nullptr);
        CHECK(run(&two) == alone);
        CHECK(run(&three) == alone);
      }
}

TEST_CASE(
    "slot policies: whatever chooses them, no scale lies below the floor or above the highest exponent") {
  const BlockFormat floored = with_conventions(nvfp4, {.floor = 0x1p-6});
  BlockFormat limited = mx(e2m1, ScaleRule::rceil);
  limited.conventions.highest_exponent = 2;
  for (const ScalePolicy policy : {recompute_scale, lazy, delayed}) {
    CAPTURE(to_string(policy));
    std::vector<double> start(32, 0x1p-20);
    start[0] = 448;
    test::Stored<double> small(plan_of(floored, policy, nearest_even), {32}, start);
    CHECK(decode(ue4m3, small.tensor.weight(0).tensor().scale_code(1)) >= 0x1p-6);
    test::Stored<double> large(plan_of(limited, policy, nearest_even), {32}, std::vector<double>(32, 1000));
    CHECK(large.tensor.weight(0).tensor().multiplier(0) <= 4);
    for (int step = 0; step < 3; ++step) {
      small.add(std::vector<double>(32, 0x1p-21));
      large.add(std::vector<double>(32, 1000));
      CHECK(decode(ue4m3, small.tensor.weight(0).tensor().scale_code(1)) >= 0x1p-6);
      CHECK(large.tensor.weight(0).tensor().multiplier(0) <= 4);
    }
  }
}

TEST_CASE(
    "slot policies: blocks are flushed with the choice of their scale, in every shape; kept scales flush "
    "nothing") {
  for (const BlockShape& shape : block_shapes)
    for (const ScalePolicy policy : {recompute_scale, lazy, keep, delayed}) {
      CAPTURE(to_string(policy));
      CAPTURE(shape.rows);
      CAPTURE(shape.columns);
      BlockFormat f = with_shape(mx(e4m3, ScaleRule::rceil), shape);
      f.conventions.subnormal_block = SubnormalBlock::flush;
      test::Stored<double> w(plan_of(f, policy, nearest_even), {2}, {0x1p-122, 0x1p-122});
      CHECK(w.values() == std::vector<double>{0x1p-122, 0x1p-122});
      w.add({0x1p-128 - 0x1p-122, 0x1p-129 - 0x1p-122});
      if (policy.kind == ScalePolicyKind::keep)
        CHECK(w.values() == std::vector<double>{0x1p-128, 0x1p-129});
      else
        CHECK(w.values() == std::vector<double>{0, 0});
      // And they come back: nothing keeps them at zero.
      w.add({0x1p-122, 0x1p-122});
      if (policy.kind != ScalePolicyKind::delayed)
        CHECK(w.values() == std::vector<double>{0x1p-122, 0x1p-122});
    }
}

}  // namespace halfulp
