// What a slot stores, and what it says of it: against quantize(), and against numbers worked by hand.
#include "optimizers/slot.h"

#include <doctest/doctest.h>

#include "emulation/quantize.h"
#include "formats/spec.h"
#include "tests/optimizers/additive_rule.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

using test::same_bits;
using test::Stored;
using Seen = test::Recorder<double>::Seen;

SlotPlan plan_of(const BlockFormat& format, ScalePolicy scale, Rounding rounding = nearest_even) {
  return {format, rounding, OverflowPolicy::saturate, scale};
}
BlockFormat named(std::string_view name) { return parse_format(name); }

constexpr ScalePolicy keep{ScalePolicyKind::keep, 0}, delayed{ScalePolicyKind::delayed, 0};
constexpr ScalePolicy lazy(int headroom) { return {ScalePolicyKind::lazy, headroom}; }

std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(test::log_spread(seed, 0, i, 12));
  return out;
}

/// All pairs of sizes that leave short blocks at the ends of rows and of the tensor.
const std::vector<std::vector<std::size_t>> shapes{{1},      {5},   {10},       {3, 10},
                                                   {2, 785}, {257}, {2, 3, 48}, {300}};

TEST_CASE("slot: under recompute a store is quantize() of wanted, in every named format") {
  const auto check = [](const BlockFormat& format, Rounding rounding) {
    for (const auto& shape : shapes) {
      const TensorInfo info{"w", 3, shape, 0};
      const std::vector<double> start = numbers(info.size(), 1), change = numbers(info.size(), 2);
      OptimizedTensor<test::Additive, double> tensor(
          info, test::weights_in(plan_of(format, recompute_scale, rounding)), start);
      const Tensor initial =
          quantize(start, shape, format, nearest_even, special_values(OverflowPolicy::saturate), {}, {});
      test::Recorder<double> seen;
      tensor.step({}, {9, 1.0, 77}, {change}, nullptr, seen);

      std::vector<double> wanted = dequantize(initial);
      for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] += change[i];
      const RandomStream stream{77, 9, 3, 0, RandomPurpose::rounding, 0};
      const Tensor expected = quantize(wanted, shape, format, rounding,
                                       special_values(OverflowPolicy::saturate), {stream, 0}, {});
      const Tensor& got = tensor.weight(0).tensor();
      CHECK(got.code_bytes() == expected.code_bytes());
      CHECK(got.scale_bytes() == expected.scale_bytes());
      CHECK(got.tensor_scale(0) == expected.tensor_scale(0));
      const std::vector<double> values = dequantize(expected);
      std::vector<double> loaded(values.size());
      tensor.weight(0).load(0, std::span(loaded));
      CHECK(std::equal(values.begin(), values.end(), loaded.begin(),
                       [](double a, double b) { return same_bits(a, b); }));
      for (const Seen& tile : seen.tiles)
        for (std::size_t i = 0; i < tile.after.size(); ++i)
          CHECK(same_bits(tile.after[i], values[tile.first + i]));
    }
  };
  for (const NamedBlockFormat& known : all_block_formats) {
    CAPTURE(known.name);
    check(known.format, nearest_even);
    check(known.format, stochastic);
  }
  for (const NamedScalarFormat& known : all_scalar_formats) {
    CAPTURE(known.name);
    check(unscaled(known.format), nearest_even);
    check(unscaled(known.format), {RoundingMode::stochastic_b, 20});
  }
}

TEST_CASE("slot: under recompute the first values are quantize() of them") {
  for (const NamedBlockFormat& known : all_block_formats)
    for (const auto& shape : shapes) {
      std::size_t size = 1;
      for (const std::size_t extent : shape) size *= extent;
      const std::vector<double> start = numbers(size, 4);
      Slot<float> slot(plan_of(known.format, recompute_scale, stochastic), shape);
      slot.initialize(start);
      const Tensor expected = quantize(start, shape, known.format, nearest_even,
                                       special_values(OverflowPolicy::saturate), {}, {});
      CHECK(slot.tensor().code_bytes() == expected.code_bytes());
      CHECK(slot.tensor().scale_bytes() == expected.scale_bytes());
    }
}

