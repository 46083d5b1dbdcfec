// The preset `cuda` against the host conversions of the CUDA toolkit's headers themselves, where they are.
#include <doctest/doctest.h>

#include <bit>

#include "formats/packing.h"
#include "tests/formats/cuda_host.h"

#ifdef HALFULP_CUDA_HEADERS
#  include <cuda_fp4.h>
#  include <cuda_fp6.h>
#  include <cuda_fp8.h>
#endif

using namespace halfulp;
using namespace halfulp::test;

#ifndef HALFULP_CUDA_HEADERS

TEST_CASE("cuda headers: conversions from float, double, half and bfloat16, and back") {
  MESSAGE("SKIPPED: no CUDA toolkit with cuda_fp4.h was found when the tests were configured");
}

#else

namespace {

double number(std::uint32_t fp32_bits) { return std::bit_cast<float>(fp32_bits); }

/// One of the headers' conversions under one interpretation, rounding and saturation, from each source type.
struct HostFunction {
  std::string_view name;
  CudaConversion ours;
  std::uint32_t (*from_float)(float);
  std::uint32_t (*from_double)(double);
  std::uint32_t (*from_half)(__half_raw);  ///< none for E8M0
  std::uint32_t (*from_bf16)(__nv_bfloat16_raw);
};

template <__nv_fp8_interpretation_t kind, __nv_saturation_t saturation>
HostFunction fp8(std::string_view name, const ScalarFormat& f) {
  return {
      name,
      {f, nearest_even, saturation == __NV_SATFINITE ? OverflowPolicy::saturate : OverflowPolicy::ocp},
      [](float x) -> std::uint32_t { return __nv_cvt_float_to_fp8(x, saturation, kind); },
      [](double x) -> std::uint32_t { return __nv_cvt_double_to_fp8(x, saturation, kind); },
      [](__half_raw x) -> std::uint32_t { return __nv_cvt_halfraw_to_fp8(x, saturation, kind); },
      [](__nv_bfloat16_raw x) -> std::uint32_t { return __nv_cvt_bfloat16raw_to_fp8(x, saturation, kind); }};
}

constexpr Rounding ours(cudaRoundMode mode) {
  return {mode == cudaRoundNearest  ? RoundingMode::nearest_even
          : mode == cudaRoundPosInf ? RoundingMode::up
          : mode == cudaRoundMinInf ? RoundingMode::down
                                    : RoundingMode::toward_zero,
          0};
}

template <__nv_fp6_interpretation_t kind, cudaRoundMode mode>
HostFunction fp6(std::string_view name, const ScalarFormat& f) {
  return {name,
          {f, ours(mode), OverflowPolicy::saturate},
          [](float x) -> std::uint32_t { return __nv_cvt_float_to_fp6(x, kind, mode); },
          [](double x) -> std::uint32_t { return __nv_cvt_double_to_fp6(x, kind, mode); },
          [](__half_raw x) -> std::uint32_t { return __nv_cvt_halfraw_to_fp6(x, kind, mode); },
          [](__nv_bfloat16_raw x) -> std::uint32_t { return __nv_cvt_bfloat16raw_to_fp6(x, kind, mode); }};
}

template <cudaRoundMode mode>
HostFunction fp4(std::string_view name) {
  return {
      name,
      {e2m1, ours(mode), OverflowPolicy::saturate},
      [](float x) -> std::uint32_t { return __nv_cvt_float_to_fp4(x, __NV_E2M1, mode); },
      [](double x) -> std::uint32_t { return __nv_cvt_double_to_fp4(x, __NV_E2M1, mode); },
      [](__half_raw x) -> std::uint32_t { return __nv_cvt_halfraw_to_fp4(x, __NV_E2M1, mode); },
      [](__nv_bfloat16_raw x) -> std::uint32_t { return __nv_cvt_bfloat16raw_to_fp4(x, __NV_E2M1, mode); }};
}

/// Rounded to zero without saturation, a finite number beyond 2^127 stays there, as under policy ieee.
template <__nv_saturation_t saturation, cudaRoundMode mode>
HostFunction scale(std::string_view name) {
  return {
      name,
      {e8m0, ours(mode), saturation == __NV_SATFINITE ? OverflowPolicy::saturate : OverflowPolicy::ieee},
      [](float x) -> std::uint32_t { return __nv_cvt_float_to_e8m0(x, saturation, mode); },
      [](double x) -> std::uint32_t { return __nv_cvt_double_to_e8m0(x, saturation, mode); },
      nullptr,
      [](__nv_bfloat16_raw x) -> std::uint32_t { return __nv_cvt_bfloat16raw_to_e8m0(x, saturation, mode); }};
}

const std::vector<HostFunction>& host_functions() {
  static const std::vector<HostFunction> all{fp8<__NV_E4M3, __NV_SATFINITE>("e4m3 satfinite", e4m3),
                                             fp8<__NV_E4M3, __NV_NOSAT>("e4m3 nosat", e4m3),
                                             fp8<__NV_E5M2, __NV_SATFINITE>("e5m2 satfinite", e5m2),
                                             fp8<__NV_E5M2, __NV_NOSAT>("e5m2 nosat", e5m2),
                                             fp6<__NV_E2M3, cudaRoundNearest>("e2m3 rn", e2m3),
                                             fp6<__NV_E2M3, cudaRoundZero>("e2m3 rz", e2m3),
                                             fp6<__NV_E3M2, cudaRoundNearest>("e3m2 rn", e3m2),
                                             fp6<__NV_E3M2, cudaRoundZero>("e3m2 rz", e3m2),
                                             fp4<cudaRoundNearest>("e2m1 rn"),
                                             fp4<cudaRoundZero>("e2m1 rz"),
                                             scale<__NV_SATFINITE, cudaRoundZero>("e8m0 rz satfinite"),
                                             scale<__NV_SATFINITE, cudaRoundPosInf>("e8m0 rp satfinite"),
                                             scale<__NV_NOSAT, cudaRoundZero>("e8m0 rz nosat"),
                                             scale<__NV_NOSAT, cudaRoundPosInf>("e8m0 rp nosat")};
  return all;
}

/// Numbers of a format and middles between them, the first middle beyond its largest, ends of fp32 and fp64.
std::vector<double> breakpoints(const ScalarFormat& f) {
  std::vector<double> all{0,
                          0x1p-149,
                          0x1p-1074,
                          0x1p-126,
                          0x1p-127,
                          0x1p-128,
                          0x1.8p-128,
                          std::numeric_limits<float>::max(),
                          0x1.ffffffp127,
                          0x1p128,
                          0x1p129,
                          1e300};
  for (std::uint32_t code = 0; code <= f.top_magnitude(); ++code) {
    const double here = decode(f, code);
    const double next = code < f.top_magnitude() ? decode(f, code + 1) : 2 * here - decode(f, code - 1);
    all.insert(all.end(), {here, here / 2 + next / 2, next});
  }
  return all;
}

}  // namespace

