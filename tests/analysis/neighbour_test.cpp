// Neighbours and gaps against the sorted list of what a format can hold.
#include "analysis/neighbour.h"

#include <doctest/doctest.h>

#include "tests/analysis/representable.h"

namespace halfulp {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();

TEST_CASE("neighbour: the sorted list of all numbers, every format with up to 19 bits, both directions") {
  for (const NamedScalarFormat& named : all_scalar_formats) {
    const ScalarFormat& format = named.format;
    if (format.bits() > 19) continue;
    CAPTURE(std::string(named.name));
    const std::vector<double> values = test::representable(format);
    REQUIRE(values.size() > 2);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double up = i + 1 < values.size() ? values[i + 1] : none;
      const double down = i > 0 ? values[i - 1] : none;
      wrong += neighbour(format, values[i], true).value_or(none) != up;
      wrong += neighbour(format, values[i], false).value_or(none) != down;
    }
    CHECK(wrong == 0);
    if (values[0] <= 0 && format.has_zero) {
      CHECK(neighbour(format, -0.0, true) == neighbour(format, 0.0, true));
      CHECK(neighbour(format, -0.0, false) == neighbour(format, 0.0, false));
    }
  }
}

TEST_CASE("neighbour: fp32 is nextafter of float") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {0.0f, 1.0f, -1.0f, 1.5f, 0x1p-149f, -0x1p-149f, 0x1.fffffcp-127f, 0x1p-126f,
                        -0x1p-126f, 3.1e38f, 0x1.fffffep127f, -0x1.fffffep127f, 0.1f}) {
    CHECK(neighbour(fp32, x, true).value_or(none) == std::nextafter(x, infinity));
    CHECK(neighbour(fp32, x, false).value_or(-none) == std::nextafter(x, -infinity));
  }
}

TEST_CASE("gap: from exponents it is what neighbours give, every format of even binades and its scales") {
  std::size_t even = 0;
  for (const NamedScalarFormat& named : all_scalar_formats) {
    const ScalarFormat& format = named.format;
    const FormatNumbers known(format);
    if (!known.has_even_binades) continue;
    ++even;
    CAPTURE(std::string(named.name));
    std::size_t wrong = 0;
    for (const double m : {1.0, 0x1p-20, 3.0, 1.0 / 3, 0x1.0000001p-5}) {
      const StoredGrid by_codes{format, m}, by_exponents{format, m, &known};
      for (const double q : test::representable(format)) {
        const double stored = to_float(q * m);
        if (std::isinf(stored)) continue;
        for (const bool up : {false, true}) wrong += by_exponents.gap(stored, up) != by_codes.gap(stored, up);
        wrong += by_exponents.element_of(stored) != by_codes.element_of(stored);
        wrong += by_exponents.is_at_end(stored) != by_codes.is_at_end(stored);
      }
    }
    CHECK(wrong == 0);
  }
  CHECK(even >= 8);
}

TEST_CASE("gap: halves below a power of two, on both sides of zero") {
  const StoredGrid grid{bf16, 1};
  CHECK(grid.gap(1, true) == 0x1p-7);
  CHECK(grid.gap(1, false) == 0x1p-8);
  CHECK(grid.gap(-1, false) == 0x1p-7);
  CHECK(grid.gap(-1, true) == 0x1p-8);
  CHECK(grid.gap(1.0078125, true) == 0x1p-7);
  CHECK(grid.gap(1.0078125, false) == 0x1p-7);
  CHECK(StoredGrid{e4m3, 1}.gap(256, true) == 32);
  CHECK(StoredGrid{e4m3, 1}.gap(256, false) == 16);
  // At the smallest normal number the gap is that of the subnormals on both sides.
  CHECK(StoredGrid{e4m3, 1}.gap(0x1p-6, false) == 0x1p-9);
  CHECK(StoredGrid{e4m3, 1}.gap(0x1p-6, true) == 0x1p-9);
}

