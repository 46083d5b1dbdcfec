// What block formats decide beside their rule: clamps, blocks of zeros, NaN, infinities, flushed blocks, floors.
#include <doctest/doctest.h>

#include "emulation/reduce.h"
#include "formats/block.h"
#include "formats/catalog.h"

using namespace halfulp;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

BlockFormat with(BlockFormat f, const ScaleConventions& conventions) {
  f.conventions = conventions;
  return f;
}

std::uint32_t scale_of(const BlockFormat& f, const std::vector<double>& block, float t = 1) {
  return choose_block_scale(f, std::span<const double>(block), amax(std::span<const double>(block)), t, 0);
}

constexpr ScaleRule power_rules[] = {ScaleRule::ocp_floor,
                                     ScaleRule::even,
                                     ScaleRule::even_tie_down,
                                     ScaleRule::ceil,
                                     ScaleRule::rceil,
                                     ScaleRule::rfloor,
                                     ScaleRule::log2_nearest,
                                     ScaleRule::log2_nearest_binade,
                                     ScaleRule::stochastic_exponent};

/// An amax of e2m1 that every rule gives this exponent and twice of which the next: 6 2^exponent, but for the rules that
/// take 3/2 for nearer to 2 than to 1.
double last_amax(ScaleRule rule, int exponent) {
  return std::ldexp(rule == ScaleRule::ceil || rule == ScaleRule::log2_nearest_binade ? 4 : 6, exponent);
}

}  // namespace

TEST_CASE(
    "scale overflow: beyond the largest power of two the scale saturates, or is NaN from the first exponent "
    "on") {
  for (const ScaleRule rule : power_rules) {
    INFO(std::string(name_of(rule)));
    const double last = last_amax(rule, 127);
    const BlockFormat saturating = mx(e2m1, rule),
                      poisoned = with(saturating, {.overflow = ScaleOverflow::nan});
    CHECK(choose_scale(saturating, last, 1.0f, 0) == 0xfe);
    CHECK(choose_scale(poisoned, last, 1.0f, 0) == 0xfe);
    CHECK(choose_scale(saturating, 2 * last, 1.0f, 0) == 0xfe);
    CHECK(choose_scale(poisoned, 2 * last, 1.0f, 0) == 0xff);
    CHECK(choose_scale(saturating, 0x1p1023, 1.0f, 0) == 0xfe);
    CHECK(choose_scale(poisoned, 0x1p1023, 1.0f, 0) == 0xff);
  }
}

TEST_CASE("scale overflow: rounded scales saturate, or are NaN where they round beyond the largest") {
  for (const ScalarFormat& scale : {ue4m3, ue5m3, bf16, fp16, fp32, e8m0}) {
    INFO("largest scale ", scale.max_finite());
    const BlockFormat f{e2m1, {BlockAxis::tile, 16}, scale, ScaleRule::amax, TensorScale::none};
    const double top = 6 * scale.max_finite();
    // Above a power of two the gap is the power's own, not the one below it.
    const double gap = scale == e8m0 ? top : top - 6 * decode(scale, encode(scale, scale.max_finite()) - 1);
    const BlockFormat poisoned = with(f, {.overflow = ScaleOverflow::nan});
    CHECK(choose_scale(f, top, 1.0f, 0) == encode(scale, scale.max_finite()));
    CHECK(choose_scale(poisoned, top, 1.0f, 0) == encode(scale, scale.max_finite()));
    for (const double beyond : {top + gap * 0.625, top * 2.5, 1e200}) {
      CHECK(choose_scale(f, beyond, 1.0f, 0) == encode(scale, scale.max_finite()));
      CHECK(is_nan_code(scale, choose_scale(poisoned, beyond, 1.0f, 0)));
    }
  }
}

