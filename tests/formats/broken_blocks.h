#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "formats/catalog.h"
#include "formats/conformance/conformance.h"

namespace halfulp::test {

/// A block conversion with one fault that some implementation has had, and the property that has to find it.
struct BrokenBlock {
  BlockFormat format;
  BlockConversion conversion;
  std::string property;
};

using Block = std::span<const double>;

inline double largest_of(Block block) {
  double largest = 0;
  for (const double x : block) largest = std::fmax(largest, std::fabs(x));
  return largest;
}

/// Elements of a block under a scale chosen by someone else.
inline BlockCodes under_scale(const BlockFormat& f, std::uint32_t scale, Block block,
                              const TensorMultiplier& t, Rounding rounding, const SpecialValues& special,
                              std::uint32_t random) {
  BlockCodes codes{scale, {}};
  const BlockDivisor divisor = block_divisor(f, scale, t);
  for (const double x : block)
    codes.elements.push_back(convert_in_block(x, f, divisor, rounding, special, random));
  return codes;
}

/// The right conversion but for the scale code of finite blocks that are not all zero.
template <class ScaleCode>
BrokenBlock wrong_scale(const std::string& name, const BlockFormat& f, ScaleCode scale_code) {
  BlockConversion conversion = block_conversion_of(f, name);
  const auto right = conversion.convert;
  conversion.convert = [=](Block block, const TensorMultiplier& t, Rounding rounding,
                           const SpecialValues& special, std::uint32_t random, std::uint32_t scale_random) {
    const BlockCodes codes = right(block, t, rounding, special, random, scale_random);
    const double amax = largest_of(block);
    if (amax == 0 || is_nan_code(f.scale, codes.scale)) return codes;
    return under_scale(f, scale_code(amax, t), block, t, rounding, special, random);
  };
  return {f, conversion, "block_scale"};
}

/// Code of 2^exponent in E8M0.
inline std::uint32_t e8m0_code(double exponent) {
  return static_cast<std::uint32_t>(std::clamp(exponent, -127.0, 127.0) + 127);
}

inline BrokenBlock with_rule_of(const std::string& name, const BlockFormat& f, ScaleRule rule) {
  BlockFormat other = f;
  other.rule = rule;
  return {f, block_conversion_of(other, name), "block_scale"};
}

inline BrokenBlock with_conventions_of(const std::string& name, const std::string& property,
                                       const BlockFormat& f, const ScaleConventions& conventions) {
  return {f, block_conversion_of(with_conventions(f, conventions), name), property};
}

inline std::vector<BrokenBlock> faults_of_scales() {
  return {
      with_rule_of("rfloor where ocp_floor is meant (Triton ROUND_DOWN)", mx(e2m1, ScaleRule::ocp_floor),
                   ScaleRule::rfloor),
      with_rule_of("ceil where rceil is meant", mx(e4m3, ScaleRule::rceil), ScaleRule::ceil),
      with_rule_of("even with the other tie (FBGEMM against torchao)", mx(e2m3, ScaleRule::even),
                   ScaleRule::even_tie_down),
      with_rule_of("the logarithm rounded to nearest clips where the floor rule fits (MLX)",
                   mx(e4m3, ScaleRule::ocp_floor), ScaleRule::log2_nearest),
      // log2f of a quotient next to a power of two is that power: the ceiling is one too low.
      wrong_scale("rceil as ceil(log2f(amax / M)) in float", mx(e4m3, ScaleRule::rceil),
                  [](double amax, const TensorMultiplier&) {
                    return e8m0_code(std::ceil(std::log2(to_float(amax) / 448.0f)));
                  }),
      wrong_scale("ocp_floor as floor(log2f(amax)), one too high just below a power of two",
                  mx(e5m2, ScaleRule::ocp_floor),
                  [](double amax, const TensorMultiplier&) {
                    return e8m0_code(std::floor(std::log2(to_float(amax))) - 15);
                  }),
      wrong_scale(
          "MXINT8 with the top binade clipped (universal)", mx(int8, ScaleRule::ocp_floor),
          [](double amax, const TensorMultiplier&) { return e8m0_code(std::floor(std::log2(amax)) - 1); }),
      wrong_scale("half an ulp of another element format (vLLM: e2m1 is 2^21)", mx(e2m1, ScaleRule::even),
                  [](double amax, const TensorMultiplier& t) {
                    return choose_scale(mx(e2m3, ScaleRule::even), amax, t, 0);
                  }),
      wrong_scale(
          "a largest element of 448 for e5m2", mx(e5m2, ScaleRule::rceil),
          [](double amax, const TensorMultiplier&) { return e8m0_code(std::ceil(std::log2(amax / 448))); }),
      wrong_scale("NVFP4 scale as amax * fl(1/6) / t in float", nvfp4,
                  [](double amax, const TensorMultiplier& t) {
                    const float scale = to_float(amax) * (1.0f / 6) / t.decode;
                    return convert(scale, ue4m3, nearest_even, special_values(OverflowPolicy::saturate), 0);
                  }),
      with_conventions_of("a floor under the scales that nobody asked for (torchao)", "block_scale", nvfp4,
                          {.floor = 0x1p-6}),
      with_conventions_of("NaN passed over in the largest magnitude (fmax)", "block_conventions",
                          mx(e4m3, ScaleRule::ocp_floor), {.nan = NanInBlock::ignore}),
      with_conventions_of("a block of zeros has scale 1", "block_conventions", mx(e2m1, ScaleRule::rceil),
                          {.zero_block = ZeroBlock::one}),
      with_conventions_of("FTZ: blocks of fp32 subnormals flushed", "block_conventions",
                          mx(e4m3, ScaleRule::ocp_floor), {.subnormal_block = SubnormalBlock::flush}),
  };
}

inline std::vector<BrokenBlock> faults_of_elements() {
  std::vector<BrokenBlock> all;
  {
    const BlockFormat f = scaled_by_fp32(e4m3, {BlockAxis::flattened, 256});
    BlockConversion conversion = block_conversion_of(f, "x times the reciprocal of the scale");
    conversion.convert = [f](Block block, const TensorMultiplier& t, Rounding rounding,
                             const SpecialValues& special, std::uint32_t random, std::uint32_t scale_random) {
      const std::uint32_t scale = choose_scale(f, largest_of(block), t, scale_random);
      BlockCodes codes{scale, {}};
      const double factor = 1 / decode(fp32, scale);
      for (const double x : block)
        codes.elements.push_back(convert(x * factor, e4m3, rounding, special, random));
      return codes;
    };
    all.push_back({f, conversion, "block_elements"});
  }
  {
    BlockConversion conversion = block_conversion_of(nvfp4, "decoding as q * fl(s * t)");
    conversion.decode = [](std::uint32_t code, std::uint32_t scale, const TensorMultiplier& t) {
      return static_cast<double>(static_cast<float>(decode(e2m1, code)) *
                                 (static_cast<float>(decode(ue4m3, scale)) * t.decode));
    };
    all.push_back({nvfp4, conversion, "block_decode"});
  }
  {
    BlockConversion conversion = block_conversion_of(nvfp4, "tensor scale as amax / 448 / 6 in float");
    conversion.tensor_scale = [](double amax) -> TensorMultiplier {
      if (!(amax > 0) || std::isinf(amax)) return choose_tensor_scale(nvfp4, amax);
      return {std::fmin(to_float(amax) / 448.0f / 6.0f, std::numeric_limits<float>::max())};
    };
    all.push_back({nvfp4, conversion, "tensor_scale"});
  }
  {
    // The last block of a row is filled up with what stood there before.
    const BlockFormat f = mx(e4m3, ScaleRule::ocp_floor);
    BlockConversion conversion = block_conversion_of(f, "a short block scaled with stale numbers behind it");
    const auto right = conversion.convert;
    conversion.convert = [=](Block block, const TensorMultiplier& t, Rounding rounding,
                             const SpecialValues& special, std::uint32_t random, std::uint32_t scale_random) {
      std::vector<double> full(block.begin(), block.end());
      if (full.size() > 2) full.resize(std::max<std::size_t>(full.size(), 32), 1e9);
      BlockCodes codes = right(full, t, rounding, special, random, scale_random);
      codes.elements.resize(block.size());
      return codes;
    };
    all.push_back({f, conversion, "short_block"});
  }
  {
    // 0x01 and 0x02 of the elements exchanged on the way out and in the same way on the way in: only decoding
    // tells.
    const BlockFormat f = mx(e2m1, ScaleRule::ocp_floor);
    BlockConversion conversion = block_conversion_of(f, "nibbles read in the wrong order of bits");
    const auto right = conversion.decode;
    conversion.decode = [=](std::uint32_t code, std::uint32_t scale, const TensorMultiplier& t) {
      const std::uint32_t swapped = (code & 8) | (code & 1) << 2 | (code & 2) | (code & 4) >> 2;
      return right(swapped, scale, t);
    };
    all.push_back({f, conversion, "block_round_trip"});
  }
  return all;
}

}  // namespace halfulp::test
