#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

/// NVFP4 as three libraries compute it, in plain floats and by their formulas: nothing of formats/ is used, and numbers
/// are rounded by comparing with every neighbour.
namespace halfulp::test {

/// A block, or a whole tensor of blocks, in codes.
struct CodedNvfp4 {
  std::vector<std::uint32_t> scales, codes;

  friend bool operator==(const CodedNvfp4&, const CodedNvfp4&) = default;
};

/// The magnitudes of E2M1 and of E4M3, by code.
inline const std::vector<float> e2m1_magnitudes{0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
inline const std::vector<float> e4m3_magnitudes = [] {
  std::vector<float> all;
  for (int code = 0; code < 0x7f; ++code)
    all.push_back(code < 8 ? std::ldexp(static_cast<float>(code), -9)
                           : std::ldexp(static_cast<float>(8 + code % 8), code / 8 - 10));
  return all;
}();

/// Nearest, ties to the even code, saturating.
/// in: x >= 0, no NaN
inline std::uint32_t nearest_code(const std::vector<float>& magnitudes, float x) {
  std::uint32_t best = 0;
  for (std::uint32_t code = 1; code < magnitudes.size(); ++code) {
    const double below = std::fabs(double{x} - magnitudes[best]),
                 here = std::fabs(double{x} - magnitudes[code]);
    if (here < below || (here == below && code % 2 == 0)) best = code;
  }
  return x > magnitudes.back() ? static_cast<std::uint32_t>(magnitudes.size() - 1) : best;
}

inline std::uint32_t nearest_e2m1(float x) {
  return nearest_code(e2m1_magnitudes, std::fabs(x)) | (std::signbit(x) ? 8u : 0u);
}

inline float largest_of(const std::vector<float>& x, std::size_t from, std::size_t count) {
  float largest = 0;
  for (std::size_t i = from; i < from + count; ++i) largest = std::fmax(largest, std::fabs(x[i]));
  return largest;
}

constexpr float largest_float = std::numeric_limits<float>::max();

/// Transformer Engine: multiplications by reciprocals.
inline CodedNvfp4 transformer_engine_nvfp4(const std::vector<float>& x, float a) {
  float encode = std::fmin(2688.0f / a, largest_float);
  if (a == 0 || encode == 0) encode = 1;
  CodedNvfp4 out;
  for (std::size_t begin = 0; begin < x.size(); begin += 16) {
    const std::size_t count = std::min<std::size_t>(16, x.size() - begin);
    const float b = largest_of(x, begin, count), sixth = 1.0f / 6, multiplier = encode * sixth;
    out.scales.push_back(nearest_code(e4m3_magnitudes, b * multiplier));
    const float decoded = 1.0f / encode, scale = e4m3_magnitudes[out.scales.back()] * decoded;
    const float up = std::fmin(1.0f / scale, largest_float);
    for (std::size_t i = begin; i < begin + count; ++i) out.codes.push_back(nearest_e2m1(x[i] * up));
  }
  return out;
}

/// ModelOpt: quotients. A scale of 0 (a block of zeros) is taken for 1. A positive one may still vanish when it is
/// rounded, and would be divided by: +-Inf, and NaN of the zeros. Such blocks read back as zeros and are signed zeros here.
inline CodedNvfp4 modelopt_nvfp4(const std::vector<float>& x, float a) {
  const float second = a / 2688.0f;
  CodedNvfp4 out;
  for (std::size_t begin = 0; begin < x.size(); begin += 16) {
    const std::size_t count = std::min<std::size_t>(16, x.size() - begin);
    const float divisor = 6.0f * second, s = largest_of(x, begin, count) / divisor;
    out.scales.push_back(nearest_code(e4m3_magnitudes, s == 0 ? 1.0f : s));
    const float scale = e4m3_magnitudes[out.scales.back()] * second;
    for (std::size_t i = begin; i < begin + count; ++i)
      out.codes.push_back(nearest_e2m1(scale == 0 ? std::copysign(0.0f, x[i]) : x[i] / scale));
  }
  return out;
}

/// torchao: mixed, with block scales from 2^-6 on.
inline CodedNvfp4 torchao_nvfp4(const std::vector<float>& x, float a) {
  const float second = a / (448.0f * 6.0f);
  CodedNvfp4 out;
  for (std::size_t begin = 0; begin < x.size(); begin += 16) {
    const std::size_t count = std::min<std::size_t>(16, x.size() - begin);
    const float sixth = largest_of(x, begin, count) / 6.0f, s = sixth / second;
    out.scales.push_back(nearest_code(e4m3_magnitudes, std::fmin(std::fmax(s, 0x1p-6f), 448.0f)));
    const float inverse = 1.0f / second, up = inverse / e4m3_magnitudes[out.scales.back()];
    for (std::size_t i = begin; i < begin + count; ++i) out.codes.push_back(nearest_e2m1(x[i] * up));
  }
  return out;
}

}  // namespace halfulp::test
