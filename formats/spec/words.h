#pragma once
#include <array>
#include <string_view>

#include "formats/block_format.h"

namespace halfulp {

/// A word that stands for a value in specs, read and written alike.
template <class T>
struct SpecValue {
  std::string_view text;
  T value;
};

inline constexpr std::array yes_no_words{SpecValue<bool>{"yes", true}, SpecValue<bool>{"no", false}};

inline constexpr std::array infinity_words{SpecValue<Infinity>{"none", Infinity::none},
                                           SpecValue<Infinity>{"ieee", Infinity::ieee},
                                           SpecValue<Infinity>{"top_code", Infinity::top_code}};

inline constexpr std::array nan_words{SpecValue<NanEncoding>{"none", NanEncoding::none},
                                      SpecValue<NanEncoding>{"ieee", NanEncoding::ieee},
                                      SpecValue<NanEncoding>{"all_ones", NanEncoding::all_ones},
                                      SpecValue<NanEncoding>{"negative_zero", NanEncoding::negative_zero}};

inline constexpr auto rule_words = [] {
  std::array<SpecValue<ScaleRule>, all_scale_rules.size()> words{};
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = {all_scale_rules[i].name, all_scale_rules[i].rule};
  return words;
}();

inline constexpr std::array tensor_scale_words{SpecValue<TensorScale>{"none", TensorScale::none},
                                               SpecValue<TensorScale>{"fp32", TensorScale::tensor},
                                               SpecValue<TensorScale>{"row", TensorScale::row}};

inline constexpr std::array scale_overflow_words{
    SpecValue<ScaleOverflow>{"saturate", ScaleOverflow::saturate},
    SpecValue<ScaleOverflow>{"nan", ScaleOverflow::nan}};

inline constexpr std::array scale_underflow_words{
    SpecValue<ScaleUnderflow>{"smallest", ScaleUnderflow::smallest},
    SpecValue<ScaleUnderflow>{"zero_elements", ScaleUnderflow::zero_elements}};

inline constexpr std::array zero_block_words{SpecValue<ZeroBlock>{"smallest", ZeroBlock::smallest},
                                             SpecValue<ZeroBlock>{"one", ZeroBlock::one},
                                             SpecValue<ZeroBlock>{"amax_one", ZeroBlock::amax_one},
                                             SpecValue<ZeroBlock>{"2^-23", ZeroBlock::two_to_minus_23},
                                             SpecValue<ZeroBlock>{"amax_2^-126", ZeroBlock::amax_min_normal}};

inline constexpr std::array nan_in_block_words{SpecValue<NanInBlock>{"poison", NanInBlock::poison},
                                               SpecValue<NanInBlock>{"ignore", NanInBlock::ignore}};

inline constexpr std::array infinity_in_block_words{
    SpecValue<InfinityInBlock>{"poison", InfinityInBlock::poison},
    SpecValue<InfinityInBlock>{"saturate", InfinityInBlock::saturate},
    SpecValue<InfinityInBlock>{"ignore", InfinityInBlock::ignore}};

inline constexpr std::array subnormal_block_words{SpecValue<SubnormalBlock>{"keep", SubnormalBlock::keep},
                                                  SpecValue<SubnormalBlock>{"flush", SubnormalBlock::flush}};

inline constexpr std::array arithmetic_words{
    SpecValue<ScaleArithmetic>{"exact", ScaleArithmetic::exact},
    SpecValue<ScaleArithmetic>{"reciprocal", ScaleArithmetic::reciprocal},
    SpecValue<ScaleArithmetic>{"quotients", ScaleArithmetic::quotients},
    SpecValue<ScaleArithmetic>{"mixed", ScaleArithmetic::mixed}};

inline constexpr std::array four_over_six_words{
    SpecValue<FourOverSix>{"none", FourOverSix::none},
    SpecValue<FourOverSix>{"always_four", FourOverSix::always_four},
    SpecValue<FourOverSix>{"abs_max", FourOverSix::abs_max}, SpecValue<FourOverSix>{"mae", FourOverSix::mae},
    SpecValue<FourOverSix>{"mse", FourOverSix::mse}};

/// ScaleConventions::rounds_up.
inline constexpr std::array scale_rounding_words{SpecValue<bool>{"nearest_even", false},
                                                 SpecValue<bool>{"up", true}};

/// in: value one of the list's
template <class Words, class T>
constexpr std::string_view word_of(const Words& words, const T& value) noexcept {
  for (const auto& known : words)
    if (known.value == value) return known.text;
  return "";
}

}  // namespace halfulp
