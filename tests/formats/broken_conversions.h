#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "formats/block.h"
#include "formats/catalog.h"
#include "formats/conformance/conformance.h"
#include "formats/encode.h"

namespace halfulp::test {

/// A conversion with one fault that some implementation has had, and the property that has to find it.
struct BrokenConversion {
  ScalarFormat format;
  Conversion conversion;
  std::string property;
  ConformanceOptions options = {};
};

using Convert = std::uint32_t (*)(double, Rounding, const SpecialValues&, std::uint32_t);

/// The right decoding with a wrong conversion.
inline BrokenConversion wrong_conversion(const std::string& name, const std::string& property,
                                         const ScalarFormat& f, Convert convert,
                                         const ConformanceOptions& options = {}) {
  Conversion conversion = conversion_of(f, name);
  conversion.convert = convert;
  return {f, conversion, property, options};
}

/// The right conversion with a wrong decoding.
inline BrokenConversion wrong_decoding(const std::string& name, const std::string& property,
                                       const ScalarFormat& f, double (*decode)(std::uint32_t)) {
  Conversion conversion = conversion_of(f, name);
  conversion.decode = decode;
  return {f, conversion, property};
}

/// x through another format first.
inline double through(double x, const ScalarFormat& f) {
  return decode(f, convert(x, f, nearest_even, special_values(OverflowPolicy::ieee), 0));
}

/// |x| cut to so many significant bits.
inline double cut(double x, int bits) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int last = std::ilogb(x) - bits + 1;
  return std::ldexp(std::trunc(std::ldexp(x, -last)), last);
}

inline bool is_tiny_negative(double x) { return x <= 0 && std::signbit(x); }

/// Only nearest_even under saturation: what a kernel without options offers.
inline const ConformanceOptions plain_kernel{.roundings = {nearest_even},
                                             .specials = {special_values(OverflowPolicy::saturate)}};

inline std::vector<BrokenConversion> faults_of_rounding() {
  using S = const SpecialValues&;
  using U = std::uint32_t;
  return {
      wrong_conversion("double rounding through float (ml_dtypes)", "single_rounding", e4m3,
                       [](double x, Rounding r, S s, U u) { return convert(to_float(x), e4m3, r, s, u); }),
      wrong_conversion(
          "double rounding through fp16", "single_rounding", e3m4,
          [](double x, Rounding r, S s, U u) { return convert(through(x, fp16), e3m4, r, s, u); }),
      wrong_conversion(
          "double rounding through bf16, a kernel without options", "single_rounding", e2m3,
          [](double x, Rounding r, S s, U u) { return convert(through(x, bf16), e2m3, r, s, u); },
          plain_kernel),
      wrong_conversion("ties away from zero where even is meant (ROCm aiter)", "nearest", e2m1,
                       [](double x, Rounding r, S s, U u) {
                         if (r == nearest_even) r.mode = RoundingMode::nearest_away;
                         return convert(x, e2m1, r, s, u);
                       }),
      wrong_conversion(
          "lost sticky bit: one guard bit and nothing below it (Triton E2M1)", "nearest", e2m1,
          [](double x, Rounding r, S s, U u) { return convert(cut(x, 3), e2m1, r, s, u); }, plain_kernel),
      wrong_conversion("lost sticky bit in the directed modes", "directed", e5m2,
                       [](double x, Rounding r, S s, U u) {
                         const bool nearest = r.mode <= RoundingMode::nearest_to_zero;
                         return convert(nearest ? x : cut(x, 8), e5m2, r, s, u);
                       }),
      wrong_conversion("lost carry: 126.24 becomes 64 (Triton's interpreter)", "nearest", e4m3,
                       [](double x, Rounding r, S s, U u) {
                         const U code = convert(x, e4m3, r, s, u),
                                 down = convert(x, e4m3, {RoundingMode::toward_zero, 0}, s, 0);
                         const bool carried =
                             (code & 7) == 0 && (down & 7) == 7 && code == down + 1 && (down & 0x78) != 0;
                         return carried && r == nearest_even ? down & ~U{7} : code;
                       }),
      wrong_conversion("exponent as floor(log2f(x)), too high just below a power of two", "directed", e4m3,
                       [](double x, Rounding r, S s, U u) {
                         const float magnitude = std::fabs(to_float(x));
                         if (!(magnitude > 0x1p-6f && magnitude < 256)) return convert(x, e4m3, r, s, u);
                         const int exponent = static_cast<int>(std::floor(std::log2(magnitude)));
                         const double coarser = std::ldexp(1.0, exponent - 3);
                         if (r.mode == RoundingMode::toward_zero)
                           return convert(std::trunc(x / coarser) * coarser, e4m3, r, s, u);
                         return convert(x, e4m3, r, s, u);
                       }),
      wrong_conversion("up and down by magnitude, exchanged for negative numbers", "directed", e3m2,
                       [](double x, Rounding r, S s, U u) {
                         if (r.mode == RoundingMode::up) r.mode = RoundingMode::away_from_zero;
                         if (r.mode == RoundingMode::down) r.mode = RoundingMode::toward_zero;
                         return convert(x, e3m2, r, s, u);
                       }),
      wrong_conversion("negative numbers truncated as two's complement", "sign_symmetry", e5m2fnuz,
                       [](double x, Rounding r, S s, U u) {
                         if (r.mode == RoundingMode::toward_zero) r.mode = RoundingMode::down;
                         return convert(x, e5m2fnuz, r, s, u);
                       }),
      wrong_conversion("E8M0 nearest acts like up at its lowest exponent (onnxruntime, OpenVINO)", "nearest",
                       e8m0,
                       [](double x, Rounding r, S s, U u) {
                         if (x > 0x1p-127 && x < 0x1p-126 && r.mode <= RoundingMode::nearest_to_zero)
                           r.mode = RoundingMode::up;
                         return convert(x, e8m0, r, s, u);
                       }),
      wrong_conversion(
          "E8M0 by round(log2), which changes at the square root of 2 (universal)", "nearest", e8m0,
          [](double x, Rounding r, S s, U u) {
            const bool regular = x >= 0x1p-126 && x <= 0x1p126 && r == nearest_even;
            return convert(regular ? std::ldexp(1.0, static_cast<int>(std::nearbyint(std::log2(x)))) : x,
                           e8m0, r, s, u);
          }),
      wrong_conversion(
          "subnormals flushed by a conversion that is asked to keep them", "nearest", e3m4,
          [](double x, Rounding r, S s, U u) {
            SpecialValues flushing = s;
            flushing.subnormals = Subnormals::flush_results;
            return convert(x, e3m4, r, flushing, u);
          },
          plain_kernel),
      wrong_conversion("encoder drops the last fraction bit of small numbers (tt-metal)", "round_trip", e4m3,
                       [](double x, Rounding r, S s, U u) {
                         const U code = convert(x, e4m3, r, s, u);
                         return (code & 0x7f) > 0 && (code & 0x7f) < 0x20 ? code & ~U{1} : code;
                       }),
  };
}