TEST_CASE("slot: the number type itself is stored as it is") {
  const SlotPlan twin{std::nullopt, nearest_even, OverflowPolicy::ieee, recompute_scale};
  Stored<double> exact(twin, {3}, {0.1, -0.0, 1e-300});
  const Seen seen = exact.add({1e-17, 0, 1e-305});
  CHECK(exact.values() == std::vector<double>{0.1 + 1e-17, 0, 1e-300 + 1e-305});
  CHECK(seen.unmoved == seen.before);
  CHECK(seen.multiplier == std::vector<double>{1, 1, 1});
  // fp32 under a float rule is native, under a double rule it rounds.
  CHECK(Slot<float>(plan_of(unscaled(fp32), recompute_scale), {3}).is_native());
  CHECK_FALSE(Slot<double>(plan_of(unscaled(fp32), recompute_scale), {3}).is_native());
}

// Powers of two as scales: 448 is the largest e4m3; one tensor.
TEST_CASE("lazy tensor scale: kept inside the band, changed outside, by hand") {
  for (const int h : {0, 1, 2}) {
    const double band = std::ldexp(1.0, -h);  // the scale is 1/band times what 448 needs
    Stored<double> w(plan_of(named("fp8_tensor"), lazy(h)), {2}, {448, 64});
    CHECK(w.tensor.weight(0).tensor().multiplier(0) == 1 / band);
    CHECK(w.values() == std::vector<double>{448, 64});

    Seen seen = w.add({-208, 0});  // 240 > 0.45 * 448 = 201.6: kept
    CHECK(seen.multiplier[0] == 1 / band);
    CHECK(seen.after == std::vector<double>{240, 64});
    CHECK(same_bits(seen.unmoved[0], seen.before[0]));

    seen = w.add({-32, 0});  // 208 is inside still
    CHECK(seen.multiplier[0] == 1 / band);
    seen =
        w.add({-8, 0});  // 200 < 201.6: half the scale; 200 lies between 192 and 208 and ties to the even 192
    CHECK(seen.multiplier[0] == 0.5 / band);
    CHECK(seen.wanted[0] == 200);
    CHECK(seen.after[0] == 192);
    CHECK(seen.before[0] == 208);

    seen = w.add({448.0 / 2 / band - 192, 0});  // exactly at S max: kept
    CHECK(seen.wanted[0] == 448 * 0.5 / band);
    CHECK(seen.multiplier[0] == 0.5 / band);
    seen = w.add({1, 0});  // beyond: chosen anew with headroom
    CHECK(seen.multiplier[0] == (1 / band) / band);
  }
}

TEST_CASE("lazy tensor scale: zeros keep the scale, and the first numbers choose one") {
  Stored<double> w(plan_of(named("fp8_tensor"), lazy(1)), {2}, {0, 0});
  CHECK(w.tensor.weight(0).tensor().multiplier(0) == 1);
  Seen seen = w.add({0, 0});
  CHECK(seen.multiplier[0] == 1);
  seen = w.add({0x1p-20, 0});  // 2^-20 / 448 -> 2^-28 holds it, one binade of headroom on top
  CHECK(seen.multiplier[0] == 0x1p-27);
  CHECK(seen.after[0] == 0x1p-20);
  seen = w.add({-0x1p-20, 0});
  CHECK(seen.multiplier[0] == 0x1p-27);
}

TEST_CASE("recomputed fp32 tensor scale: an element without an update moves, by hand") {
  // 448 and 13: the scale is 1 and 13 is an e4m3 number. The largest becomes 480: scale 480/448 = 15/14, and
  // 13 / (15/14) = 12.133.. rounds to 12 (steps of 1), which reads 12 * 15/14 = 12.857..: collateral
  // movement.
  Stored<double> w(plan_of(named("fp8_tensor"), recompute_scale), {2}, {448, 13});
  const Seen seen = w.add({32, 0});
  const auto scale = static_cast<float>(15.0 / 14);
  CHECK(seen.multiplier[1] == scale);
  CHECK(seen.wanted[1] == 13);
  CHECK(seen.unmoved[1] == static_cast<float>(12.0 * scale));
  CHECK(seen.after[1] == seen.unmoved[1]);
  CHECK(seen.before[1] == 13);
  // The other way round a lazy scale keeps it: one binade of headroom.
  Stored<double> calm(plan_of(named("fp8_tensor"), lazy(1)), {2}, {448, 13});
  const Seen still = calm.add({32, 0});
  CHECK(still.after == std::vector<double>{480, 13});
  CHECK(still.unmoved == still.before);
}

