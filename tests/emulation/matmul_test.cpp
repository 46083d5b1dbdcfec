#include "emulation/matmul.h"

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <cstring>
#include <string>
#include <vector>

#include "emulation/random_bits.h"
#include "formats/lane.h"

namespace halfulp {
namespace {

struct Shape {
  std::size_t m, k, n;
};

// every remainder of 4 rows, every number of vectors in a strip and partly filled ones, both sides of the
// depth step 256, one row, one column, nothing to sum
constexpr Shape shapes[] = {{1, 1, 1},    {1, 0, 5},     {3, 0, 64},    {0, 3, 4},   {4, 3, 0},
                            {1, 256, 64}, {2, 257, 7},   {3, 255, 8},   {4, 16, 16}, {5, 17, 17},
                            {6, 100, 24}, {7, 31, 25},   {8, 513, 31},  {9, 64, 47}, {10, 7, 48},
                            {33, 20, 49}, {12, 300, 10}, {64, 256, 64}, {5, 40, 95}, {16, 33, 97},
                            {2, 600, 1},  {17, 1, 33}};

template <class Real>
std::vector<Real> numbers(std::size_t n, std::uint8_t sample) {
  std::vector<Real> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits =
        static_cast<std::int32_t>(random_bits_32({7, 0, 0, 0, RandomPurpose::noise, sample}, i));
    // 40 binades, so that the order of the sums shows in the bits
    x[i] = std::ldexp(static_cast<Real>(bits), -31 - static_cast<int>(i % 41));
  }
  return x;
}

/// How many elements differ in their bits.
template <class Real>
std::size_t different(const std::vector<Real>& a, const std::vector<Real>& b) {
  std::size_t count = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += bits_of(a[i]) != bits_of(b[i]);
  return count;
}

auto runner(const MatmulKernel& kernel, float) { return kernel.run_float; }
auto runner(const MatmulKernel& kernel, double) { return kernel.run_double; }

template <class Real>
void check_all_targets(const Shape& s, const std::vector<Real>& a, const std::vector<Real>& b) {
  const std::string where = std::to_string(s.m) + "x" + std::to_string(s.k) + "x" + std::to_string(s.n);
  CAPTURE(where);
  std::vector<Real> want(s.m * s.n, Real(-1));
  matmul_by_definition(a.data(), b.data(), want.data(), s.m, s.k, s.n);
  for (const MatmulKernel& kernel : supported_matmul_kernels()) {
    INFO(std::string(kernel.target));
    // c begins with garbage and has one element too many: chains start from 0 and nothing is written beyond
    std::vector<Real> c(s.m * s.n + 1, Real(123));
    runner(kernel, Real())(a.data(), b.data(), c.data(), s.m, s.k, s.n);
    CHECK(c.back() == Real(123));
    c.pop_back();
    CHECK(different(c, want) == 0);
  }
  std::vector<Real> c(s.m * s.n, Real(123));
  matmul(a.data(), b.data(), c.data(), s.m, s.k, s.n);
  CHECK(different(c, want) == 0);
}

TEST_CASE_TEMPLATE("matmul: every instruction set gives the bits of the definition", Real, float, double) {
  MESSAGE("kernels run: ", supported_matmul_kernels().size(), " of ", compiled_matmul_kernels().size(),
          " compiled, ", std::string(supported_matmul_kernels().front().target), " first");
  for (const Shape& s : shapes)
    check_all_targets(s, numbers<Real>(s.m * s.k, 0), numbers<Real>(s.k * s.n, 1));
}

TEST_CASE_TEMPLATE("matmul: NaN, infinities and subnormals give the same bits too", Real, float, double) {
  using Limits = std::numeric_limits<Real>;
  const Real special[] = {Limits::quiet_NaN(),  -Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(),
                          Limits::denorm_min(), -Limits::min(),       Limits::max(),      Real(-0.0)};
  for (const Shape& s : shapes) {
    std::vector<Real> a = numbers<Real>(s.m * s.k, 0), b = numbers<Real>(s.k * s.n, 1);
    for (std::size_t i = 3; i < a.size(); i += 37) a[i] = special[i % 8];
    for (std::size_t i = 5; i < b.size(); i += 41) b[i] = special[i % 8];
    check_all_targets(s, a, b);
  }
}

TEST_CASE("matmul: products are fused, chains ascend and begin at +0") {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the last term is lost if the product is rounded first
  const float x = 1 + 0x1p-12f;
  const float fused[] = {-1 - 0x1p-11f, x}, factors[] = {1, x};
  float c = 0;
  matmul(fused, factors, &c, 1, 2, 1);
  CHECK(c == 0x1p-24f);
  // 2^24 + 1 + 1 ascending is 2^24; descending it would be 2^24 + 2
  const float terms[] = {0x1p24f, 1, 1}, ones[] = {1, 1, 1};
  matmul(terms, ones, &c, 1, 3, 1);
  CHECK(c == 0x1p24f);
  // +0 + (-0 * 1) = +0
  const float minus_zero = -0.0f;
  matmul(&minus_zero, ones, &c, 1, 1, 1);
  CHECK(bits_of(c) == 0);
}

TEST_CASE_TEMPLATE("matmul: values agree with Eigen's within k eps sum |a||b|", Real, float, double) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Given = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (const Shape& s : shapes) {
    const auto m = static_cast<Eigen::Index>(s.m), k = static_cast<Eigen::Index>(s.k),
               n = static_cast<Eigen::Index>(s.n);
    const std::vector<Real> a = numbers<Real>(s.m * s.k, 0), b = numbers<Real>(s.k * s.n, 1);
    std::vector<Real> c(s.m * s.n);
    matmul(a.data(), b.data(), c.data(), s.m, s.k, s.n);
    const Matrix wide_a = Eigen::Map<const Given>(a.data(), m, k).template cast<double>();
    const Matrix wide_b = Eigen::Map<const Given>(b.data(), k, n).template cast<double>();
    const Matrix want = wide_a * wide_b, magnitude = wide_a.cwiseAbs() * wide_b.cwiseAbs();
    // ours k roundings of eps each, Eigen's in double at most 2k of 2^-53; 1.01 covers the second order
    const double factor =
        1.01 * static_cast<double>(s.k) * (std::numeric_limits<Real>::epsilon() / 2.0 + 0x1p-52);
    const Matrix error = (Eigen::Map<const Given>(c.data(), m, n).template cast<double>() - want).cwiseAbs();
    std::size_t beyond = 0;
    for (Eigen::Index i = 0; i < m; ++i)
      for (Eigen::Index j = 0; j < n; ++j) beyond += !(error(i, j) <= factor * magnitude(i, j));
    CAPTURE(s.m);
    CAPTURE(s.k);
    CAPTURE(s.n);
    CHECK(beyond == 0);
  }
}

