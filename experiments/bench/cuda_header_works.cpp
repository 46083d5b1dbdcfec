#include <algorithm>
#include <memory>

#include "experiments/bench/huge_array.h"
#include "experiments/bench/works.h"

#ifdef HALFULP_CUDA_HEADERS
#  include <cuda_bf16.h>
#  include <cuda_fp4.h>
#  include <cuda_fp8.h>
#endif

// What the conversions in the headers of the CUDA toolkit cost where there is no device: their host paths, one number a
// call, as the compiler inlines them.
namespace halfulp {

#ifndef HALFULP_CUDA_HEADERS

std::vector<Work> cuda_header_works() { return {}; }

#else

namespace {

float of_half(__half_raw x) noexcept { return __half2float(x); }

template <__nv_fp8_interpretation_t kind>
float fp8_and_back(float x) noexcept {
  return of_half(__nv_cvt_fp8_to_halfraw(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, kind), kind));
}
float fp4_and_back(float x) noexcept {
  return of_half(__nv_cvt_fp4_to_halfraw(__nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest), __NV_E2M1));
}
float bf16_and_back(float x) noexcept { return __bfloat162float(__float2bfloat16_rn(x)); }

template <float (*round)(float)>
PreparedWork prepare_in_place(const Bench& bench) {
  const auto x = std::make_shared<HugeArray<float>>(bench.elements());
  return {[x, bench] {
            for_each_part(bench, [&](std::size_t first, std::size_t count) {
              float* const part = x->data() + first;
              for (std::size_t i = 0; i < count; ++i) part[i] = round(part[i]);
              keep(x->data());
            });
          },
          [x, bench] { std::copy(bench.normal.begin(), bench.normal.end(), x->data()); }};
}

Work in_place(const char* name, const char* what, PreparedWork (*prepare)(const Bench&)) {
  return {.name = name,
          .what = what,
          .bytes_read = 4,
          .bytes_written = 4,
          .reference = rmw,
          .usual_elements = std::size_t{1} << 22,
          .prepare = prepare};
}

}  // namespace

std::vector<Work> cuda_header_works() {
  return {in_place("peer: CUDA headers e4m3 in place",
                   "f32 to e4m3 and back through half, saturating, by the headers' host functions",
                   prepare_in_place<fp8_and_back<__NV_E4M3>>),
          in_place("peer: CUDA headers e5m2 in place",
                   "f32 to e5m2 and back through half, saturating, by the headers' host functions",
                   prepare_in_place<fp8_and_back<__NV_E5M2>>),
          in_place("peer: CUDA headers e2m1 in place",
                   "f32 to e2m1 and back through half, by the headers' host functions",
                   prepare_in_place<fp4_and_back>),
          in_place("peer: CUDA headers bf16 in place",
                   "f32 to bf16 and back, by the headers' host functions", prepare_in_place<bf16_and_back>)};
}

#endif

}  // namespace halfulp