TEST_CASE("cuda headers: from float and double at every breakpoint and one step beside it, of both signs") {
  for (const HostFunction& host : host_functions()) {
    INFO(std::string(host.name));
    const auto check = [&](std::uint32_t got, std::uint32_t expected, double x) {
      if (got == expected) return;
      INFO(x);
      CHECK(got == expected);
    };
    for (const double point : breakpoints(host.ours.format))
      for (const double x : {point, -point}) {
        for (const double beside : {x, std::nextafter(x, HUGE_VAL), std::nextafter(x, -HUGE_VAL)})
          check(host.ours(beside), host.from_double(beside), beside);
        if (std::fabs(x) > std::numeric_limits<float>::max()) continue;
        const auto narrow = static_cast<float>(x);
        for (const float beside :
             {narrow, std::nextafter(narrow, HUGE_VALF), std::nextafter(narrow, -HUGE_VALF)})
          check(host.ours(beside), host.from_float(beside), beside);
      }
    for (const double infinite : {HUGE_VAL, -HUGE_VAL}) {
      check(host.ours(infinite), host.from_double(infinite), infinite);
      check(host.ours(infinite), host.from_float(static_cast<float>(infinite)), infinite);
    }
  }
}

TEST_CASE("cuda headers: from every half and every bfloat16") {
  for (const HostFunction& host : host_functions()) {
    INFO(std::string(host.name));
    std::uint64_t different = 0;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      __half_raw half_number;
      half_number.x = static_cast<unsigned short>(bits);
      __nv_bfloat16_raw brain;
      brain.x = static_cast<unsigned short>(bits);
      if (host.from_half) different += host.ours(decode(fp16, bits)) != host.from_half(half_number) ? 1 : 0;
      different += host.ours(decode(bf16, bits)) != host.from_bf16(brain) ? 1 : 0;
    }
    CHECK(different == 0);
  }
}