TEST_CASE(
    "scale overflow: no power of two above highest_exponent, NaN there if so asked, infinities included") {
  for (const ScaleRule rule : power_rules)
    for (const int highest : {125, 0, -3, -127}) {
      INFO(std::string(name_of(rule)), " highest ", highest);
      const BlockFormat f =
          with(mx(e2m1, rule), {.infinity = InfinityInBlock::saturate, .highest_exponent = highest});
      const BlockFormat poisoned =
          with(mx(e2m1, rule), {.overflow = ScaleOverflow::nan, .highest_exponent = highest});
      const auto top = static_cast<std::uint32_t>(highest + 127);
      const double last = last_amax(rule, highest);
      CHECK(choose_scale(f, last, 1.0f, 0) == top);
      CHECK(choose_scale(poisoned, last, 1.0f, 0) == top);
      CHECK(choose_scale(f, last * 2, 1.0f, 0) == top);
      CHECK(choose_scale(poisoned, last * 2, 1.0f, 0) == 0xff);
      CHECK(choose_scale(f, infinity, 1.0f, 0) == top);
    }
}

TEST_CASE("scale underflow: the smallest scale, and all elements zero only where scale code 0 asks for it") {
  const BlockFormat keeps = mx(e2m1, ScaleRule::ocp_floor),
                    zeroes = with(keeps, {.underflow = ScaleUnderflow::zero_elements});
  for (const double amax : {0x1p-125, 0x1p-126, 0x1p-149, 0x1p-300, 0x1p-1074}) {
    CHECK(choose_scale(keeps, amax, 1.0f, 0) == 0);
    CHECK(choose_scale(zeroes, amax, 1.0f, 0) == 0);
  }
  CHECK(quotient_in_block(0x1p-125, block_divisor(keeps, 0, 1.0f)) == 4);
  CHECK(quotient_in_block(0x1p-125, block_divisor(zeroes, 0, 1.0f)) == 0);
  CHECK(std::signbit(quotient_in_block(-0x1p-125, block_divisor(zeroes, 0, 1.0f))));
  CHECK(quotient_in_block(not_a_number, block_divisor(zeroes, 0, 1.0f)) != 0);
  CHECK(quotient_in_block(0x1p-125, block_divisor(zeroes, 1, 1.0f)) == 2);
  // Where the scale is ue4m3, its code 0 is zero and leaves signs alone under either convention.
  for (const auto underflow : {ScaleUnderflow::smallest, ScaleUnderflow::zero_elements})
    CHECK(quotient_in_block(3, block_divisor(with(nvfp4, {.underflow = underflow}), 0, 1.0f)) == 0);
}

TEST_CASE("zero blocks: the smallest scale, 1, what an amax of 1 would get, or 2^-23") {
  struct {
    ZeroBlock convention;
    std::uint32_t floor_e2m1, rceil_e2m1, floor_e4m3;
  } const rows[] = {{ZeroBlock::smallest, 0x00, 0x00, 0x00},
                    {ZeroBlock::one, 0x7f, 0x7f, 0x7f},
                    {ZeroBlock::amax_one, 0x7d, 0x7d, 0x77},  // 127 - em; 6 2^-2 >= 1
                    {ZeroBlock::two_to_minus_23, 0x68, 0x68, 0x68}};
  for (const auto& row : rows) {
    const ScaleConventions c{.zero_block = row.convention};
    for (const std::vector<double>& block : {std::vector<double>{0}, {0, -0.0, 0}, {-0.0}}) {
      CHECK(scale_of(with(mx(e2m1, ScaleRule::ocp_floor), c), block) == row.floor_e2m1);
      CHECK(scale_of(with(mx(e2m1, ScaleRule::rceil), c), block) == row.rceil_e2m1);
      CHECK(scale_of(with(mx(e4m3, ScaleRule::ocp_floor), c), block) == row.floor_e4m3);
    }
    for (const double zero : {0.0, -0.0}) {
      const double quotient =
          quotient_in_block(zero, block_divisor(with(mx(e2m1, ScaleRule::rceil), c), row.rceil_e2m1, 1.0f));
      CHECK(quotient == 0);
      CHECK(std::signbit(quotient) == std::signbit(zero));
    }
  }
  // Under a tensor scale t the block scale itself is what the convention says, and an amax of 1 is 1 / t.
  CHECK(decode(ue4m3, scale_of(with(nvfp4, {.zero_block = ZeroBlock::one}), {0, 0}, 0.25f)) == 1);
  CHECK(decode(ue4m3, scale_of(with(nvfp4, {.zero_block = ZeroBlock::amax_one}), {0, 0}, 0.25f)) == 0.6875);
  CHECK(scale_of(nvfp4, {0, 0}, 0.25f) == 0);
}

