#pragma once
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "emulation/parallel.h"

// Matrix products whose bits do not depend on the machine: each c[i][j] is one chain of fused multiply-adds
// over k, ascending, from +0. Vectors run over columns and threads over rows, so neither touches the chain. A
// NaN result is always the quiet NaN with sign and payload 0, because which payload survives differs between
// instructions.
//
// Error: |c - exact| <= k eps / (1 - k eps) * sum_k |a_ik| |b_kj|, eps = 2^-24 or 2^-53 (Higham, Accuracy and
// Stability of Numerical Algorithms, section 3.1, with one rounding a term).
// Speed, one core, 64 x 256 times 256 x 64: 88 GFLOP/s in float, 42 in double (measured on an AMD EPYC with
// AVX2 at its default clock, g++ 12.2 -O3; Eigen 3.4 with -march=native in the same program: 61 and 30).
// Without a fused instruction each product goes through std::fma.
namespace halfulp {

/// c = a b.
/// in: a [m x k], b [k x n], c [m x n], all row-major; c overlaps neither. k = 0 gives +0.
/// pool: rows are split over it; null runs in the caller's thread.
/// errors: none (total function)
void matmul(const float* a, const float* b, float* c, std::size_t m, std::size_t k, std::size_t n,
            ThreadPool* pool = nullptr);
void matmul(const double* a, const double* b, double* c, std::size_t m, std::size_t k, std::size_t n,
            ThreadPool* pool = nullptr);

/// out = in transposed.
/// in: in [rows x columns] row-major, out [columns x rows]; they do not overlap.
void transpose(const float* in, float* out, std::size_t rows, std::size_t columns) noexcept;
void transpose(const double* in, double* out, std::size_t rows, std::size_t columns) noexcept;

/// The definition of matmul as a plain loop: what the kernels must equal, bit for bit.
template <class Real>
void matmul_by_definition(const Real* a, const Real* b, Real* c, std::size_t m, std::size_t k,
                          std::size_t n) noexcept {
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Real sum = 0;
      for (std::size_t l = 0; l < k; ++l) sum = std::fma(a[i * k + l], b[l * n + j], sum);
      c[i * n + j] = std::isnan(sum) ? std::numeric_limits<Real>::quiet_NaN() : sum;
    }
  }
}

/// The compiled kernel of one instruction set.
struct MatmulKernel {
  const char* target;  ///< Highway's name of it, such as "AVX2"
  void (*run_float)(const float*, const float*, float*, std::size_t m, std::size_t k, std::size_t n) noexcept;
  void (*run_double)(const double*, const double*, double*, std::size_t m, std::size_t k,
                     std::size_t n) noexcept;
};

/// Kernels in this build, the widest instruction set first.
std::span<const MatmulKernel> compiled_matmul_kernels() noexcept;
/// Those that this CPU can run: a suffix of the compiled ones, never empty. matmul uses the first.
std::span<const MatmulKernel> supported_matmul_kernels() noexcept;

}  // namespace halfulp
