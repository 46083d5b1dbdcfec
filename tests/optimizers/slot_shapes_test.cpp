// Slots in every block shape and under every convention: what a step stores is quantize() of what it wanted, whatever the
// number of threads, and what it reports is what it stored.
#include <doctest/doctest.h>

#include "emulation/parallel.h"
#include "emulation/quantize.h"
#include "formats/catalog.h"
#include "formats/spec/descriptor_checks.h"
#include "tests/optimizers/additive_rule.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

using test::same_bits;

constexpr SpecialValues saturating = special_values(OverflowPolicy::saturate);
constexpr std::uint64_t seed = 91;
constexpr std::uint32_t tensor_id = 6;

SlotPlan plan_of(const BlockFormat& format, Rounding rounding = nearest_even,
                 ScalePolicy scale = recompute_scale) {
  return {format, rounding, OverflowPolicy::saturate, scale};
}

const std::vector<BlockShape> block_shapes{
    {BlockAxis::tile, 16, 16},   {BlockAxis::tile, 1, 32},  {BlockAxis::tile, 32},
    {BlockAxis::tile, 0},        {BlockAxis::tile, 1, 0},   {BlockAxis::tile, 5, 3},
    {BlockAxis::tile, 0, 0},     {BlockAxis::tile, 300, 2}, {BlockAxis::flattened, 256},
    {BlockAxis::flattened, 100}, {BlockAxis::tensor, 0}};

const std::vector<std::vector<std::size_t>> tensor_shapes{{1}, {37}, {5, 7}, {20, 33}, {3, 10, 18}, {2, 300}};

std::size_t size_of(const std::vector<std::size_t>& shape) {
  std::size_t size = 1;
  for (const std::size_t extent : shape) size *= extent;
  return size;
}

std::vector<double> numbers(std::size_t count, std::uint64_t stream) {
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(test::log_spread(stream, 0, i, 9));
  return out;
}

/// Every catalog block format, and kinds of scale and convention that it does not have; shapes are put on later.
std::vector<NamedBlockFormat> formats() {
  std::vector<NamedBlockFormat> all;
  for (const NamedBlockFormat& known : all_block_formats) all.push_back(known);
  const auto add = [&](const char* name, BlockFormat f, const ScaleConventions& conventions) {
    all.push_back({name, with_conventions(f, conventions)});
  };
  for (const NamedScaleRule& known : all_scale_rules) all.push_back({known.name, mx(e2m1, known.rule)});
  add("quotients", nvfp4, {.zero_block = ZeroBlock::one, .arithmetic = ScaleArithmetic::quotients});
  add("mixed", nvfp4, {.arithmetic = ScaleArithmetic::mixed, .floor = 0x1p-6});
  add("abs_max", nvfp4, {.four_over_six = FourOverSix::abs_max, .largest = 256});
  add("always_four", nvfp4, {.four_over_six = FourOverSix::always_four});
  add("zero_elements", mx(e4m3, ScaleRule::rceil), {.underflow = ScaleUnderflow::zero_elements});
  add("flush", mx(e4m3, ScaleRule::rceil), {.subnormal_block = SubnormalBlock::flush});
  add("ignore", mx(e5m2, ScaleRule::ocp_floor),
      {.nan = NanInBlock::ignore, .infinity = InfinityInBlock::ignore});
  add("saturate", mx(e4m3, ScaleRule::even),
      {.nan = NanInBlock::ignore, .infinity = InfinityInBlock::saturate});
  all.push_back({"ue5m3", {int8, {BlockAxis::tile, 16}, ue5m3, ScaleRule::amax, TensorScale::none}});
  return all;
}

/// Amax of the numbers of a block by its format's conventions.
double amax_of_block(const Tensor& tensor, const std::vector<double>& numbers, std::size_t block) {
  std::vector<double> members;
  tensor.for_each_run(block, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) members.push_back(numbers[i]);
  });
  const std::span<const double> all(members);
  return amax_by_conventions(amax(all), all, tensor.format().conventions);
}

