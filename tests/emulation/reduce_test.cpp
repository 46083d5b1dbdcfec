#include "emulation/reduce.h"

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "emulation/random_bits.h"

namespace halfulp {
namespace {

constexpr std::size_t lengths[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 100, 1000, 4096, 4099};

template <class Real>
std::vector<Real> numbers(std::size_t n, std::uint8_t sample) {
  std::vector<Real> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits =
        static_cast<std::int32_t>(random_bits_32({1, 0, 0, 0, RandomPurpose::noise, sample}, i));
    x[i] = static_cast<Real>(bits) * static_cast<Real>(0x1p-30) + static_cast<Real>(0.01);
  }
  return x;
}

/// The stated order, lane by lane and with the tree as a recursion: lane j of a tree of width w is lane j
/// plus lane j + w of the next wider one.
template <class Real>
Real tree(const std::vector<Real>& terms, std::size_t lane, std::size_t width) {
  if (width < 32) {
    const Real left = tree(terms, lane, 2 * width);
    return left + tree(terms, lane + width, 2 * width);
  }
  Real partial = 0;
  for (std::size_t i = lane; i < terms.size(); i += 32) partial = partial + terms[i];
  return partial;
}

template <class Real>
bool same_bits(Real a, Real b) {
  return bits_of(a) == bits_of(b);
}

TEST_CASE_TEMPLATE("reduce: bits are those of the stated order", Real, float, double) {
  for (const std::size_t n : lengths) {
    CAPTURE(n);
    const std::vector<Real> x = numbers<Real>(n, 0), y = numbers<Real>(n, 1);
    std::vector<Real> squares(n), products(n);
    for (std::size_t i = 0; i < n; ++i) squares[i] = x[i] * x[i], products[i] = x[i] * y[i];
    CHECK(same_bits(sum(x), tree(x, 0, 1)));
    CHECK(same_bits(sum_of_squares(x), tree(squares, 0, 1)));
    CHECK(same_bits(dot(x, y), tree(products, 0, 1)));
  }
}

TEST_CASE("reduce: sums in double, and rms, take the order with double terms") {
  for (const std::size_t n : lengths) {
    CAPTURE(n);
    const std::vector<float> x = numbers<float>(n, 0), y = numbers<float>(n, 1);
    const std::vector<double> wide(x.begin(), x.end());
    std::vector<double> squares(n), products(n);
    for (std::size_t i = 0; i < n; ++i) squares[i] = wide[i] * wide[i], products[i] = wide[i] * double(y[i]);
    CHECK(same_bits(sum_in_double(x), tree(wide, 0, 1)));
    CHECK(same_bits(sum_of_squares_in_double(x), tree(squares, 0, 1)));
    CHECK(same_bits(dot_in_double(x, y), tree(products, 0, 1)));
    const double mean_square = n == 0 ? 0 : tree(squares, 0, 1) / static_cast<double>(n);
    CHECK(same_bits(rms(x), static_cast<float>(std::sqrt(mean_square))));
    CHECK(same_bits(rms(wide), std::sqrt(mean_square)));
  }
}

TEST_CASE("reduce: the order differs from a plain loop's, so the test above can tell") {
  const std::vector<float> x = numbers<float>(4099, 0);
  float plain = 0;
  for (const float value : x) plain += value;
  CHECK_FALSE(same_bits(sum(x), plain));
}

TEST_CASE_TEMPLATE("reduce: values agree with Eigen's within the bound of the order", Real, float, double) {
  for (const std::size_t n : lengths) {
    if (n == 0) continue;
    CAPTURE(n);
    const std::vector<Real> x = numbers<Real>(n, 0), y = numbers<Real>(n, 1);
    using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
    const Eigen::Map<const Vector> a(x.data(), static_cast<Eigen::Index>(n)),
        b(y.data(), static_cast<Eigen::Index>(n));
    const Eigen::VectorXd exact_a = a.template cast<double>(), exact_b = b.template cast<double>();
    const double eps = std::numeric_limits<Real>::epsilon() / 2.0;
    // at most ceil(n/32) + 5 additions and one product; Eigen in double adds at most n * 2^-53; 1.01 for
    // second order
    const double roundings = static_cast<double>((n + 31) / 32 + 6);
    const double factor = 1.01 * (roundings * eps + static_cast<double>(n) * 0x1p-53);
    CHECK(std::abs(double(sum(x)) - exact_a.sum()) <= factor * exact_a.cwiseAbs().sum());
    CHECK(std::abs(double(sum_of_squares(x)) - exact_a.squaredNorm()) <= factor * exact_a.squaredNorm());
    CHECK(std::abs(double(dot(x, y)) - exact_a.dot(exact_b)) <=
          factor * exact_a.cwiseAbs().dot(exact_b.cwiseAbs()));
    CHECK(amax(x) == a.cwiseAbs().maxCoeff());
  }
}

TEST_CASE_TEMPLATE("amax: any NaN anywhere gives the quiet NaN, infinities and subnormals count", Real, float,
                   double) {
  using Limits = std::numeric_limits<Real>;
  CHECK(same_bits(amax(std::vector<Real>{}), Real(0)));
  CHECK(same_bits(amax(std::vector<Real>{Real(-0.0)}), Real(0)));
  CHECK(amax(std::vector<Real>{0, -Limits::denorm_min()}) == Limits::denorm_min());
  for (std::size_t at = 0; at < 70; ++at) {
    std::vector<Real> x(70, Real(-2));
    x[at] = -Limits::infinity();
    CHECK(amax(x) == Limits::infinity());
    x[at] = -Limits::quiet_NaN();
    CHECK(same_bits(amax(x), Limits::quiet_NaN()));
    x[69 - at] = Limits::infinity();
    CHECK(std::isnan(amax(x)) == (at != 69 - at));
  }
}

TEST_CASE("rms: no overflow and no underflow where float's own squares would have both") {
  CHECK(rms(std::vector<float>(100, 0x1p100f)) == 0x1p100f);
  CHECK(rms(std::vector<float>(100, -0x1p-140f)) == 0x1p-140f);
  CHECK(sum_of_squares(std::vector<float>(2, 0x1p64f)) == std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace halfulp
