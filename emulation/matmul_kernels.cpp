// Compiled once per instruction set: Highway includes this file again for each (hence no include guard here).
// The sizeless vectors of SVE and RVV cannot be kept in arrays; those machines run their fixed-size target.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "emulation/matmul.h"

#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "emulation/matmul_kernels.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halfulp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// MulAdd rounds once only here; elsewhere (SSE4) it is a product and a sum.
#undef HALFULP_FUSED
#if HWY_TARGET == HWY_AVX3 || (HWY_TARGET == HWY_AVX2 && !defined(HWY_DISABLE_BMI2_FMA)) || \
    (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64)
#  define HALFULP_FUSED 1
#else
#  define HALFULP_FUSED 0
#endif

#if HALFULP_FUSED

// 4 x 3 accumulators, 3 vectors of b and one of a are the 16 registers of AVX2; 12 chains exceed the 8 that
// two multiply-adders of latency 4 need. 256 rows of b, 3 vectors wide, are 24 KiB on AVX2.
constexpr std::size_t max_rows = 4, max_vectors = 3, depth_step = 256;

/// Continues the chains of `rows` rows and `vectors` vectors of columns over `depth` more terms. Storing a
/// chain and loading it again changes nothing, since its accumulator has the precision of c.
template <std::size_t rows, std::size_t vectors, class Real>
HWY_INLINE void continue_chains(const Real* HWY_RESTRICT a, std::size_t a_stride, const Real* HWY_RESTRICT b,
                                std::size_t b_stride, Real* HWY_RESTRICT c, std::size_t c_stride,
                                std::size_t depth, bool first) {
  const hn::ScalableTag<Real> d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sum[rows][vectors];
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t v = 0; v < vectors; ++v)
      sum[i][v] = first ? hn::Zero(d) : hn::LoadU(d, c + i * c_stride + v * lanes);
  for (std::size_t l = 0; l < depth; ++l) {
    hn::Vec<decltype(d)> row_of_b[vectors];
    for (std::size_t v = 0; v < vectors; ++v) row_of_b[v] = hn::LoadU(d, b + l * b_stride + v * lanes);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto factor = hn::Set(d, a[i * a_stride + l]);
      for (std::size_t v = 0; v < vectors; ++v) sum[i][v] = hn::MulAdd(factor, row_of_b[v], sum[i][v]);
    }
  }
  const auto nan = hn::Set(d, std::numeric_limits<Real>::quiet_NaN());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t v = 0; v < vectors; ++v)
      hn::StoreU(hn::IfThenElse(hn::IsNaN(sum[i][v]), nan, sum[i][v]), d, c + i * c_stride + v * lanes);
}

/// A strip of b: `columns` columns from `b` on, `depth` rows deep.
template <class Real>
struct Strip {
  const Real* b;
  std::size_t b_stride, columns, depth;
  bool first;
};

/// Copies a strip, its rows padded with zeros to whole vectors.
template <std::size_t vectors, class Real>
HWY_INLINE void pack(const Strip<Real>& strip, Real* packed) {
  const hn::ScalableTag<Real> d;
  const std::size_t lanes = hn::Lanes(d), whole = strip.columns / lanes, rest = strip.columns % lanes;
  for (std::size_t l = 0; l < strip.depth; ++l) {
    const Real* from = strip.b + l * strip.b_stride;
    Real* to = packed + l * vectors * lanes;
    for (std::size_t v = 0; v < whole; ++v) hn::Store(hn::LoadU(d, from + v * lanes), d, to + v * lanes);
    if (rest == 0) continue;
#  if HWY_ARCH_X86
    // these instructions do not touch masked lanes, so nothing is read beyond the end of b
    hn::Store(hn::MaskedLoad(hn::FirstN(d, rest), d, from + whole * lanes), d, to + whole * lanes);
#  else
    hn::Store(hn::Zero(d), d, to + whole * lanes);
    std::copy_n(from + whole * lanes, rest, to + whole * lanes);
#  endif
  }
}

/// Rows of c in the columns of a strip. Where the last vector is not full, c passes through a padded tile.
template <std::size_t rows, std::size_t vectors, class Real>
HWY_INLINE void multiply_tile(const Real* a, std::size_t k, const Strip<Real>& strip, Real* c,
                              std::size_t n) {
  constexpr std::size_t width = vectors * hn::MaxLanes(hn::ScalableTag<Real>());
  if (strip.columns == width)
    return continue_chains<rows, vectors>(a, k, strip.b, strip.b_stride, c, n, strip.depth, strip.first);
  HWY_ALIGN Real tile[rows * width] = {};
  for (std::size_t i = 0; i < rows && !strip.first; ++i)
    std::copy_n(c + i * n, strip.columns, tile + i * width);
  continue_chains<rows, vectors>(a, k, strip.b, strip.b_stride, tile, width, strip.depth, strip.first);
  for (std::size_t i = 0; i < rows; ++i) std::copy_n(tile + i * width, strip.columns, c + i * n);
}