/// One tensor, stepped with given changes; each step compared with quantize() of what it wanted.
template <class R>
void step_and_compare(const BlockFormat& format, const std::vector<std::size_t>& shape, Rounding rounding,
                      const std::vector<double>& start, const std::vector<std::vector<R>>& changes) {
  const TensorInfo info{"w", tensor_id, shape, 0};
  OptimizedTensor<test::Additive, R> tensor(info, test::weights_in(plan_of(format, rounding)), start);
  Tensor stored = quantize(start, shape, format, nearest_even, saturating, {}, {});
  CHECK(tensor.weight(0).tensor().code_bytes() == stored.code_bytes());
  CHECK(tensor.weight(0).tensor().scale_bytes() == stored.scale_bytes());
  for (std::size_t step = 0; step < changes.size(); ++step) {
    const std::vector<double> before = dequantize(stored);
    std::vector<double> wanted(before.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      wanted[i] = changes[step][i] == 0 ? before[i] : static_cast<R>(before[i]) + changes[step][i];
    const auto now = static_cast<std::uint32_t>(step + 1);
    const RandomStream stream{seed, now, tensor_id, 0, RandomPurpose::rounding, 0};
    test::Recorder<R> seen;
    tensor.step({}, {now, 1.0, seed}, {changes[step]}, nullptr, seen);
    const Tensor expected = quantize(wanted, shape, format, rounding, saturating, {stream, 0}, {});
    const Tensor& got = tensor.weight(0).tensor();
    INFO("step ", step);
    CHECK(got.code_bytes() == expected.code_bytes());
    CHECK(got.scale_bytes() == expected.scale_bytes());
    for (std::size_t i = 0; i < expected.tensor_scale_count(); ++i)
      CHECK(same_bits(got.tensor_scale(i).decode, expected.tensor_scale(i).decode));

    // What the probe was shown: all elements once, in order, with the scale and the numbers of now.
    const Converter converter(format.element, rounding, saturating);
    std::vector<bool> flushed_blocks;
    for (std::size_t block = 0; block < expected.block_count(); ++block)
      flushed_blocks.push_back(is_flushed(format, amax_of_block(expected, wanted, block)));
    std::size_t next = 0, wrong = 0;
    for (const auto& tile : seen.tiles) {
      CHECK(tile.first == next);
      next += tile.after.size();
      for (std::size_t i = 0; i < tile.after.size(); ++i) {
        const std::size_t e = tile.first + i, block = expected.block_of(e);
        const double multiplier = expected.multiplier(block), multiplier_before = stored.multiplier(block);
        wrong += same_bits(tile.after[i], static_cast<R>(expected.value(e))) ? 0 : 1;
        wrong += same_bits(tile.before[i], static_cast<R>(before[e])) ? 0 : 1;
        wrong += same_bits(tile.multiplier[i], multiplier) ? 0 : 1;
        const bool flushed = flushed_blocks[block];
        if (!flushed && same_bits(multiplier, multiplier_before) &&
            same_bits(tile.unmoved[i], tile.before[i]))
          continue;
        const BlockDivisor divisor = flushed ? zero_elements
                                             : block_divisor(format, expected.scale_code(block),
                                                             expected.tensor_scale_of_block(block));
        const double again = element_in_block(before[e], true, divisor, converter,
                                              random_bits(stream, e, rounding.random_bits));
        wrong += same_bits(tile.unmoved[i], static_cast<R>(to_float(again * multiplier))) ? 0 : 1;
      }
    }
    CHECK(next == info.size());
    CHECK(wrong == 0);
    stored = expected;
  }
}

template <class R>
std::vector<std::vector<R>> random_changes(std::size_t size) {
  std::vector<std::vector<R>> changes;
  for (const double factor : {0.1, 4.0, -0.9})
    for (std::vector<R>& change = changes.emplace_back(); change.size() < size;)
      change.push_back(static_cast<R>(
          factor *
          (0x1p-9 + test::log_spread(7, static_cast<std::uint32_t>(changes.size()), change.size(), 4))));
  return changes;
}

}  // namespace

TEST_CASE("slot shapes: a store is quantize() of wanted, in every format, block shape and tensor shape") {
  std::size_t turn = 0;
  for (const NamedBlockFormat& named : formats())
    for (const BlockShape& block : block_shapes) {
      if (refusal_of(with_shape(named.format, block))) continue;
      for (const auto& shape : tensor_shapes) {
        const std::size_t size = size_of(shape);
        const BlockFormat f = with_shape(named.format, block);
        CAPTURE(named.name);
        CAPTURE(block.rows);
        CAPTURE(block.columns);
        CAPTURE(size);
        // Every format meets every block in both, and in tensors of every kind.
        if (turn++ % 2 == 0)
          step_and_compare<double>(f, shape, nearest_even, numbers(size, 1), random_changes<double>(size));
        else
          step_and_compare<float>(f, shape, stochastic, numbers(size, 2), random_changes<float>(size));
      }
    }
}

