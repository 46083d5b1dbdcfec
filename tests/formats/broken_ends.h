#pragma once
#include "tests/formats/broken_conversions.h"

namespace halfulp::test {

inline std::vector<BrokenConversion> faults_at_the_ends() {
  using S = const SpecialValues&;
  using U = std::uint32_t;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {
      wrong_conversion("clamped to max before rounding, so that nothing overflows (PyTorch)", "overflow",
                       e4m3,
                       [](double x, Rounding r, S s, U u) {
                         return convert(x == x ? std::fmin(std::fmax(x, -448.0), 448.0) : x, e4m3, r, s, u);
                       }),
      wrong_conversion("everything beyond max finite is infinity, 57344 < x < 61440 too (universal)",
                       "overflow", e5m2,
                       [](double x, Rounding r, S s, U u) {
                         return convert(std::fabs(x) > 57344 ? std::copysign(infinity, x) : x, e5m2, r, s, u);
                       }),
      wrong_conversion("448 < x <= 464 counts as overflow", "overflow", e4m3,
                       [](double x, Rounding r, S s, U u) {
                         const bool beyond = std::fabs(x) > 448 && s.overflow == OverflowPolicy::ocp;
                         return convert(beyond ? 1000.0 : x, e4m3, r, s, u);
                       }),
      wrong_conversion("overflow ignores the rounding mode (saturn-vectors)", "overflow", fp16,
                       [](double x, Rounding r, S s, U u) {
                         const bool beyond = std::fabs(x) > 65504 && s.overflow == OverflowPolicy::ieee;
                         return convert(x, fp16, beyond ? nearest_even : r, s, u);
                       },
                       {.roundings = {{RoundingMode::toward_zero, 0}},
                        .specials = {special_values(OverflowPolicy::ieee)}}),
      wrong_conversion(
          "huge numbers wrap in an integer (oneDNN's table search)", "overflow", e2m1,
          [](double x, Rounding r, S s, U u) {
            return convert(std::fabs(x) > 64 ? std::fmod(x, 64.0) : x, e2m1, r, s, u);
          },
          plain_kernel),
      wrong_conversion("-0 becomes the NaN of FNUZ", "special_values", e4m3fnuz,
                       [](double x, Rounding r, S s, U u) {
                         return x == 0 && std::signbit(x) ? U{0x80} : convert(x, e4m3fnuz, r, s, u);
                       }),
      wrong_conversion("-0 becomes NaN in e4m3 (torch-xpu-ops)", "special_values", e4m3,
                       [](double x, Rounding r, S s, U u) {
                         return x == 0 && std::signbit(x) ? U{0xff} : convert(x, e4m3, r, s, u);
                       }),
      wrong_conversion("small negative numbers become 0x80 in FNUZ (onnxruntime, Triton)", "nearest",
                       e5m2fnuz,
                       [](double x, Rounding r, S s, U u) {
                         const U code = convert(x, e5m2fnuz, r, s, u);
                         return code == 0 && is_tiny_negative(x) && x != 0 ? U{0x80} : code;
                       }),
      wrong_conversion(
          "-0 loses its sign (a Python reference that asks x < 0)", "round_trip", e2m1,
          [](double x, Rounding r, S s, U u) { return convert(x == 0 ? 0.0 : x, e2m1, r, s, u); },
          plain_kernel),
      wrong_conversion(
          "NaN becomes an ordinary number (torchao E2M1)", "special_values", e2m1,
          [](double x, Rounding r, S s, U u) { return x == x ? convert(x, e2m1, r, s, u) : U{3}; },
          plain_kernel),
      wrong_conversion("infinity of FNUZ saturates where ONNX says NaN", "special_values", e4m3fnuz,
                       [](double x, Rounding r, S s, U u) {
                         return convert(std::isinf(x) ? std::copysign(1e300, x) : x, e4m3fnuz, r, s, u);
                       },
                       {.roundings = {nearest_even}, .specials = {special_values(OverflowPolicy::onnx)}}),
      wrong_conversion(
          "negative numbers of an unsigned scale by their magnitude", "special_values", ue4m3,
          [](double x, Rounding r, S s, U u) { return convert(std::fabs(x), ue4m3, r, s, u); }, plain_kernel),
      wrong_conversion(
          "-128 avoided though nobody asked for it", "overflow", int8,
          [](double x, Rounding r, S s, U u) {
            SpecialValues symmetric = s;
            symmetric.symmetric_fixed_point = true;
            return convert(x, int8, r, symmetric, u);
          },
          plain_kernel),
      wrong_decoding("subnormals decoded as normal numbers (b12x)", "decode", ue4m3,
                     [](std::uint32_t code) {
                       return code > 0 && code < 8 ? std::ldexp(1 + code / 8.0, -7) : decode(ue4m3, code);
                     }),
      wrong_decoding("the NaN of FNUZ decodes to -0 (Triton)", "round_trip", e4m3fnuz,
                     [](std::uint32_t code) { return code == 0x80 ? -0.0 : decode(e4m3fnuz, code); }),
      wrong_decoding("two codes of one number", "order", e4m3,
                     [](std::uint32_t code) { return decode(e4m3, code == 0x41 ? 0x40 : code); }),
  };
}

}  // namespace halfulp::test
