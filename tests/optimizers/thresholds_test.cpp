// Thresholds below which a step is lost, in every format: derived on paper, met by stored weights.
#include <doctest/doctest.h>

#include "optimizers/all_rules.h"
#include "tests/optimizers/additive_rule.h"

namespace halfulp {
namespace {

/// What one additive step of each d makes of each w.
std::vector<double> moved(const SlotPlan& plan, const std::vector<double>& w, const std::vector<double>& d) {
  test::Stored<double> stored(plan, {w.size()}, w);
  stored.add(d);
  return stored.values();
}
SlotPlan in(const ScalarFormat& format, Rounding rounding = nearest_even) {
  SlotPlan plan = weight_slot(unscaled(format));
  plan.rounding = rounding;
  return plan;
}

/// The significands of [scale, 2 scale).
std::vector<double> binade(const ScalarFormat& format, double scale = 1) {
  std::vector<double> all;
  for (int i = 0; i < 1 << format.fraction_bits; ++i)
    all.push_back(scale * (1 + std::ldexp(i, -format.fraction_bits)));
  return all;
}

/// How many significands of a binade a step of `relative` |w| moves.
int moved_by(const ScalarFormat& format, double relative, double scale = 1) {
  const std::vector<double> w = binade(format, scale);
  std::vector<double> d;
  for (const double x : w) d.push_back(relative * x);
  const std::vector<double> after = moved(in(format), w, d);
  int count = 0;
  for (std::size_t i = 0; i < w.size(); ++i) count += after[i] != w[i];
  return count;
}

TEST_CASE(
    "thresholds: relative half gaps span [2^-(t+1) / (2 - 2^-t), 2^-(t+1)] up, and 2^-(t+2) down from a "
    "power of two") {
  for (const ScalarFormat& f : {bf16, fp16, e4m3, e5m2, e3m2, e2m3, e2m1}) {
    const int t = f.fraction_bits, all = 1 << t;
    const double largest = std::ldexp(1, -(t + 1)), smallest = largest / (2 - std::ldexp(1, -t));
    CAPTURE(t);
    for (const double sign : {1.0, -1.0})
      for (const double scale : {1.0, 2.0}) {
        const double away = sign * scale;
        CHECK(moved_by(f, smallest - 0x1p-40, away) == 0);
        CHECK(moved_by(f, smallest + 0x1p-40, away) == 1);  // the largest significand
        CHECK(moved_by(f, largest - 0x1p-40, away) == all - 1);
        CHECK(moved_by(f, largest + 0x1p-40, away) == all);
      }
    // Down, a power of two has half the gap below it: 2^-(t+2). The others share the range above. At 2, since below 1
    // e2m3 and e2m1 have subnormals as far apart as above.
    CHECK(moved_by(f, -std::ldexp(1, -(t + 2)) * (1 - 0x1p-30), 2) == 0);
    CHECK(moved_by(f, -std::ldexp(1, -(t + 2)) * (1 + 0x1p-30), 2) == 1);
    CHECK(moved_by(f, -largest * (1 + 0x1p-30), 2) == all);
  }
}

/// How many significands of a binade one step of AdamW with this rate moves, away from zero.
int adamw_moves(const ScalarFormat& format, double eta, double scale) {
  const std::vector<double> w = binade(format, scale);
  const TensorInfo info{"w", 0, {w.size()}, 0};
  TensorPlan plan = parse_scheme("fp32").of(info);
  plan.weights = in(format);
  OptimizedTensor<AdamW, double> tensor(info, plan, w);
  NoProbe probe;
  tensor.step({.eta = eta}, {1, 1.0, 1}, {std::vector<double>(w.size(), -1.0)}, nullptr, probe);
  std::vector<double> after(w.size());
  tensor.weight(0).load(0, std::span(after));
  int count = 0;
  for (std::size_t i = 0; i < w.size(); ++i) count += after[i] != w[i];
  return count;
}

TEST_CASE("thresholds: adam at rate 0.001 is frozen above 0.5 in bf16 and above 2^-5 in e4m3") {
  // Half a gap of bf16 is 1.95e-3 in [0.5, 1), 9.77e-4 in [0.25, 0.5), 4.9e-4 in [0.125, 0.25); of e4m3 1.95e-3 in
  // [2^-5, 2^-4), 9.77e-4 below, subnormals included (spacing 2^-9).
  CHECK(adamw_moves(bf16, 1e-3, 0.5) == 0);
  CHECK(adamw_moves(bf16, 9.7e-4, 0.25) == 0);
  CHECK(adamw_moves(bf16, 1e-3, 0.25) == 128);
  CHECK(adamw_moves(bf16, 9.7e-4, 0.125) == 128);
  CHECK(adamw_moves(e4m3, 1e-3, 0x1p-5) == 0);
  CHECK(adamw_moves(e4m3, 1e-3, 0x1p-6) == 8);
}

TEST_CASE("thresholds: in e4m3 a step below 2^-10 moves no number at all") {
  std::vector<double> all;
  for (std::uint32_t code = 0; code < 256; ++code)
    if (const double x = decode(e4m3, code); x == x) all.push_back(x);
  REQUIRE(all.size() == 254);
  for (const double d : {0.999 * 0x1p-10, -0.999 * 0x1p-10})
    CHECK(moved(in(e4m3), all, std::vector<double>(all.size(), d)) == all);
  // A little more moves the subnormals and the first binade.
  const std::vector<double> after = moved(in(e4m3), all, std::vector<double>(all.size(), 1.001 * 0x1p-10));
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK((after[i] != all[i]) == (all[i] >= -0x1p-5 && all[i] < 0x1p-5));
}

TEST_CASE("thresholds: a scale multiplies them") {
  // mxfp8: amax 448 s makes the scale s. Beside it 1 s moves up by more than s / 16, a zero by more than 2^-10 s.
  for (const double s : {0x1p-20, 1.0, 0x1p7}) {
    const auto after = [&](double w, double d) {
      std::vector<double> weights(32, 0.0), steps(32, 0.0);
      weights[0] = 448 * s, weights[9] = w * s, steps[9] = d * s;
      return moved(weight_slot(parse_format("mxfp8_e4m3")), weights, steps)[9] / s;
    };
    CHECK(after(1, 0x1p-4) == 1);  // a tie, even
    CHECK(after(1, 1.001 * 0x1p-4) == 1.125);
    CHECK(after(1, -1.001 * 0x1p-5) == 0.9375);
    CHECK(after(0, 0x1p-10) == 0);
    CHECK(after(0, 1.001 * 0x1p-10) == 0x1p-9);
  }
}

TEST_CASE("zero: a large weight in a block sets small ones to zero again") {
  // mxfp4: amax 6 makes the scale 1; 0.26 is stored as 0.5, but as 0 once the block's largest weight doubles.
  const SlotPlan plan = weight_slot(parse_format("mxfp4"));
  std::vector<double> w(32, 0.0), grow(32, 0.0);
  w[0] = 6, w[1] = 0.26;
  test::Stored<double> stored(plan, {32}, w);
  CHECK(stored.values()[1] == 0.5);
  grow[0] = 18;  // 24: scale 4, smallest 2, and 0.5 is a quarter of it
  const auto seen = stored.add(grow);
  CHECK(seen.after[1] == 0);
  CHECK(seen.after[0] == 24);
}

TEST_CASE("zero: stochastic rounding leaves it with probability |d| / spacing, by all random integers") {
  for (const ScalarFormat& f : {e4m3, e5m2, e2m1, e3m2, e2m3})
    for (const double share : {0.3, 0.5, -0.75}) {
      int left = 0;
      for (std::uint32_t r = 0; r < 65536; ++r)
        left += decode(f, convert(share * f.min_positive(), f, stochastic,
                                  special_values(OverflowPolicy::saturate), r)) != 0;
      CHECK(std::fabs(left / 65536.0 - std::fabs(share)) <= 0x1p-17);
    }
}

TEST_CASE("stochastic rounding: mean x and variance (x - lo) (hi - x), by all random integers") {
  for (const ScalarFormat& f : {bf16, e4m3, e2m1})
    for (const double x : {1.0625 + 1e-3, -1.3, 0.77, 3.9}) {
      double mean = 0, square = 0, lo = 1e9, hi = -1e9;
      for (std::uint32_t r = 0; r < 65536; ++r) {
        const double y = decode(f, convert(x, f, stochastic, special_values(OverflowPolicy::saturate), r));
        mean += (y - x) / 65536;
        square += (y - x) * (y - x) / 65536;
        lo = std::min(lo, y), hi = std::max(hi, y);
      }
      // Sixteen bits give the probability p of hi to 2^-17: E (y - x)^2 = p (hi - x)^2 + (1 - p) (x - lo)^2.
      const double gap = hi - lo;
      CHECK(gap > 0);
      CHECK(std::fabs(mean) <= 0x1p-17 * gap * (1 + 1e-9));
      CHECK(std::fabs(square - (x - lo) * (hi - x)) <= 0x1p-17 * gap * gap * (1 + 1e-9));
      CHECK(square <= gap * gap / 4 * (1 + 0x1p-14));
    }
}

TEST_CASE("stochastic rounding: beyond the largest number it is not unbiased") {
  for (std::uint32_t r = 0; r < 65536; r += 257)
    CHECK(decode(e4m3, convert(460, e4m3, stochastic, special_values(OverflowPolicy::saturate), r)) == 448);
}

}  // namespace
}  // namespace halfulp