inline std::vector<BrokenConversion> faults_of_stochastic_rounding() {
  using S = const SpecialValues&;
  using U = std::uint32_t;
  const ConformanceOptions eight_bits{.roundings = {{RoundingMode::stochastic_a, 8}},
                                      .specials = {special_values(OverflowPolicy::saturate)},
                                      .same_random_integers = false};
  return {
      // A uniform part of an ulp is added, and the sum rounded instead of cut: half an ulp too much.
      wrong_conversion(
          "stochastic rounding with half an ulp of bias (FBGEMM)", "stochastic_probability", e2m1,
          [](double x, Rounding r, S s, U u) {
            if (!(std::fabs(x) >= 0x1p-10) || std::isinf(x)) return convert(x, e2m1, r, s, u);
            const double ulp = std::ldexp(1.0, std::max(std::ilogb(x), 0) - 1);
            const double sum = std::fabs(x) + ulp * (u / 256.0);
            return convert(std::copysign(sum, x), e2m1, {RoundingMode::nearest_away, 0}, s, 0);
          },
          eight_bits),
      wrong_conversion(
          "stochastic rounding that hardly ever goes up (oneDNN)", "stochastic_probability", e4m3,
          [](double x, Rounding r, S s, U u) { return convert(x, e4m3, r, s, u >> 4); }, eight_bits),
      wrong_conversion(
          "subnormals rounded to nearest before they are rounded at random (QPyTorch)",
          "stochastic_probability", e5m2,
          [](double x, Rounding r, S s, U u) {
            const double nearest = std::fabs(x) < 0x1p-14 ? (x + 0x1.8p36) - 0x1.8p36 : x;
            return convert(nearest, e5m2, r, s, u);
          },
          eight_bits),
      wrong_conversion(
          "the last gap above zero never rounds up (chop)", "stochastic_probability", e4m3,
          [](double x, Rounding r, S s, U u) {
            return convert(std::fabs(x) < 0x1p-9 ? std::copysign(0.0, x) : x, e4m3, r, s, u);
          },
          eight_bits),
      wrong_conversion("random bits from the wrong end", "oracle", e4m3,
                       [](double x, Rounding r, S s, U u) {
                         const U all = r.random_bits < 32 ? (U{1} << r.random_bits) - 1 : 0xffff'ffffu;
                         return convert(x, e4m3, r, s, is_stochastic(r.mode) ? all - u : u);
                       },
                       {.roundings = {{RoundingMode::stochastic_a, 8}}}),
  };
}

}  // namespace halfulp::test
