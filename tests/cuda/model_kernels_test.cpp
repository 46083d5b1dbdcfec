#include "emulation/cuda/embedding_gradient_kernel.h"
#include "emulation/cuda/map_kernel.h"
#include "emulation/cuda/matmul_kernel.h"
#include "emulation/cuda/row_sum_kernel.h"
#include "emulation/matmul.h"
#include "tests/cuda/kernel_orders.h"

namespace halfulp::cuda {
namespace {

template <class Real>
std::vector<Real> numbers(std::size_t count, std::uint32_t seed, bool finite_only) {
  const std::vector<float> x = mixed_numbers(count, seed, finite_only);
  return {x.begin(), x.end()};
}

template <class Real>
void check_matmul(std::size_t m, std::size_t k, std::size_t n, bool finite_only) {
  CAPTURE(m);
  CAPTURE(k);
  CAPTURE(n);
  const std::vector<Real> a = numbers<Real>(m * k, 1, finite_only), b = numbers<Real>(k * n, 2, finite_only);
  std::vector<Real> expected(m * n);
  matmul_by_definition(a.data(), b.data(), expected.data(), m, k, n);
  for (const RunOrder order : all_orders) {
    std::vector<Real> c(m * n, Real(-1));
    emulate(MatmulKernel<Real>{a.data(), b.data(), c.data(), m, k, n}, order);
    CHECK(same_bits(c, expected));
  }
}

TEST_SUITE("unit") {
  TEST_CASE_TEMPLATE("matmul equals its definition", Real, float, double) {
    for (const std::size_t m : {1, 63, 65})
      for (const std::size_t k : {0, 1, 16, 33})
        for (const std::size_t n : {1, 31, 64, 130}) check_matmul<Real>(m, k, n, true);
    check_matmul<Real>(0, 5, 3, true);
    check_matmul<Real>(70, 40, 70, false);
  }

  TEST_CASE("a product of negative zeros stays as the chain leaves it") {
    const std::vector<float> a{-0.0f, 1.0f}, b{1.0f, -0.0f};
    std::vector<float> c(1), expected(1);
    matmul_by_definition(a.data(), b.data(), expected.data(), 1, 2, 1);
    emulate(MatmulKernel<float>{a.data(), b.data(), c.data(), 1, 2, 1});
    CHECK(same_bits(c, expected));
  }

  TEST_CASE_TEMPLATE("row sums equal sum() and sum_of_squares()", Real, float, double) {
    for (const std::size_t rows : {0, 1, 7, 9})
      for (const std::size_t columns : ragged_sizes)
        for (const RunOrder order : all_orders) {
          CAPTURE(columns);
          const std::vector<Real> x = numbers<Real>(rows * columns, 3, true);
          std::vector<Real> sums(rows), squares(rows), expected_sums(rows), expected_squares(rows);
          for (std::size_t r = 0; r < rows; ++r) {
            const std::span<const Real> row(x.data() + r * columns, columns);
            expected_sums[r] = sum(row);
            expected_squares[r] = sum_of_squares(row);
          }
          emulate(RowSumKernel<Real>{{}, x.data(), sums.data(), rows, columns, {}}, order);
          emulate(RowSumKernel<Real, Square>{{}, x.data(), squares.data(), rows, columns, {}}, order);
          CHECK(same_bits(sums, expected_sums));
          CHECK(same_bits(squares, expected_squares));
        }
  }

  TEST_CASE("elementwise maps") {
    for (const std::size_t size : ragged_sizes)
      for (const RunOrder order : all_orders) {
        const std::vector<float> x = numbers<float>(size, 4, true), y = numbers<float>(size, 5, true);
        std::vector<float> sums(size), positive(size), gradient(size);
        emulate(MapKernel<float, SumOfTwo<float>>{{}, sums.data(), size, {x.data(), y.data()}}, order);
        emulate(MapKernel<float, Relu<float>>{{}, positive.data(), size, {x.data()}}, order);
        emulate(MapKernel<float, ReluGradient<float>>{{}, gradient.data(), size, {x.data(), y.data()}},
                order);
        for (std::size_t i = 0; i < size; ++i) {
          CHECK(sums[i] == x[i] + y[i]);
          CHECK(positive[i] == (x[i] > 0 ? x[i] : 0.0f));
          CHECK(gradient[i] == (x[i] > 0 ? y[i] : 0.0f));
        }
      }
  }

  TEST_CASE("the gradient of an embedding adds positions in the order of the text") {
    for (const std::size_t positions : {0, 1, 127, 128, 129, 700})
      for (const std::size_t width : {1, 31, 130}) {
        constexpr std::size_t vocabulary = 37;
        std::mt19937 bits(8);
        std::vector<std::int32_t> tokens(positions);
        // Half of the text is one token; some lie outside the vocabulary.
        for (std::int32_t& token : tokens)
          token = bits() % 2 != 0 ? 5 : static_cast<std::int32_t>(bits() % 40) - 1;
        const std::vector<float> d = numbers<float>(positions * width, 6, true);
        std::vector<float> expected(vocabulary * width, 0.0f);
        for (std::size_t t = 0; t < positions; ++t)
          for (std::size_t c = 0; c < width; ++c)
            if (tokens[t] >= 0 && tokens[t] < static_cast<std::int32_t>(vocabulary))
              expected[static_cast<std::size_t>(tokens[t]) * width + c] += d[t * width + c];
        for (const RunOrder order : all_orders) {
          std::vector<float> out(vocabulary * width, -1.0f);
          emulate(EmbeddingGradientKernel<float>{tokens.data(), d.data(), out.data(), positions, vocabulary,
                                                 width},
                  order);
          CHECK(same_bits(out, expected));
        }
      }
  }
}

}  // namespace
}  // namespace halfulp::cuda
