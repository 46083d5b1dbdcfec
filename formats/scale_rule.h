#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace halfulp {

/// How the scale of a block is chosen from the largest magnitude in it (amax). With em = exponent of the element's
/// largest number, M that number, m its fraction bits, a = amax (over the tensor scale, where there is one) and
/// a = 2^e (1 + f):
///   ocp_floor            2^(e - em)                        OCP MX v1.0, 6.3: the top of the last binade saturates
///   even                 2^(e + [1 + f >= 2 - 2^-(m+1)] - em)     torchao EVEN, Quark: half an element ulp rounds up
///   even_tie_down        the same with > instead of >=     FBGEMM even
///   ceil                 2^(ceil(log2 a) - em)             torchao CEIL, FBGEMM
///   rceil                2^ceil(log2(a / M))               the smallest power of two that saturates nothing
///   rfloor               2^floor(log2(a / M))              Triton ROUND_DOWN
///   log2_nearest         2^round(log2(a / M))              MLX before its PR 4353
///   log2_nearest_binade  2^(floor(log2 a + 1/2) - em)      FBGEMM nearest
///   stochastic_exponent  2^(e + [f 2^23 + r >= 2^23] - em), r of 23 random bits    FBGEMM stochastic
///   amax                 a / M, rounded to the scale format
///   p3109_maxabs         a, rounded to the scale format: elements lie in [-1, 1] (P3109 v4.0, 5.2.3)
enum class ScaleRule : std::uint8_t {
  none,
  ocp_floor,
  even,
  even_tie_down,
  ceil,
  rceil,
  rfloor,
  log2_nearest,
  log2_nearest_binade,
  stochastic_exponent,
  amax,
  p3109_maxabs,
};

struct NamedScaleRule {
  std::string_view name;
  ScaleRule rule;
};

/// Every rule that a block can have.
inline constexpr std::array all_scale_rules{
    NamedScaleRule{"ocp_floor", ScaleRule::ocp_floor},
    NamedScaleRule{"even", ScaleRule::even},
    NamedScaleRule{"even_tie_down", ScaleRule::even_tie_down},
    NamedScaleRule{"ceil", ScaleRule::ceil},
    NamedScaleRule{"rceil", ScaleRule::rceil},
    NamedScaleRule{"rfloor", ScaleRule::rfloor},
    NamedScaleRule{"log2_nearest", ScaleRule::log2_nearest},
    NamedScaleRule{"log2_nearest_binade", ScaleRule::log2_nearest_binade},
    NamedScaleRule{"stochastic_exponent", ScaleRule::stochastic_exponent},
    NamedScaleRule{"amax", ScaleRule::amax},
    NamedScaleRule{"p3109_maxabs", ScaleRule::p3109_maxabs},
};

constexpr std::string_view name_of(ScaleRule rule) noexcept {
  for (const NamedScaleRule& known : all_scale_rules)
    if (known.rule == rule) return known.name;
  return "none";
}

/// Random bits that stochastic_exponent takes for a block.
inline constexpr int scale_random_bits = 23;

/// A scale beyond the largest of its format: that one, or NaN, which poisons the block.
enum class ScaleOverflow : std::uint8_t { saturate, nan };

/// A scale below the smallest of its format: that one (for the rules that round, zero where the format has it), or in
/// addition every element becomes zero (Triton and FourOverSix, whose scale code 0 does that).
enum class ScaleUnderflow : std::uint8_t { smallest, zero_elements };

/// Scale of a block of zeros.
enum class ZeroBlock : std::uint8_t {
  smallest,         ///< code 0
  one,              ///< 1
  amax_one,         ///< what the rule gives to an amax of 1 (universal)
  two_to_minus_23,  ///< AMD Quark
  amax_min_normal,  ///< what the rule gives to an amax of 2^-126 (microxcaling)
};

/// A NaN in a block: its scale becomes NaN, or amax is taken over the others and the NaN converted as an element.
enum class NanInBlock : std::uint8_t { poison, ignore };

/// An infinity in a block: as a NaN; or the largest scale; or amax is taken over the finite elements.
enum class InfinityInBlock : std::uint8_t { poison, saturate, ignore };

/// Blocks whose amax is an fp32 subnormal: kept, or all zero (microxcaling's mx_flush_fp32_subnorms).
enum class SubnormalBlock : std::uint8_t { keep, flush };

/// In what arithmetic the scales of rule `amax` and the quotients x / (s t) are made; fl is one rounding to fp32, A the
/// amax of the tensor, b that of the block, L the largest scale, t the tensor scale.
///   exact       s = b / (M t), q = x / (s t): each the exact quotient, rounded once
///   reciprocal  S = fl(L M / A), s = fl(b fl(S fl(1/M))), q = fl(x fl(1 / fl(s fl(1/S))))    Transformer Engine
///   quotients   s = fl(b / fl(M t)), q = fl(x / fl(s t))                                     ModelOpt
///   mixed       s = fl(fl(b / M) / t), q = fl(x fl(fl(1/t) / s))                             torchao
/// Factors stay finite, and a divisor of 0 leaves signed zeros; either way the block reads as zeros.
enum class ScaleArithmetic : std::uint8_t { exact, reciprocal, quotients, mixed };

/// Blocks of e2m1 that choose between the scale for 6 and the one for 4, which is 3/2 of it: by the smaller error of
/// the decoded block, the first in a tie; or always the one for 4.
enum class FourOverSix : std::uint8_t { none, always_four, abs_max, mae, mse };

/// What a block format decides besides its rule.
struct ScaleConventions {
  ScaleOverflow overflow = ScaleOverflow::saturate;
  ScaleUnderflow underflow = ScaleUnderflow::smallest;
  ZeroBlock zero_block = ZeroBlock::smallest;
  NanInBlock nan = NanInBlock::poison;
  InfinityInBlock infinity = InfinityInBlock::poison;
  SubnormalBlock subnormal_block = SubnormalBlock::keep;
  ScaleArithmetic arithmetic = ScaleArithmetic::exact;
  FourOverSix four_over_six = FourOverSix::none;
  bool rounds_up =
      false;         ///< rules amax and p3109_maxabs: the scale is rounded up instead of to nearest even
  double floor = 0;  ///< no scale below this one (torchao: 2^-6); 0: none
  double largest =
      0;  ///< the block of the tensor's amax gets this scale (448, or 256); 0: the format's largest
  int highest_exponent = 1024;  ///< of power-of-two scales (FBGEMM: 125)

  friend constexpr bool operator==(const ScaleConventions&, const ScaleConventions&) = default;
};

}  // namespace halfulp
