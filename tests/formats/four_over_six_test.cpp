// NVFP4 blocks that choose between a largest element of 6 and one of 4, against brute force.
#include <doctest/doctest.h>

#include "formats/block.h"
#include "formats/catalog.h"
#include "tests/formats/nvfp4_reference.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

BlockFormat with(const ScaleConventions& conventions) { return with_conventions(nvfp4, conventions); }

/// E2M1 code of x under a multiplier, by exact comparison with middles: 3 bits times 28 are a double.
std::uint32_t code_under(float x, double multiplier) {
  std::uint32_t code = 0;
  for (std::uint32_t k = 0; k < 7; ++k) {
    const double middle = (double{e2m1_magnitudes[k]} + e2m1_magnitudes[k + 1]) / 2 * multiplier;
    if (std::fabs(x) > middle || (std::fabs(double{x}) == middle && k % 2 == 1)) code = k + 1;
  }
  return code;
}

/// Scale code for b / (target t), by exact comparison with middles.
std::uint32_t scale_under(float b, double target, float t) {
  std::uint32_t code = 0;
  for (std::uint32_t k = 0; k + 1 < e4m3_magnitudes.size(); ++k) {
    const double middle = (double{e4m3_magnitudes[k]} + e4m3_magnitudes[k + 1]) / 2 * (target * t);
    if (b > middle || (double{b} == middle && k % 2 == 1)) code = k + 1;
  }
  return code;
}

double error_under(const std::vector<float>& block, std::uint32_t scale, float t, FourOverSix metric) {
  const double multiplier = double{e4m3_magnitudes[scale]} * t;
  double total = 0;
  for (const float x : block) {
    const auto stored = static_cast<float>(e2m1_magnitudes[code_under(x, multiplier)] * multiplier);
    const double error = std::fabs(std::fabs(double{x}) - stored);
    if (metric == FourOverSix::abs_max) total = std::fmax(total, error);
    if (metric == FourOverSix::mae) total += error;
    if (metric == FourOverSix::mse) total += error * error;
  }
  return total;
}

}  // namespace

TEST_CASE("four over six: the smaller error of two candidates, by brute force") {
  std::uint32_t state = 12345;
  const auto random = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  std::array<int, 3> fours{}, sixes{};
  int disagreements = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    std::vector<float> block(1 + random() % 16);
    for (float& x : block)
      x = (static_cast<float>(random() % 4097) - 2048) * (trial % 2 == 0 ? 0x1p-8f : 0x1.37p-9f);
    const float t = trial % 3 == 0 ? 1.0f : trial % 3 == 1 ? 0x1.8p-3f : 0x1.23456ap-2f;
    const float b = largest_of(block, 0, block.size());
    if (b == 0) continue;
    const std::uint32_t six = scale_under(b, 6, t), four = scale_under(b, 4, t);
    std::array<bool, 3> chooses_four{};
    const FourOverSix metrics[] = {FourOverSix::abs_max, FourOverSix::mae, FourOverSix::mse};
    for (std::size_t m = 0; m < 3; ++m) {
      const FourOverSix metric = metrics[m];
      chooses_four[m] = error_under(block, four, t, metric) < error_under(block, six, t, metric);
      (chooses_four[m] ? fours : sixes)[m] += 1;
      const BlockFormat f = with({.four_over_six = metric, .largest = 256});
      const std::uint32_t got = choose_block_scale(f, std::span<const float>(block), b, t, 0);
      INFO("trial ", trial, " metric ", m, " six ", six, " four ", four);
      CHECK(got == (chooses_four[m] ? four : six));
    }
    disagreements += chooses_four[0] == chooses_four[1] && chooses_four[1] == chooses_four[2] ? 0 : 1;
  }
  for (std::size_t m = 0; m < 3; ++m) {
    CHECK(fours[m] > 500);
    CHECK(sixes[m] > 500);
  }
  CHECK(disagreements > 100);
}

TEST_CASE("four over six: by hand") {
  const auto scale = [](FourOverSix choice, const std::vector<float>& block) {
    return choose_block_scale(with({.four_over_six = choice}), std::span<const float>(block),
                              largest_of(block, 0, block.size()), 1.0f, 0);
  };
  constexpr std::uint32_t one = 0x38, three_halves = 0x3c;
  for (const FourOverSix choice : {FourOverSix::abs_max, FourOverSix::mae, FourOverSix::mse}) {
    CHECK(scale(choice, {6}) == one);              // both exact: a tie goes to 6
    CHECK(scale(choice, {-6, 3, 1.5f}) == one);    // exact in both again
    CHECK(scale(choice, {6, 5}) == three_halves);  // 5 -> 4 under 1, -> 4.5 under 1.5
    CHECK(scale(choice, {6, 4}) == one);           // 4 -> 4 under 1, -> 4.5
    CHECK(scale(choice, {0, -0.0f}) == 0x00);
  }
  // Errors 1 and 0 under 1, 0.5 four times under 1.5: the sum prefers the one, the largest and the squares... the other.
  CHECK(scale(FourOverSix::abs_max, {6, 5, 4, 4, 4}) == three_halves);
  CHECK(scale(FourOverSix::mae, {6, 5, 4, 4, 4}) == one);
  CHECK(scale(FourOverSix::mse, {6, 5, 4, 4, 4}) == one);  // 1 against 4 / 4: a tie goes to 6
  CHECK(scale(FourOverSix::mse, {6, 5, 4, 4}) == three_halves);
  CHECK(scale(FourOverSix::mae, {6, 5, 4, 4}) == one);
  CHECK(scale(FourOverSix::always_four, {6}) == three_halves);
  CHECK(scale(FourOverSix::always_four, {6, 4}) == three_halves);
}

TEST_CASE(
    "four over six: the tensor scale makes the largest block's scale 256, or 448 where 4 is the target "
    "always") {
  CHECK(choose_tensor_scale(with({.four_over_six = FourOverSix::mse, .largest = 256}), 1536).decode == 1);
  CHECK(choose_tensor_scale(with({.four_over_six = FourOverSix::mse}), 2688).decode == 1);
  const BlockFormat f = with({.four_over_six = FourOverSix::always_four});
  CHECK(choose_tensor_scale(f, 1792).decode == 1);
  CHECK(choose_scale(f, 1792, 1.0f, 0) == 0x7e);
  CHECK(choose_scale(f, 0.9 * 1792, 1.0f, 0) == 0x7d);  // 403.2 -> 416
  const BlockDivisor divisor = block_divisor(f, 0x7e, 1.0f);
  CHECK(convert_in_block(1792, f, divisor, nearest_even, special_values(OverflowPolicy::saturate), 0) == 0x6);
}