TEST_CASE("e8m0 recomputed, rounded up: by hand") {
  // e2m1: 6 is the largest. 7 needs 2 (7/2 = 3.5, a tie between 3 and 4: even is 4); back below 6 the scale
  // is 1.
  Stored<double> w(plan_of(named("mxfp4_rceil"), recompute_scale), {3}, {6, 0.5, 3});
  CHECK(w.tensor.weight(0).tensor().multiplier(0) == 1);
  Seen seen = w.add({1, 0, 0});
  CHECK(seen.multiplier[0] == 2);
  CHECK(seen.after == std::vector<double>{8, 0, 3});    // 0.5/2 = 0.25: a tie to zero; 3/2 is on the grid
  CHECK(seen.unmoved == std::vector<double>{6, 0, 3});  // 6/2 = 3
  seen = w.add({-2, 0, 0});
  CHECK(seen.multiplier[0] == 1);
  CHECK(seen.after == std::vector<double>{6, 0, 3});
  CHECK(seen.unmoved == std::vector<double>{6, 0, 3});  // 8 saturates under the new scale
}

TEST_CASE("nvfp4 lazy: when the tensor scale changes, blocks keep their multipliers where those exist") {
  // Two blocks of 16: maxima 6 * 2^10 and 6. h = 0: t = 2^(10 - 8), block scales 256 and 2^-2.
  std::vector<double> start(32, 0.0);
  start[0] = 6144, start[16] = 6, start[17] = 0.5;
  Stored<double> w(plan_of(named("nvfp4"), lazy(0)), {2, 16}, start);
  const Tensor& t = w.tensor.weight(0).tensor();
  CHECK(t.tensor_scale(0).decode == 4);
  CHECK(t.multiplier(0) == 1024);
  CHECK(t.multiplier(1) == 1);

  std::vector<double> grow(32, 0.0);
  grow[0] = 6144;  // 12288: t and the first block double, the second keeps 1 with code 2^-3
  Seen seen = w.add(grow);
  CHECK(t.tensor_scale(0).decode == 8);
  CHECK(t.multiplier(0) == 2048);
  CHECK(t.multiplier(1) == 1);
  CHECK(decode(ue4m3, t.scale_code(1)) == 0.125);
  CHECK(seen.unmoved[17] == 0.5);
  CHECK(seen.after[17] == 0.5);

  grow[0] =
      12288.0 * 1023;  // t = 2^13, the smallest block scale 2^-9 gives 16: the multiplier 1 exists no more
  seen = w.add(grow);
  CHECK(t.tensor_scale(0).decode == 8192);
  CHECK(t.multiplier(1) == 16);
  CHECK(seen.unmoved[16] == 8);  // 6 / 16 = 0.375 rounds to 0.5
  CHECK(seen.after[16] == 8);
  CHECK(seen.unmoved[17] == 0);
}

TEST_CASE("keep: scales never change, larger numbers saturate") {
  Stored<double> w(plan_of(named("fp8_tensor"), keep), {2}, {448, 13});
  Seen seen = w.add({1000, 0.25});
  CHECK(seen.multiplier[0] == 1);
  CHECK(seen.after == std::vector<double>{448, 13});
  CHECK(seen.unmoved == seen.before);
  seen = w.add({-448, 0});
  CHECK(seen.multiplier[0] == 1);

  std::vector<double> start(32, 1.0);
  Stored<double> blocks(plan_of(named("nvfp4"), keep), {32}, start);
  const auto scales = blocks.tensor.weight(0).tensor().scale_bytes();
  blocks.add(std::vector<double>(32, 100.0));
  CHECK(blocks.tensor.weight(0).tensor().scale_bytes() == scales);
  for (const double v : blocks.values()) CHECK(v == doctest::Approx(1).epsilon(0x1p-20));
}