TEST_CASE_TEMPLATE("matmul: the number of threads changes nothing", Real, float, double) {
  const Shape s{67, 129, 85};
  const std::vector<Real> a = numbers<Real>(s.m * s.k, 0), b = numbers<Real>(s.k * s.n, 1);
  std::vector<Real> alone(s.m * s.n);
  matmul(a.data(), b.data(), alone.data(), s.m, s.k, s.n);
  for (const unsigned threads : {1u, 2u, 3u, 7u, 100u}) {
    ThreadPool pool(threads);
    std::vector<Real> c(s.m * s.n, Real(123));
    matmul(a.data(), b.data(), c.data(), s.m, s.k, s.n, &pool);
    CAPTURE(threads);
    CHECK(different(c, alone) == 0);
  }
}

TEST_CASE_TEMPLATE("transpose: element (i, j) goes to (j, i), and twice is the identity", Real, float,
                   double) {
  for (const Shape& s : shapes) {
    const std::size_t rows = s.m, columns = s.n;
    const std::vector<Real> in = numbers<Real>(rows * columns, 2);
    std::vector<Real> out(in.size()), back(in.size());
    transpose(in.data(), out.data(), rows, columns);
    transpose(out.data(), back.data(), columns, rows);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) wrong += out[j * rows + i] != in[i * columns + j];
    CHECK(wrong == 0);
    CHECK(different(back, in) == 0);
  }
}

}  // namespace
}  // namespace halfulp