TEST_CASE("slot shapes: NaN, infinities, zeros and subnormal blocks under every convention") {
  std::vector<double> start = numbers(48 * 20, 3);
  const std::size_t size = start.size();
  for (const NanInBlock of_nan : {NanInBlock::poison, NanInBlock::ignore})
    for (const InfinityInBlock of_infinity :
         {InfinityInBlock::poison, InfinityInBlock::saturate, InfinityInBlock::ignore})
      for (const SubnormalBlock of_subnormal : {SubnormalBlock::keep, SubnormalBlock::flush})
        for (const BlockFormat& plain :
             {mx(e4m3, ScaleRule::ocp_floor), nvfp4, scaled_by_fp32(e5m2, {BlockAxis::tensor, 0}),
              with_tensor_scale(nvfp4, TensorScale::row)})
          for (const BlockShape& block : block_shapes) {
            if (refusal_of(with_shape(plain, block))) continue;
            BlockFormat f = with_shape(plain, block);
            f.conventions.nan = of_nan, f.conventions.infinity = of_infinity;
            f.conventions.subnormal_block = of_subnormal;
            CAPTURE(static_cast<int>(of_nan));
            CAPTURE(static_cast<int>(of_infinity));
            CAPTURE(static_cast<int>(of_subnormal));
            CAPTURE(block.rows);
            CAPTURE(block.columns);
            CAPTURE(static_cast<int>(plain.tensor_scale));
            // A NaN, then an infinity, then both in some blocks; then all but a few numbers vanish.
            std::vector<std::vector<double>> changes(3, std::vector<double>(size, 0x1p-12));
            changes[0][size / 2] = std::nan("");
            changes[1][size / 3] = -HUGE_VAL;
            changes[2][size / 5] = HUGE_VAL, changes[2][size / 5 + 1] = std::nan("");
            for (const std::vector<double>& change : changes)
              step_and_compare<double>(f, {48, 20}, nearest_even, start, {change});
            std::vector<double> vanish(size), tiny(size);
            const Tensor first = quantize(start, {48, 20}, f, nearest_even, saturating, {}, {});
            for (std::size_t i = 0; i < size; ++i)
              vanish[i] = -first.value(i), tiny[i] = std::ldexp(start[i], -127 - static_cast<int>(i % 3));
            step_and_compare<double>(f, {48, 20}, nearest_even, start, {vanish, changes[0]});
            step_and_compare<double>(f, {48, 20}, nearest_even, start,
                                     {vanish, tiny, std::vector<double>(size, 0x1p-5)});
          }
}

TEST_CASE("slot shapes: a number that stays in a block that is flushed goes to zero with it") {
  // Under both amaxes the scale is 2^-127: 2^-120 stands at 2^7, and once it is gone 2^-130 is an fp32 subnormal alone.
  BlockFormat f = mx(e4m3, ScaleRule::ocp_floor);
  f.conventions.subnormal_block = SubnormalBlock::flush;
  for (const BlockShape& block : block_shapes)
    step_and_compare<double>(with_shape(f, block), {2}, nearest_even, {0x1p-120, 0x1p-130}, {{-0x1p-120, 0}});
}

namespace {

// Codes of four and six bits share bytes with their neighbours'.
constexpr ScalarFormat ue3m1{.is_signed = false,
                             .exponent_bits = 3,
                             .fraction_bits = 1,
                             .bias = 3,
                             .nan = NanEncoding::all_ones,
                             .has_negative_zero = false};
constexpr ScalarFormat ue4m2{.is_signed = false,
                             .exponent_bits = 4,
                             .fraction_bits = 2,
                             .bias = 7,
                             .nan = NanEncoding::all_ones,
                             .has_negative_zero = false};

}  // namespace

TEST_CASE("slot shapes: no two tiles share a byte of element codes or of scale codes") {
  for (const ScalarFormat& element : {e4m3, e2m1, e2m3})
    for (const ScalarFormat& scale : {ue3m1, ue4m2, ue4m3, fp32})
      for (const BlockShape& block : block_shapes)
        for (const auto& shape :
             std::vector<std::vector<std::size_t>>{{48, 33}, {256 * 7}, {31, 256}, {600, 3}}) {
          const BlockFormat f{element, block, scale, ScaleRule::amax, TensorScale::none};
          const OptimizedTensor<test::Additive, float> tensor(
              {"w", tensor_id, shape, 0}, test::weights_in(plan_of(f)), numbers(size_of(shape), 8));
          const std::size_t length = tensor.tile_length();
          if (length >= tensor.size() || block.axis == BlockAxis::tensor) continue;
          CAPTURE(block.rows);
          CAPTURE(block.columns);
          CAPTURE(shape);
          CAPTURE(scale.bits());
          const Tensor& stored = tensor.weight(0).tensor();
          CHECK(length * static_cast<std::size_t>(storage_bits(element)) % 8 == 0);
          CHECK(stored.block_of(length) * static_cast<std::size_t>(storage_bits(scale)) % 8 == 0);
          CHECK(stored.block_of(length) == stored.block_of(length - 1) + 1);
        }
}

