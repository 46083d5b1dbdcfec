#pragma once
#include "emulation/lanes/vector.h"

namespace halfulp::HWY_NAMESPACE {

/// The largest magnitude of each run. The bits of magnitudes order as they do, NaN above all.
inline void amax_of_runs(const float* x, std::size_t n, std::size_t run_length, float* out) noexcept {
  const Words magnitude = ~Words(0u) ^ Words(0x80000000u);
  const IntegerTag d;
  for (std::size_t begin = 0, run = 0; begin < n; begin += run_length, ++run) {
    const std::size_t end = begin + run_length < n ? begin + run_length : n;
    Words largest(0);
    std::size_t i = begin;
    for (; i + lane_count <= end; i += lane_count)
      largest = lane_max(largest, bits_of(load(x + i)) & magnitude);
    if (i < end) {
      float rest[lane_count] = {};
      for (std::size_t k = 0; i + k < end; ++k) rest[k] = x[i + k];
      largest = lane_max(largest, bits_of(load(rest)) & magnitude);
    }
    out[run] = halfulp::real_of(
        static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(d, hn::BitCast(d, largest.v)))));
  }
}

/// Two codes to a byte: in a halfword of both, the higher one moves down by four.
inline void pack_nibbles(const std::uint8_t* codes, std::size_t n, std::uint8_t* packed) noexcept {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const std::size_t pairs = hn::Lanes(d);
  const auto low = hn::Set(d, 0xff);
  std::size_t i = 0;
  for (; i + 2 * pairs <= n; i += 2 * pairs) {
    const auto both = hn::LoadU(d, reinterpret_cast<const std::uint16_t*>(codes + i));
    const auto joined = hn::And(hn::Or(both, hn::ShiftRight<4>(both)), low);
    hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(hn::RebindToSigned<decltype(d)>(), joined)), bytes,
               packed + i / 2);
  }
  for (; i < n; i += 2) packed[i / 2] = static_cast<std::uint8_t>(codes[i] | codes[i + 1] << 4);
}

inline void unpack_nibbles(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes) noexcept {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const std::size_t pairs = hn::Lanes(d);
  const auto low = hn::Set(d, 0x0f0f);
  std::size_t i = 0;
  for (; i + 2 * pairs <= n; i += 2 * pairs) {
    const auto both = hn::PromoteTo(d, hn::LoadU(bytes, packed + i / 2));
    const auto apart = hn::And(hn::Or(both, hn::ShiftLeft<4>(both)), low);
    hn::StoreU(apart, d, reinterpret_cast<std::uint16_t*>(codes + i));
  }
  for (; i < n; i += 2) {
    codes[i] = packed[i / 2] & 0xf;
    codes[i + 1] = static_cast<std::uint8_t>(packed[i / 2] >> 4);
  }
}

}  // namespace halfulp::HWY_NAMESPACE
