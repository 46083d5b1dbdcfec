#include "emulation/normal.h"

#include <doctest/doctest.h>

#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <vector>

#include "emulation/random_bits.h"

namespace halfulp {
namespace {

using Big = boost::multiprecision::cpp_bin_float_50;

/// sqrt(2) erfc_inv(2p) of the lower tail, negated where bits are in the upper half.
template <class Number>
Number exact_deviate(std::uint32_t bits) {
  using std::sqrt;
  const bool upper = bits >> 31;
  const std::uint32_t folded = upper ? ~bits : bits;
  const Number two_p =
      (Number(folded) + Number(0.5)) / Number(2147483648.0);  // 2p with p = (folded + 1/2) / 2^32
  const Number magnitude = sqrt(Number(2)) * boost::math::erfc_inv(two_p);
  return upper ? magnitude : Number(-magnitude);
}

std::vector<std::uint32_t> samples(std::size_t random) {
  std::vector<std::uint32_t> bits;
  for (std::uint32_t i = 0; i < 64; ++i)
    for (const std::uint32_t edge : {0u, 0x80000000u, 0x13333333u, 0xECCCCCCCu, 0u - 64u, 0x80000000u - 64u})
      bits.push_back(edge +
                     i);  // both ends, the median, and where the two approximations meet: p = 0.075, 0.925
  for (int shift = 0; shift < 32; ++shift) bits.push_back(1u << shift);
  for (std::size_t i = 0; i < random; ++i)
    bits.push_back(random_bits_32({1, 2, 3, 4, RandomPurpose::noise, 0}, i));
  return bits;
}

double ulp_of(double want, int digits) { return std::ldexp(1.0, std::ilogb(want) + 1 - digits); }

TEST_CASE("normal deviate: float is within 8 ulp") {
  double worst = 0;
  for (const std::uint32_t bits : samples(200'000)) {
    const double want = exact_deviate<double>(bits);  // errs by less than 2^-48
    const double error = std::abs(static_cast<double>(normal_deviate<float>(bits)) - want) / ulp_of(want, 24);
    worst = std::max(worst, error);
  }
  INFO("largest error ", worst, " ulp");
  CHECK(worst <= 8);
  CHECK(worst > 0.5);
}

TEST_CASE("normal deviate: double is within 8 ulp") {
  double worst = 0;
  for (const std::uint32_t bits : samples(1'000)) {
    const Big want = exact_deviate<Big>(bits);
    const double got = normal_deviate<double>(bits);
    const double error = static_cast<double>(abs(Big(got) - want)) / ulp_of(got, 53);
    worst = std::max(worst, error);
  }
  INFO("largest error ", worst, " ulp");
  CHECK(worst <= 8);
  CHECK(worst > 0.5);
}

TEST_CASE_TEMPLATE("normal deviate: complemented bits give exactly the opposite", Real, float, double) {
  for (const std::uint32_t bits : samples(20'000)) {
    const Real z = normal_deviate<Real>(bits);
    CHECK(normal_deviate<Real>(~bits & 0xFFFFFFFF) == -z);
    CHECK((z < 0) == (bits < 0x80000000u));
    CHECK(std::abs(z) <= Real(6.338));
  }
}

TEST_CASE("normal deviate: moments of equally spaced bits") {
  // f(z) at the midpoints of n slices of probability h = 1/n; odd moments vanish by symmetry. In each half f
  // is monotone, so slices other than the outermost err together by at most h f(z_h), with z_h = 4.17 the
  // outermost slice's inner end. The outermost lacks h (E[f | z > z_h] - f(z_(h/2))), below h for z^2 and 28
  // h for z^4. Both halves: 2 h (17.4 + 1) = 5.7e-4 for z^2, 2 h (303 + 28) = 1.02e-2 for z^4.
  constexpr std::uint32_t n = 1 << 16;
  double first = 0, second = 0, third = 0, fourth = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const double z =
        normal_deviate<double>((i << 16) + 0x7FFF + (i >> 15));  // symmetric: ~ maps the set to itself
    first += z, second += z * z, third += z * z * z, fourth += z * z * z * z;
  }
  CHECK(std::abs(first / n) < 1e-12);
  CHECK(std::abs(third / n) < 1e-12);
  CHECK(std::abs(second / n - 1) < 5.7e-4);
  CHECK(std::abs(fourth / n - 3) < 1.02e-2);
}

}  // namespace
}  // namespace halfulp
