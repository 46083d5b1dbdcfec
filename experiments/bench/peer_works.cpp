#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>

#include "experiments/bench/huge_array.h"
#include "experiments/bench/works.h"

namespace halfulp {
namespace {

/// bf16 code of x, ties to even: what a programmer writes who needs no other format, and the compiler vectorises as it
/// can.
inline std::uint16_t bf16_code(float x) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return static_cast<std::uint16_t>(x == x ? rounded : 0x7FC0);
}

void encode(const float* x, std::uint16_t* codes, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) codes[i] = bf16_code(x[i]);
}

void round_in_place(float* x, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bf16_code(x[i])) << 16);
}

PreparedWork prepare_encode(const Bench& bench) {
  const auto codes = std::make_shared<HugeArray<std::uint16_t>>(bench.elements());
  return {[codes, bench] {
    for_each_part(bench, [&](std::size_t first, std::size_t count) {
      encode(bench.normal.data() + first, codes->data() + first, count);
      keep(codes->data());
    });
  }};
}

PreparedWork prepare_round(const Bench& bench) {
  const auto x = std::make_shared<HugeArray<float>>(bench.elements());
  return {[x, bench] {
            for_each_part(bench, [&](std::size_t first, std::size_t count) {
              round_in_place(x->data() + first, count);
              keep(x->data());
            });
          },
          [x, bench] { std::copy(bench.normal.begin(), bench.normal.end(), x->data()); }};
}

}  // namespace

std::vector<Work> peer_works() {
  return {
      {.name = "peer: plain loop bf16 in place",
       .what = "f32 to bf16 and back by a C++ loop, nearest even, as the compiler vectorises it",
       .bytes_read = 4,
       .bytes_written = 4,
       .reference = rmw,
       .prepare = prepare_round},
      {.name = "peer: plain loop bf16 codes",
       .what = "f32 to bf16 codes by a C++ loop, nearest even, as the compiler vectorises it",
       .bytes_read = 4,
       .bytes_written = 2,
       .reference = pure_read,
       .prepare = prepare_encode},
  };
}

}  // namespace halfulp
