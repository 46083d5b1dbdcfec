// The preset `cuda` against tables of what the host conversions of the CUDA 13.0 headers do, specials included.
#include <doctest/doctest.h>

#include <bit>

#include "tests/formats/cuda_host.h"

using namespace halfulp;
using namespace halfulp::test;

namespace {

double number(std::uint32_t fp32_bits) { return std::bit_cast<float>(fp32_bits); }

constexpr std::uint32_t minus = 0x8000'0000u;

}  // namespace

TEST_CASE(
    "cuda preset: its codes change exactly where the host functions' do, of both signs, and specials agree") {
  const std::vector<CudaHostTable> tables = cuda_host_tables();
  CHECK(tables.size() == 14);
  for (const CudaHostTable& table : tables) {
    INFO(table.name);
    const CudaConversion converted(table.format, table.rounding, table.overflow);
    REQUIRE(table.transitions.size() >= 8);
    // E8M0 takes magnitudes, FP8 and narrower keep the sign, of zeros too; an overflow to NaN in E4M3 keeps it as well.
    const std::uint32_t sign = table.format.is_signed ? 1u << (table.format.bits() - 1) : 0;
    for (std::size_t i = 0; i < table.transitions.size(); ++i) {
      const std::uint32_t bits = table.transitions[i].bits, code = table.transitions[i].code;
      INFO("fp32 bits ", bits);
      CHECK(converted(number(bits)) == code);
      CHECK(converted(number(bits | minus)) == (code | sign));
      if (i == 0) continue;
      CHECK(converted(number(bits - 1)) == table.transitions[i - 1].code);
      CHECK(converted(number((bits - 1) | minus)) == (table.transitions[i - 1].code | sign));
    }
    CHECK(table.special.size() >= 4);
    for (const CudaHostTable::Entry& entry : table.special) {
      INFO("fp32 bits ", entry.bits);
      CHECK(converted(number(entry.bits)) == entry.code);
    }
  }
}

TEST_CASE("cuda preset: by hand, with the constructors' defaults") {
  const Preset& preset = parse_preset("cuda");
  const auto as = [&](double x, const ScalarFormat& f) {
    return convert(x, f, rounding_under_preset(unscaled(f), preset),
                   special_under_preset(unscaled(f), preset), 0);
  };
  CHECK(as(500, e4m3) == 0x7e);
  CHECK(as(1e9, e5m2) == 0x7b);
  CHECK(as(1.0625, e4m3) == 0x38);
  CHECK(as(1.0625 + 0x1p-40, e4m3) == 0x39);  // a double is rounded once
  CHECK(as(-3, e8m0) == 0x81);
  CHECK(as(0, e8m0) == 0x00);
  CHECK(decode(e8m0, 0) == 0x1p-127);
  const CudaConversion to_infinity(e5m2, nearest_even, OverflowPolicy::ocp),
      to_nan(e4m3, nearest_even, OverflowPolicy::ocp);
  CHECK(to_infinity(61440) == 0x7c);
  CHECK(to_infinity(std::nextafter(61440, 0.0)) == 0x7b);
  CHECK(to_nan(464) == 0x7e);
  CHECK(to_nan(std::nextafter(464, 500.0)) == 0x7f);
}