TEST_CASE("delayed: the scale comes from the values stored before") {
  Stored<double> w(plan_of(named("fp8_tensor"), delayed), {2}, {448, 13});
  Seen seen = w.add({448, 0});  // scale still 448/448: 896 saturates
  CHECK(seen.multiplier[0] == 1);
  CHECK(seen.after[0] == 448);
  seen = w.add({-224, 0});
  CHECK(seen.multiplier[0] == 1);
  CHECK(seen.after[0] == 224);
  seen = w.add({0, 0});  // now from 224
  CHECK(seen.multiplier[0] == 0.5);
  CHECK(seen.unmoved == std::vector<double>{224, 13});
}

TEST_CASE("unmoved: before itself while the scale stays, before stored again when it changes") {
  for (const NamedBlockFormat& known : all_block_formats)
    for (const ScalePolicy policy : {recompute_scale, lazy(1), keep, delayed})
      for (const Rounding rounding : {nearest_even, stochastic}) {
        CAPTURE(known.name);
        const TensorInfo info{"w", 0, {4, 48}, 0};
        OptimizedTensor<test::Additive, double> tensor(
            info, test::weights_in(plan_of(known.format, policy, rounding)), numbers(info.size(), 5));
        std::vector<double> scale_before(info.size());
        for (std::uint64_t t = 1; t <= 12; ++t) {
          for (std::size_t i = 0; i < info.size(); ++i) {
            const Tensor& stored = tensor.weight(0).tensor();
            scale_before[i] = stored.multiplier(stored.block_of(i));
          }
          std::vector<double> change(info.size());
          for (std::size_t i = 0; i < change.size(); ++i)
            change[i] = (t % 3 == 0 ? 2 : 0.05) * test::uniform(6, static_cast<std::uint32_t>(t), i);
          test::Recorder<double> recorder;
          tensor.step({}, {t, 1.0, 5}, {change}, nullptr, recorder);
          const Converter converter(known.format.element, rounding, special_values(OverflowPolicy::saturate));
          const RandomStream stream{5, static_cast<std::uint32_t>(t), 0, 0, RandomPurpose::rounding, 0};
          for (const Seen& tile : recorder.tiles)
            for (std::size_t i = 0; i < tile.after.size(); ++i) {
              const std::size_t e = tile.first + i;
              const double multiplier = tile.multiplier[i];
              const auto stored = [&](double x) -> double {
                const std::uint32_t bits = random_bits(stream, e, rounding.random_bits);
                return static_cast<float>(
                    element_in_block(x, true, exact_divisor(multiplier), converter, bits) * multiplier);
              };
              CHECK(tile.after[i] == stored(tile.wanted[i]));
              CHECK(same_bits(tile.unmoved[i],
                              multiplier == scale_before[e] ? tile.before[i] : stored(tile.before[i])));
            }
        }
      }
}

TEST_CASE("nan and infinity: the block is poisoned and the rest of the tensor is not") {
  for (const double poison :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()})
    for (const char* name : {"mxfp4_rceil", "mxfp8_e4m3", "nvfp4", "fp8_block256"})
      for (const ScalePolicy policy : {recompute_scale, lazy(1)}) {
        CAPTURE(name);
        const BlockFormat format = named(name);
        if (format.has_tensor_scale() && policy.kind == ScalePolicyKind::recompute) continue;
        Stored<double> w(plan_of(format, policy), {2, 256}, std::vector<double>(512, 1.0));
        std::vector<double> change(512, 0.0);
        change[300] = poison;
        test::Recorder<double> seen;
        w.tensor.step({}, {1, 1.0, 1}, {change}, nullptr, seen);
        const std::vector<double> values = w.values();
        const Tensor& stored = w.tensor.weight(0).tensor();
        for (std::size_t i = 0; i < values.size(); ++i)
          CHECK((values[i] != values[i]) == (stored.block_of(i) == stored.block_of(300)));
      }
}

