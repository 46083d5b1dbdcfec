#include "emulation/matmul.h"

#include <algorithm>

#include "emulation/fp_environment.h"

namespace halfulp {
namespace {

template <class Real, class Kernel>
void multiply_rows(Kernel kernel, const Real* a, const Real* b, Real* c, std::size_t m, std::size_t k,
                   std::size_t n, ThreadPool* pool) {
  const auto rows = [=](std::size_t begin, std::size_t end) {
    const FpEnvironment environment;
    kernel(a + begin * k, b, c + begin * n, end - begin, k, n);
  };
  // Below some 2^16 products, 10 microseconds, waking threads costs more than they save.
  if (pool == nullptr || m * k * n < (std::size_t{1} << 16)) return rows(0, m);
  pool->for_each_range(m, rows);
}

/// By tiles whose rows and columns stay in the first-level cache: 16 x 16 doubles are 2 KiB.
template <class Real>
void transpose_tiles(const Real* in, Real* out, std::size_t rows, std::size_t columns) noexcept {
  constexpr std::size_t tile = 16;
  for (std::size_t i = 0; i < rows; i += tile) {
    for (std::size_t j = 0; j < columns; j += tile) {
      const std::size_t row_end = std::min(i + tile, rows), column_end = std::min(j + tile, columns);
      for (std::size_t column = j; column < column_end; ++column)
        for (std::size_t row = i; row < row_end; ++row) out[column * rows + row] = in[row * columns + column];
    }
  }
}

}  // namespace

void matmul(const float* a, const float* b, float* c, std::size_t m, std::size_t k, std::size_t n,
            ThreadPool* pool) {
  multiply_rows(supported_matmul_kernels().front().run_float, a, b, c, m, k, n, pool);
}
void matmul(const double* a, const double* b, double* c, std::size_t m, std::size_t k, std::size_t n,
            ThreadPool* pool) {
  multiply_rows(supported_matmul_kernels().front().run_double, a, b, c, m, k, n, pool);
}

void transpose(const float* in, float* out, std::size_t rows, std::size_t columns) noexcept {
  transpose_tiles(in, out, rows, columns);
}
void transpose(const double* in, double* out, std::size_t rows, std::size_t columns) noexcept {
  transpose_tiles(in, out, rows, columns);
}

}  // namespace halfulp