TEST_CASE("gap: at zero the smallest positive number, at the end of the format none") {
  for (const double zero : {0.0, -0.0}) {
    CHECK(StoredGrid{bf16, 1}.gap(zero, true) == 0x1p-133);
    CHECK(StoredGrid{bf16, 1}.gap(zero, false) == 0x1p-133);
    CHECK(StoredGrid{e2m1, 1}.gap(zero, true) == 0.5);
    CHECK(StoredGrid{ue4m3, 1}.gap(zero, true) == 0x1p-9);
    CHECK_FALSE(StoredGrid{ue4m3, 1}.gap(zero, false));
  }
  CHECK_FALSE(StoredGrid{e4m3, 1}.gap(448, true));
  CHECK(StoredGrid{e4m3, 1}.gap(448, false) == 32);
  CHECK_FALSE(StoredGrid{e4m3, 1}.gap(-448, false));
  CHECK(StoredGrid{e4m3, 1}.gap(-448, true) == 32);
}

TEST_CASE("gap: E8M0 has no zero, two's complement one more number below zero") {
  CHECK(StoredGrid{e8m0, 1}.gap(1, true) == 1);
  CHECK(StoredGrid{e8m0, 1}.gap(1, false) == 0.5);
  CHECK_FALSE(StoredGrid{e8m0, 1}.gap(0x1p-127, false));
  CHECK_FALSE(StoredGrid{e8m0, 1}.gap(0x1p127, true));
  CHECK(StoredGrid{int8, 1}.gap(-127.0 / 64, false) == 1.0 / 64);
  CHECK_FALSE(StoredGrid{int8, 1}.gap(-2, false));
  CHECK(StoredGrid{int8, 1}.gap(-2, true) == 1.0 / 64);
  CHECK_FALSE(StoredGrid{int8, 1}.gap(127.0 / 64, true));
}

TEST_CASE("gap: a scale multiplies it, whether or not it is a power of two") {
  CHECK(StoredGrid{e2m1, 4}.gap(12, true) == 4);
  CHECK(StoredGrid{e2m1, 4}.gap(16, false) == 4);
  CHECK(StoredGrid{e2m1, 4}.gap(16, true) == 8);
  CHECK_FALSE(StoredGrid{e2m1, 4}.gap(24, true));
  CHECK(StoredGrid{e2m1, 3}.gap(12, true) == 6);
  CHECK(StoredGrid{e2m1, 3}.gap(12, false) == 3);
  CHECK_FALSE(StoredGrid{e2m1, 3}.gap(-18, false));
  CHECK(StoredGrid{e4m3, 0x1p-127}.gap(0x1p-127, true) == 0x1p-130);
}

TEST_CASE("gap: from the stored fl32(q m) back to q, for every q and scales of up to 28 bits") {
  for (const double multiplier : {0.1 * 0x1p-3, 1.0 / 3, 1.0, 0x1.fffffffp-5, 0x1.0000001p-5, 448.0 * 0.7}) {
    // 28 significant bits: a ue4m3 scale times an fp32 tensor scale has no more.
    const double m = std::ldexp(std::nearbyint(std::ldexp(multiplier, 40)), -40);
    for (const ScalarFormat& format : {e2m1, e4m3, int8}) {
      const std::vector<double> values = test::representable(format);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double stored = static_cast<float>(values[i] * m);
        const StoredGrid grid{format, m};
        CHECK(grid.element_of(stored) == values[i]);
        if (i + 1 < values.size()) CHECK(grid.gap(stored, true) == (values[i + 1] - values[i]) * m);
        if (i > 0) CHECK(grid.gap(stored, false) == (values[i] - values[i - 1]) * m);
      }
    }
  }
}

TEST_CASE("smallest positive number: as it is stored, rounded to fp32 with its scale") {
  const double scale = 0x1.23456p-5 * 1.375;  // 1.375 is a ue4m3 number; the product has more than 24 bits
  for (const double m : {1.0, 0x1p-20, 3.0, scale, 0x1.0000011p-5, 0x1.0000019p-5})
    for (const ScalarFormat& format : {e2m1, e4m3}) {
      const double stored = static_cast<float>(format.min_positive() * m);
      CHECK(StoredGrid{format, m}.smallest_positive() == stored);
    }
}

}  // namespace
}  // namespace halfulp
