#include "optimizers/scale_policy.h"

#include <doctest/doctest.h>

#include "formats/catalog.h"
#include "formats/error.h"

namespace halfulp {
namespace {

TEST_CASE("scale policy: every policy reads back from its text") {
  CHECK(parse_scale_policy("recompute") == recompute_scale);
  CHECK(parse_scale_policy("delayed") == ScalePolicy{ScalePolicyKind::delayed, 0});
  CHECK(parse_scale_policy("keep") == ScalePolicy{ScalePolicyKind::keep, 0});
  CHECK(parse_scale_policy("lazy") == ScalePolicy{ScalePolicyKind::lazy, 1});
  for (int headroom = 0; headroom <= 8; ++headroom) {
    const ScalePolicy policy{ScalePolicyKind::lazy, headroom};
    CHECK(to_string(policy) == "lazy{headroom=" + std::to_string(headroom) + "}");
    CHECK(parse_scale_policy(to_string(policy)) == policy);
  }
  for (const char* text : {"recompute", "delayed", "keep"})
    CHECK(to_string(parse_scale_policy(text)) == text);
}

TEST_CASE("scale policy: a bad text is an error that names it and the policies") {
  for (const char* text : {"", "Lazy", "lazy{}", "lazy{headroom=}", "lazy{headroom=9}", "lazy{headroom=-1}",
                           "lazy{headroom=1", "lazy{headroom=1}x", "lazy{headroom= 1}", "lazy{headroom=1.0}",
                           "lazy{headroom=+1}", "lazy{head=1}", "recompute ", "keep,delayed"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_scale_policy(text), Error);
  }
  CHECK_THROWS_WITH(parse_scale_policy("lasy"),
                    "scale policy: no such policy: given 'lasy', allowed: recompute, delayed, keep, lazy, "
                    "lazy{headroom=N} with N in 0..8");
}

// Largest element 448 throughout, so that S max = 448 S.
TEST_CASE("lazy scale: kept inside the band, ends included") {
  for (int headroom = 0; headroom <= 2; ++headroom) {
    const double band = std::ldexp(1.0, -headroom);
    for (const double scale : {1.0, 0.125, 0x1p-30, 0x1p40}) {
      CHECK(lazy_multiplier(scale, 448 * scale, 448, headroom) == scale);         // upper end
      CHECK(lazy_multiplier(scale, 300 * band * scale, 448, headroom) == scale);  // inside
      CHECK(lazy_multiplier(scale, 223 * band * scale, 448, headroom) == scale);  // hysteresis
      CHECK(lazy_multiplier(scale, std::nextafter(448 * scale, 1e300), 448, headroom) != scale);  // above
      CHECK(lazy_multiplier(scale, 201 * band * scale, 448, headroom) != scale);  // below 201.6
      CHECK(lazy_multiplier(scale, 202 * band * scale, 448, headroom) == scale);
    }
  }
}

TEST_CASE("lazy scale: 0.45 2^-h S max itself is kept, where it is a number") {
  // 0.45 * 5 = 2.25: with a largest element of 5 (and of 10) the lower end is a double, so the end itself and
  // its neighbours below can be asked for.
  for (int headroom = 0; headroom <= 2; ++headroom)
    for (const double largest : {5.0, 10.0, 0.625}) {
      const double end = std::ldexp(0.45 * largest, -headroom);
      REQUIRE(20 * end == std::ldexp(9 * largest, -headroom));
      CHECK(lazy_multiplier(1.0, end, largest, headroom) == 1.0);
      CHECK(lazy_multiplier(1.0, static_cast<double>(std::nextafterf(static_cast<float>(end), 0.0f)), largest,
                            headroom) == 0.5);
    }
}

TEST_CASE("lazy scale: the lower end is exact for double amax as well") {
  // 20 amax has up to 57 bits: rounded, it can reach 9 S max from below.
  for (const double largest : {448.0, 6.0, 57344.0, 28.0, 7.5})
    for (int headroom = 0; headroom <= 2; ++headroom) {
      const long double end = 9.0L * largest / 20 * std::ldexp(1.0L, -headroom);
      double amax = static_cast<double>(end);
      if (static_cast<long double>(amax) >= end) amax = std::nextafter(amax, 0.0);
      // 20 amax < 9 S max 2^-h, exactly: 53 + 5 bits fit a long double of 64.
      REQUIRE(20.0L * amax < 9.0L * largest * std::ldexp(1.0L, -headroom));
      CAPTURE(largest);
      CHECK(lazy_multiplier(1.0, amax, largest, headroom) == 0.5);
    }
}

TEST_CASE("lazy scale: a new scale leaves the headroom asked for") {
  // amax = 448 exactly needs 2^0; one more needs 2^1; the headroom comes on top.
  for (int headroom = 0; headroom <= 8; ++headroom) {
    CHECK(lazy_multiplier(0x1p-500, 448, 448, headroom) == std::ldexp(1.0, headroom));
    CHECK(lazy_multiplier(0x1p-500, std::nextafter(448.0, 1e9), 448, headroom) == std::ldexp(2.0, headroom));
    CHECK(lazy_multiplier(0x1p-500, std::nextafter(448.0, 0.0), 448, headroom) == std::ldexp(1.0, headroom));
    CHECK(lazy_multiplier(0x1p-500, 225, 448, headroom) == std::ldexp(1.0, headroom));
    CHECK(lazy_multiplier(0x1p-500, 224, 448, headroom) == std::ldexp(0.5, headroom));
  }
}

TEST_CASE("lazy scale: after a change the same amax keeps the scale, and so does one tenth less") {
  for (int headroom = 0; headroom <= 3; ++headroom)
    for (const double amax : {448.0, 449.0, 0.001, 3.0, 1e30, 5e-30}) {
      const double chosen = lazy_multiplier(0x1p-500, amax, 448, headroom);
      CHECK(amax <= chosen * 448);
      CHECK(amax > std::ldexp(chosen * 448, -headroom - 1));
      CHECK(lazy_multiplier(chosen, amax, 448, headroom) == chosen);
      CHECK(lazy_multiplier(chosen, 0.9 * amax, 448, headroom) == chosen);
    }
}

TEST_CASE("lazy scale: codes are powers of two and saturate at both ends") {
  const auto code_of = [](const ScalarFormat& scale, double multiplier) {
    const BlockFormat f{e2m1, {BlockAxis::tile, 32}, scale, ScaleRule::ocp_floor, TensorScale::none};
    return power_of_two_code(f, floor_log2(multiplier));
  };
  CHECK(decode(fp32, code_of(fp32, 0.25)) == 0.25);
  CHECK(decode(fp32, code_of(fp32, 0x1p-149)) == 0x1p-149);
  CHECK(decode(fp32, code_of(fp32, 0x1p-200)) == 0x1p-149);
  CHECK(decode(fp32, code_of(fp32, 0x1p300)) == 0x1p127);
  CHECK(decode(e8m0, code_of(e8m0, 0x1p-130)) == 0x1p-127);
  CHECK(decode(e8m0, code_of(e8m0, 0x1p130)) == 0x1p127);
  // ue4m3: subnormals 2^-9..2^-7 are powers of two as well; the largest below 448 is 256.
  for (int exponent = -9; exponent <= 8; ++exponent)
    CHECK(decode(ue4m3, code_of(ue4m3, std::ldexp(1.0, exponent))) == std::ldexp(1.0, exponent));
  CHECK(decode(ue4m3, code_of(ue4m3, 0x1p-10)) == 0x1p-9);
  CHECK(decode(ue4m3, code_of(ue4m3, 512.0)) == 256);
}

}  // namespace
}  // namespace halfulp
