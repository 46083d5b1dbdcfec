// Compiled once per instruction set: Highway includes this file again for each (hence no include guard here).
#include "experiments/bench/reference_kernels.h"

#include <bit>

#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "experiments/bench/reference_kernels.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace halfulp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::uint32_t>;
constexpr std::size_t words_in_line = 16;

/// Calls f(offset) for each vector of a line of 64 bytes.
template <class F>
HWY_INLINE void for_each_vector(F f) {
  constexpr std::size_t lanes = hn::MaxLanes(Words());
  for (std::size_t word = 0; word < words_in_line; word += lanes) f(word);
}

HWY_INLINE void flip_line(std::uint32_t* line) {
  const Words d;
  const auto sign = hn::Set(d, 0x80000000u);
  for_each_vector([&](std::size_t word)
                      HWY_ATTR { hn::Store(hn::Xor(hn::Load(d, line + word), sign), d, line + word); });
}

/// What was read of many lines. One chain is enough: its few cycles a line are a third of what memory takes.
struct Sink {
  hn::Vec<Words> all;

  // Written out: an implicit constructor would not be compiled for the target.
  HWY_INLINE Sink() : all(hn::Zero(Words())) {}
  HWY_INLINE void read_line(const std::uint32_t* line) {
    const Words d;
    for_each_vector([&](std::size_t word) HWY_ATTR { all = hn::Xor(all, hn::Load(d, line + word)); });
  }
  HWY_INLINE std::uint32_t bits() const {
    HWY_ALIGN std::uint32_t lanes[hn::MaxLanes(Words())];
    hn::Store(all, Words(), lanes);
    std::uint32_t one = 0;
    for (const std::uint32_t lane : lanes) one ^= lane;
    return one;
  }
};

void read_modify_write(std::uint32_t* x, std::size_t elements) {
  for (std::size_t i = 0; i < elements; i += words_in_line) flip_line(x + i);
}

void read_modify_write_with_prefetch(std::uint32_t* x, std::size_t elements) {
  constexpr std::size_t near = 2048 / sizeof *x, far = 8192 / sizeof *x;
  for (std::size_t i = 0; i < elements; i += words_in_line) {
    __builtin_prefetch(x + i + near, 0, 3);
    __builtin_prefetch(x + i + far, 0, 2);
    flip_line(x + i);
  }
}

std::uint32_t read_all(const std::uint32_t* x, std::size_t elements) {
  Sink sink;
  for (std::size_t i = 0; i < elements; i += words_in_line) sink.read_line(x + i);
  return sink.bits();
}

void write_past_caches(std::uint32_t* x, std::uint32_t value, std::size_t elements) {
  const Words d;
  const auto all = hn::Set(d, value);
  for (std::size_t i = 0; i < elements; i += words_in_line)
    for_each_vector([&](std::size_t word) HWY_ATTR { hn::Stream(all, d, x + i + word); });
  hwy::FlushStream();
}

void copy_past_caches(const std::uint32_t* from, std::uint32_t* to, std::size_t elements) {
  const Words d;
  for (std::size_t i = 0; i < elements; i += words_in_line)
    for_each_vector([&](std::size_t word)
                        HWY_ATTR { hn::Stream(hn::Load(d, from + i + word), d, to + i + word); });
  hwy::FlushStream();
}

std::uint32_t access_streams(const AccessStream* streams, std::size_t count, std::size_t elements) {
  Sink sink;
  for (std::size_t i = 0; i < elements; i += 64)
    for (std::size_t s = 0; s < count; ++s) {
      // 64 elements of b bytes are b lines.
      auto* words = reinterpret_cast<std::uint32_t*>(streams[s].data + i * streams[s].bytes);
      for (std::size_t line = 0; line < streams[s].bytes; ++line, words += words_in_line)
        if (streams[s].is_written)
          flip_line(words);
        else
          sink.read_line(words);
    }
  return sink.bits();
}

}  // namespace halfulp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace halfulp {
namespace {

HWY_EXPORT(read_modify_write);
HWY_EXPORT(read_modify_write_with_prefetch);
HWY_EXPORT(read_all);
HWY_EXPORT(write_past_caches);
HWY_EXPORT(copy_past_caches);
HWY_EXPORT(access_streams);

std::uint32_t* words_of(float* x) { return reinterpret_cast<std::uint32_t*>(x); }
const std::uint32_t* words_of(const float* x) { return reinterpret_cast<const std::uint32_t*>(x); }

}  // namespace

void read_modify_write(float* x, std::size_t elements) noexcept {
  HWY_DYNAMIC_DISPATCH(read_modify_write)(words_of(x), elements);
}
void read_modify_write_with_prefetch(float* x, std::size_t elements) noexcept {
  HWY_DYNAMIC_DISPATCH(read_modify_write_with_prefetch)(words_of(x), elements);
}
std::uint32_t read_all(const float* x, std::size_t elements) noexcept {
  return HWY_DYNAMIC_DISPATCH(read_all)(words_of(x), elements);
}
void write_past_caches(float* x, float value, std::size_t elements) noexcept {
  HWY_DYNAMIC_DISPATCH(write_past_caches)(words_of(x), std::bit_cast<std::uint32_t>(value), elements);
}
void copy_past_caches(const float* from, float* to, std::size_t elements) noexcept {
  HWY_DYNAMIC_DISPATCH(copy_past_caches)(words_of(from), words_of(to), elements);
}
std::uint32_t access_streams(const AccessStream* streams, std::size_t count, std::size_t elements) noexcept {
  return HWY_DYNAMIC_DISPATCH(access_streams)(streams, count, elements);
}

const char* reference_target() noexcept {
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(usable & -usable);  // better ones have lower bits
}

}  // namespace halfulp

#endif