TEST_CASE("NaN and infinity: all conventions, wherever in the block they stand") {
  constexpr double finite = 1.75;  // e4m3 by the floor rule: 2^-8
  const auto in_every_order = [](std::vector<double> block, auto check) {
    std::sort(block.begin(), block.end(), [](double a, double b) {
      return std::bit_cast<std::uint64_t>(a) < std::bit_cast<std::uint64_t>(b);
    });
    do check(block);
    while (std::next_permutation(block.begin(), block.end(), [](double a, double b) {
      return std::bit_cast<std::uint64_t>(a) < std::bit_cast<std::uint64_t>(b);
    }));
  };
  for (const NanInBlock of_nan : {NanInBlock::poison, NanInBlock::ignore})
    for (const InfinityInBlock of_infinity :
         {InfinityInBlock::poison, InfinityInBlock::saturate, InfinityInBlock::ignore}) {
      const BlockFormat f = with(mx(e4m3, ScaleRule::ocp_floor), {.nan = of_nan, .infinity = of_infinity});
      const std::uint32_t for_nan = of_nan == NanInBlock::poison ? 0xff : 0x77;
      const std::uint32_t for_infinity = of_infinity == InfinityInBlock::poison     ? 0xff
                                         : of_infinity == InfinityInBlock::saturate ? 0xfe
                                                                                    : 0x77;
      const std::uint32_t for_both = of_nan == NanInBlock::poison ? 0xff : for_infinity;
      in_every_order({finite, -0.5, not_a_number},
                     [&](const auto& block) { CHECK(scale_of(f, block) == for_nan); });
      in_every_order({finite, -0.5, -not_a_number},
                     [&](const auto& block) { CHECK(scale_of(f, block) == for_nan); });
      in_every_order({finite, -infinity},
                     [&](const auto& block) { CHECK(scale_of(f, block) == for_infinity); });
      in_every_order({-finite, infinity, 0.0},
                     [&](const auto& block) { CHECK(scale_of(f, block) == for_infinity); });
      in_every_order({finite, infinity, not_a_number, -infinity},
                     [&](const auto& block) { CHECK(scale_of(f, block) == for_both); });
      // Nothing finite left: as a block of zeros.
      CHECK(scale_of(f, {not_a_number, not_a_number}) == (of_nan == NanInBlock::poison ? 0xffu : 0x00u));
      CHECK(scale_of(f, {-infinity}) == (for_infinity == 0x77 ? 0x00 : for_infinity));
    }
}

TEST_CASE("NaN and infinity: under the ignoring conventions they are converted as elements") {
  const BlockFormat f =
      with(mx(e4m3, ScaleRule::ocp_floor), {.nan = NanInBlock::ignore, .infinity = InfinityInBlock::ignore});
  const BlockDivisor divisor = block_divisor(f, 0x77, 1.0f);
  const SpecialValues saturate = special_values(OverflowPolicy::saturate);
  CHECK(convert_in_block(not_a_number, f, divisor, nearest_even, saturate, 0) == 0x7f);
  CHECK(convert_in_block(infinity, f, divisor, nearest_even, saturate, 0) == 0x7e);
  CHECK(convert_in_block(-infinity, f, divisor, nearest_even, saturate, 0) == 0xfe);
  CHECK(convert_in_block(-infinity, f, divisor, nearest_even, special_values(OverflowPolicy::ocp), 0) ==
        0xff);
  // Saturated scales: an infinity becomes the largest element, finite numbers vanish.
  const BlockFormat s = with(mx(e4m3, ScaleRule::ocp_floor), {.infinity = InfinityInBlock::saturate});
  const BlockDivisor largest = block_divisor(s, scale_of(s, {1, infinity, -3}), 1.0f);
  CHECK(convert_in_block(infinity, s, largest, nearest_even, saturate, 0) == 0x7e);
  CHECK(convert_in_block(-infinity, s, largest, nearest_even, saturate, 0) == 0xfe);
  CHECK(convert_in_block(-3, s, largest, nearest_even, saturate, 0) == 0x80);
}

