#pragma once
#include "emulation/lanes/vector.h"

namespace halfulp::HWY_NAMESPACE {

/// Magnitudes as words: they order as the numbers do, NaN above all.
HWY_INLINE Words magnitude_at(const float* x) noexcept {
  return bits_of(load(x)) & (~Words(0u) ^ Words(0x80000000u));
}

/// The largest magnitude of each of `runs` runs that are whole vectors, in `runs` equal parts of a vector: each level of the
/// tree halves two vectors into one, which costs a third of finishing one run after the other.
template <std::size_t runs>
HWY_INLINE Words amax_tree(const float* x, std::size_t run_length) noexcept {
  if constexpr (runs == 1) {
    Words largest = magnitude_at(x);
    for (std::size_t i = lane_count; i < run_length; i += lane_count)
      largest = lane_max(largest, magnitude_at(x + i));
    return largest;
  } else {
    const auto low = amax_tree<runs / 2>(x, run_length).v,
               high = amax_tree<runs / 2>(x + runs / 2 * run_length, run_length).v;
    const WordTag d;
    return lane_max(Words(hn::ConcatEven(d, high, low)), Words(hn::ConcatOdd(d, high, low)));
  }
}

/// The largest magnitude of each run.
inline void amax_of_runs(const float* x, std::size_t n, std::size_t run_length, float* out) noexcept {
  const IntegerTag d;
  std::size_t begin = 0, run = 0;
  if (run_length % lane_count == 0)
    for (; begin + lane_count * run_length <= n; begin += lane_count * run_length, run += lane_count)
      store(real_of(amax_tree<lane_count>(x + begin, run_length)), out + run);
  for (; begin < n; begin += run_length, ++run) {
    const std::size_t end = begin + run_length < n ? begin + run_length : n;
    Words largest(0);
    std::size_t i = begin;
    for (; i + lane_count <= end; i += lane_count) largest = lane_max(largest, magnitude_at(x + i));
    if (i < end) {
      float rest[lane_count] = {};
      for (std::size_t k = 0; i + k < end; ++k) rest[k] = x[i + k];
      largest = lane_max(largest, magnitude_at(rest));
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