TEST_CASE(
    "cuda headers: NaN of any sign and payload; from double, FP8 keeps the sign and what fits of the "
    "payload") {
  for (const HostFunction& host : host_functions()) {
    INFO(std::string(host.name));
    for (const std::uint32_t bits :
         {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, 0x7fffffffu, 0x7fa00000u})
      CHECK(host.ours(number(bits)) == host.from_float(std::bit_cast<float>(bits)));
    const bool is_fp8 = host.ours.format == e4m3 || host.ours.format == e5m2;
    CudaConversion from_double = host.ours;
    if (is_fp8)
      from_double.special.nan_sign = NanSign::keep, from_double.special.nan_payload = NanPayload::keep_top;
    for (const std::uint64_t bits :
         {0x7ff8'0000'0000'0000u, 0xfff8'0000'0000'0000u, 0x7ff4'0000'0000'0000u, 0xfffc'0000'0000'0000u,
          0x7fff'ffff'ffff'ffffu, 0x7ff0'0000'0000'0001u}) {
      INFO("fp64 bits ", bits);
      const auto x = std::bit_cast<double>(bits);
      CHECK(from_double(x) == host.from_double(x));
    }
  }
}

TEST_CASE("cuda headers: decoders give the same numbers, and one NaN") {
  const auto check = [](const ScalarFormat& f, std::uint32_t code, const ScalarFormat& target,
                        std::uint32_t got) {
    INFO("code ", code, " of ", f.bits(), " bits");
    const double value = decode(f, code);
    if (value != value)
      CHECK(got == 0x7fff);
    else
      CHECK(got == convert(value, target, nearest_even, special_values(OverflowPolicy::ieee), 0));
  };
  for (std::uint32_t code = 0; code < 256; ++code) {
    const auto byte = static_cast<unsigned char>(code);
    check(e4m3, code, fp16, __nv_cvt_fp8_to_halfraw(byte, __NV_E4M3).x);
    check(e5m2, code, fp16, __nv_cvt_fp8_to_halfraw(byte, __NV_E5M2).x);
    check(e8m0, code, bf16, __nv_cvt_e8m0_to_bf16raw(byte).x);
    if (code < 64) check(e2m3, code, fp16, __nv_cvt_fp6_to_halfraw(byte, __NV_E2M3).x);
    if (code < 64) check(e3m2, code, fp16, __nv_cvt_fp6_to_halfraw(byte, __NV_E3M2).x);
    if (code < 16) check(e2m1, code, fp16, __nv_cvt_fp4_to_halfraw(byte, __NV_E2M1).x);
  }
}

TEST_CASE("cuda headers: of a pair, the first stands in the low nibble") {
  for (std::uint32_t low = 0; low < 16; ++low)
    for (std::uint32_t high = 0; high < 16; ++high) {
      const float2 pair{static_cast<float>(decode(e2m1, low)), static_cast<float>(decode(e2m1, high))};
      std::uint8_t byte = 0;
      store_code(e2m1, &byte, 0, low);
      store_code(e2m1, &byte, 1, high);
      CHECK(byte == __nv_cvt_float2_to_fp4x2(pair, __NV_E2M1, cudaRoundNearest));
    }
}

#endif