template <std::size_t vectors, class Real>
HWY_NOINLINE void multiply_strip(const Real* a, std::size_t m, std::size_t k, Strip<Real> strip, Real* c,
                                 std::size_t n) {
  constexpr std::size_t width = vectors * hn::MaxLanes(hn::ScalableTag<Real>());
  HWY_ALIGN Real packed[depth_step * width];
  // Packing pads the last vector and spares many rows the long strides; few rows would not repay it.
  if (strip.columns != width || m >= 2 * max_rows) {
    pack<vectors>(strip, packed);
    strip.b = packed;
    strip.b_stride = width;
  }
  std::size_t i = 0;
  for (; i + max_rows <= m; i += max_rows)
    multiply_tile<max_rows, vectors>(a + i * k, k, strip, c + i * n, n);
  switch (m - i) {
    case 3:
      return multiply_tile<3, vectors>(a + i * k, k, strip, c + i * n, n);
    case 2:
      return multiply_tile<2, vectors>(a + i * k, k, strip, c + i * n, n);
    case 1:
      return multiply_tile<1, vectors>(a + i * k, k, strip, c + i * n, n);
  }
}

template <class Real>
void multiply(const Real* a, const Real* b, Real* c, std::size_t m, std::size_t k, std::size_t n) noexcept {
  constexpr std::size_t lanes = hn::MaxLanes(hn::ScalableTag<Real>());
  if (k == 0) std::fill_n(c, m * n, Real(0));
  for (std::size_t l = 0; l < k; l += depth_step) {
    for (std::size_t j = 0; j < n; j += max_vectors * lanes) {
      const std::size_t columns = std::min(max_vectors * lanes, n - j);
      const Strip<Real> strip{b + l * n + j, n, columns, std::min(depth_step, k - l), l == 0};
      if (columns > 2 * lanes)
        multiply_strip<3>(a + l, m, k, strip, c + j, n);
      else if (columns > lanes)
        multiply_strip<2>(a + l, m, k, strip, c + j, n);
      else
        multiply_strip<1>(a + l, m, k, strip, c + j, n);
    }
  }
}

#else

/// std::fma term by term: slow and right. b is read along its rows.
template <class Real>
void multiply(const Real* a, const Real* b, Real* c, std::size_t m, std::size_t k, std::size_t n) noexcept {
  for (std::size_t i = 0; i < m; ++i) {
    Real* row = c + i * n;
    std::fill_n(row, n, Real(0));
    for (std::size_t l = 0; l < k; ++l)
      for (std::size_t j = 0; j < n; ++j) row[j] = std::fma(a[i * k + l], b[l * n + j], row[j]);
    for (std::size_t j = 0; j < n; ++j)
      row[j] = row[j] == row[j] ? row[j] : std::numeric_limits<Real>::quiet_NaN();
  }
}

#endif

void multiply_float(const float* a, const float* b, float* c, std::size_t m, std::size_t k,
                    std::size_t n) noexcept {
  multiply(a, b, c, m, k, n);
}
void multiply_double(const double* a, const double* b, double* c, std::size_t m, std::size_t k,
                     std::size_t n) noexcept {
  multiply(a, b, c, m, k, n);
}

}  // namespace halfulp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace halfulp {
namespace {

// Targets above the baseline, best first, then the baseline itself, which every CPU that runs this build has.
constexpr MatmulKernel kernels[] = {
#  if (HWY_TARGETS & HWY_AVX3) && HWY_STATIC_TARGET != HWY_AVX3
    {"AVX3", N_AVX3::multiply_float, N_AVX3::multiply_double},
#  endif
#  if (HWY_TARGETS & HWY_AVX2) && HWY_STATIC_TARGET != HWY_AVX2
    {"AVX2", N_AVX2::multiply_float, N_AVX2::multiply_double},
#  endif
    {"baseline", HWY_STATIC_DISPATCH(multiply_float), HWY_STATIC_DISPATCH(multiply_double)},
};
constexpr std::int64_t bits[] = {
#  if (HWY_TARGETS & HWY_AVX3) && HWY_STATIC_TARGET != HWY_AVX3
    HWY_AVX3,
#  endif
#  if (HWY_TARGETS & HWY_AVX2) && HWY_STATIC_TARGET != HWY_AVX2
    HWY_AVX2,
#  endif
    HWY_STATIC_TARGET,
};
static_assert(std::size(kernels) == std::size(bits));

}  // namespace

std::span<const MatmulKernel> compiled_matmul_kernels() noexcept { return kernels; }

std::span<const MatmulKernel> supported_matmul_kernels() noexcept {
  // Asked once: under a hypervisor each cpuid traps, some 10 microseconds a question.
  static const std::size_t best = [] {
    const std::int64_t supported = hwy::SupportedTargets();
    std::size_t first = 0;
    while (first + 1 < std::size(kernels) && (supported & bits[first]) == 0) ++first;
    return first;
  }();
  return compiled_matmul_kernels().subspan(best);
}

}  // namespace halfulp

#endif