TEST_CASE("slot shapes: the same bytes from one thread, two and three") {
  ThreadPool two(2), three(3);
  std::vector<NamedBlockFormat> all = formats();
  for (const ScalarFormat& scale : {ue3m1, ue4m2})
    all.push_back(
        {"narrow scale", {e4m3, {BlockAxis::flattened, 256}, scale, ScaleRule::amax, TensorScale::none}});
  for (const NamedBlockFormat& named : all)
    for (const BlockShape& block : {BlockShape{BlockAxis::tile, 16, 16},
                                    {BlockAxis::tile, 1, 32},
                                    {BlockAxis::tile, 16},
                                    {BlockAxis::tile, 7},
                                    {BlockAxis::flattened, 256},
                                    {BlockAxis::tensor, 0}}) {
      if (refusal_of(with_shape(named.format, block))) continue;
      CAPTURE(named.name);
      CAPTURE(block.rows);
      CAPTURE(block.columns);
      const TensorInfo info{"w", tensor_id, {80, 33}, 0};
      const std::vector<double> start = numbers(info.size(), 4);
      const auto changes = random_changes<float>(info.size());
      const auto run = [&](ThreadPool* pool) {
        OptimizedTensor<test::Additive, float> tensor(
            info, test::weights_in(plan_of(with_shape(named.format, block), stochastic)), start);
        std::uint32_t now = 0;
        std::vector<float> reported;
        for (int round = 0; round < 2; ++round)
          for (const std::vector<float>& change : changes) {
            test::Recorder<float> seen;
            tensor.step({}, {++now, 1.0, seed}, {change}, pool, seen);
            for (const auto& tile : seen.tiles)
              reported.insert(reported.end(), tile.unmoved.begin(), tile.unmoved.end());
          }
        std::vector<std::uint8_t> bytes;
        tensor.weight(0).visit_bytes([&](const std::uint8_t* data, std::size_t size) {
          bytes.insert(bytes.end(), data, data + size);
        });
        const auto* first = reinterpret_cast<const std::uint8_t*>(reported.data());
        bytes.insert(bytes.end(), first, first + reported.size() * sizeof(float));
        return bytes;
      };
      const std::vector<std::uint8_t> alone = run(nullptr);
      CHECK(run(&two) == alone);
      CHECK(run(&three) == alone);
    }
}

TEST_CASE("slot shapes: loads from anywhere are the numbers stored there") {
  for (const BlockShape& block : block_shapes)
    for (const BlockFormat& format : {mx(e2m1, ScaleRule::rceil), mx(e2m3, ScaleRule::rceil), nvfp4}) {
      const std::vector<double> start = numbers(40 * 33, 5);
      Slot<double> slot(plan_of(with_shape(format, block)), {40, 33});
      slot.initialize(start);
      const std::vector<double> all = dequantize(slot.tensor());
      for (const std::size_t begin : {0u, 1u, 31u, 32u, 33u, 500u, 1000u, 1319u})
        for (const std::size_t count : {1u, 2u, 33u, 300u, 320u}) {
          if (begin + count > all.size()) continue;
          std::vector<double> part(count);
          slot.load(begin, std::span(part));
          CHECK(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(begin),
                           [](double a, double b) { return same_bits(a, b); }));
        }
    }
}

TEST_CASE("slot shapes: stochastic exponents come back with the seed, and go with it") {
  for (const BlockShape& block : block_shapes) {
    const BlockFormat f = with_shape(mx(e2m1, ScaleRule::stochastic_exponent), block);
    const TensorInfo info{"w", tensor_id, {160, 33}, 0};
    const auto run = [&](std::uint64_t with_seed) {
      OptimizedTensor<test::Additive, double> tensor(info, test::weights_in(plan_of(f)),
                                                     numbers(info.size(), 6));
      NoProbe nobody;
      tensor.step({}, {1, 1.0, with_seed}, {numbers(info.size(), 7)}, nullptr, nobody);
      return std::pair(tensor.weight(0).tensor().scale_bytes(), tensor.weight(0).tensor().code_bytes());
    };
    CHECK(run(1) == run(1));
    if (run(1).first.size() > 8) CHECK(run(1).first != run(2).first);
  }
}

}  // namespace halfulp