TEST_CASE("subnormal blocks: below 2^-126 they count as zero where they are flushed") {
  for (const ScaleRule rule : power_rules) {
    const BlockFormat keeps = mx(int8, rule),
                      flushes = with(
                          keeps, {.zero_block = ZeroBlock::one, .subnormal_block = SubnormalBlock::flush});
    for (const double amax : {0x1p-126, std::nextafter(0x1p-126, 1.0)}) {
      CHECK_FALSE(is_flushed(flushes, amax));
      CHECK(choose_scale(flushes, amax, 1.0f, 0) == choose_scale(keeps, amax, 1.0f, 0));
    }
    for (const double amax : {std::nextafter(0x1p-126, 0.0), 0x1.fffffcp-127, 0x1p-149, 0x1p-1074}) {
      CHECK(is_flushed(flushes, amax));
      CHECK_FALSE(is_flushed(keeps, amax));
      CHECK(choose_scale(flushes, amax, 1.0f, 0) == 0x7f);
    }
  }
  // four_over_six has nothing to choose in a block of zeros.
  for (const FourOverSix choice : {FourOverSix::abs_max, FourOverSix::mae, FourOverSix::mse}) {
    const BlockFormat f = with(
        nvfp4,
        {.zero_block = ZeroBlock::one, .subnormal_block = SubnormalBlock::flush, .four_over_six = choice});
    CHECK(scale_of(f, {0x1.8p-127, 0x1p-128, 0x1.cp-128}, 0x1p-130f) == encode(ue4m3, 1.0));
  }
}

TEST_CASE("scale floor: at least 2^-6, from the quotient that rounds below it to a block of zeros") {
  for (const bool up : {false, true}) {
    const BlockFormat f = with(nvfp4, {.rounds_up = up, .floor = 0x1p-6});
    for (const double quotient :
         {0.0, 0x1p-1000, 0x1p-10, 0x1p-9, 0x1.fp-7, std::nextafter(0x1p-6, 0.0), 0x1p-6})
      CHECK(choose_scale(f, 6 * quotient, 1.0f, 0) == 0x08);
    CHECK(choose_scale(f, 6 * 0x1.1p-6, 1.0f, 0) == (up ? 0x09 : 0x08));
    CHECK(choose_scale(f, 6 * 0x1.2p-6, 1.0f, 0) == 0x09);
    CHECK(choose_scale(f, 6 * 448, 1.0f, 0) == 0x7e);
  }
  // A floor between two scales is rounded as a scale is.
  CHECK(choose_scale(with(nvfp4, {.floor = 1.0625}), 0x1p-9, 1.0f, 0) == 0x38);
  CHECK(choose_scale(with(nvfp4, {.rounds_up = true, .floor = 1.0625}), 0x1p-9, 1.0f, 0) == 0x39);
}

TEST_CASE("tensor scales that are 0, infinite or no number make no scale but a total one") {
  for (const NamedScaleRule& known : all_scale_rules) {
    INFO(std::string(known.name));
    const BlockFormat f{e2m1, {BlockAxis::tile, 16}, e8m0, known.rule, TensorScale::tensor};
    CHECK(choose_scale(f, 1.0, 0.0f, 0) == 0xfe);
    CHECK(choose_scale(f, 1.0, std::numeric_limits<float>::infinity(), 0) == 0x00);
    CHECK(choose_scale(f, 1.0, std::numeric_limits<float>::quiet_NaN(), 0) == 0xff);
  }
}