TEST_CASE("nan and infinity: a recomputed tensor scale poisons the tensor") {
  for (const char* name : {"nvfp4", "fp8_tensor"}) {
    Stored<double> w(plan_of(named(name), recompute_scale), {2, 16}, std::vector<double>(32, 1.0));
    std::vector<double> change(32, 0.0);
    change[20] = std::numeric_limits<double>::infinity();
    w.add(change);
    for (const double v : w.values()) CHECK(v != v);
  }
}

TEST_CASE("nan and infinity: initial values poison their block under every policy") {
  for (const double poison :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (const char* name : {"mxfp4_rceil", "nvfp4", "fp8_block256", "fp8_tensor"})
      for (const ScalePolicy policy : {recompute_scale, lazy(1), keep, delayed}) {
        CAPTURE(name);
        CAPTURE(to_string(policy));
        std::vector<double> start(32, 1.0);
        start[3] = poison;
        Slot<double> slot(plan_of(named(name), policy), {2, 16});
        slot.initialize(start);
        std::vector<double> values(32);
        slot.load(0, std::span(values));
        CHECK(values[3] != values[3]);
        CHECK(values[4] != values[4]);
      }
}

TEST_CASE("nan: what is stored does not depend on the sign or payload the processor gave it") {
  // Inf - Inf is -NaN on x86 and +NaN elsewhere.
  const double plus = std::numeric_limits<double>::quiet_NaN();
  const auto bytes = [](const SlotPlan& plan, double nan) {
    Stored<float> w(plan, {4}, {1, 1, 1, 1});
    w.add({static_cast<float>(nan), 0, 0, 0});
    std::vector<std::uint8_t> all;
    w.tensor.weight(0).visit_bytes(
        [&](const std::uint8_t* data, std::size_t size) { all.insert(all.end(), data, data + size); });
    return all;
  };
  for (const char* name :
       {"bf16", "fp16", "fp32", "e4m3", "e5m2", "e2m1", "fp8_tensor", "nvfp4", "mxfp4_rceil"}) {
    CAPTURE(name);
    const SlotPlan plan = plan_of(named(name), recompute_scale);
    CHECK(bytes(plan, plus) == bytes(plan, -plus));
  }
}

TEST_CASE("slot: an overflowing scale saturates and a vanishing one leaves signed zeros") {
  Stored<double> w(plan_of(named("fp8_tensor"), recompute_scale), {2}, {0x1p-200, -0x1p-200});
  CHECK(w.values() == std::vector<double>{0, 0});
  CHECK(std::signbit(w.values()[1]));
}

TEST_CASE("slot: without an update a weight keeps its code in every mode, though fl32(q s) is not q s") {
  for (const NamedRoundingMode& mode : all_rounding_modes)
    for (int k = 0; k < 100; ++k) {
      const Rounding rounding{mode.mode, is_stochastic(mode.mode) ? 16 : 0};
      Stored<double> w(plan_of(named("fp8_tensor"), keep, rounding), {2}, {1 + k * 0.01, 0.3 + k * 0.003});
      const std::vector<double> before = w.values();
      for (int t = 0; t < 5; ++t) w.add({0, 0});
      CHECK(w.values() == before);
    }
}

TEST_CASE("slot: a tensor of subnormal numbers keeps a tensor scale that is a number") {
  for (const double largest : {0x1p-149, 0x1p-145, 0x1p-140}) {
    Stored<float> w(plan_of(named("nvfp4"), lazy(1)), {16}, std::vector<double>(16, largest));
    CHECK(w.tensor.weight(0).tensor().tensor_scale(0).decode > 0);
    CHECK(w.add(std::vector<float>(16, static_cast<float>(largest))).multiplier[0] > 0);
  }
}

TEST_CASE("slot: bytes are codes, then scales, then the tensor scale") {
  std::vector<std::size_t> sizes;
  const auto sink = [&](const std::uint8_t*, std::size_t size) { sizes.push_back(size); };
  Slot<float>(plan_of(named("nvfp4"), lazy(1)), {2, 20}).visit_bytes(sink);
  CHECK(sizes == std::vector<std::size_t>{20, 4, 4});
  sizes.clear();
  Slot<float>(plan_of(unscaled(fp32), recompute_scale), {10}).visit_bytes(sink);
  CHECK(sizes == std::vector<std::size_t>{40});
}

}  // namespace
}  // namespace halfulp
