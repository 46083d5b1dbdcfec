#pragma once
#include <bit>

#include "emulation/lanes/kernels.h"
#include "emulation/lanes/vector.h"
#include "formats/element_conversion.h"
#include "formats/lane_scale.h"

namespace halfulp::HWY_NAMESPACE {

HWY_INLINE Scaling scaling_of(const RunScales& scales) noexcept {
  return !scales.high ? Scaling::none : scales.low ? Scaling::quotient : Scaling::exact;
}

HWY_INLINE LaneScale<Floats> scale_of_run(const RunScales& scales, Scaling scaling,
                                          std::size_t run) noexcept {
  if (scaling == Scaling::none) return {{}, scaling};
  return {{Floats(scales.high[run]), Floats(scaling == Scaling::quotient ? scales.low[run] : 0.0f),
           Floats(scales.inverse[run])},
          scaling};
}

/// Codes as bytes or halfwords.
HWY_INLINE void store_codes(Words codes, std::uint8_t* to) noexcept {
  const hn::Rebind<std::uint8_t, FloatTag> d;
  hn::StoreU(hn::TruncateTo(d, codes.v), d, to);
}
HWY_INLINE void store_codes(Words codes, std::uint16_t* to) noexcept {
  const hn::Rebind<std::uint16_t, FloatTag> d;
  hn::StoreU(hn::TruncateTo(d, codes.v), d, to);
}
template <class Code>
HWY_INLINE Words load_codes(const Code* from) noexcept {
  return hn::PromoteTo(WordTag(), hn::LoadU(hn::Rebind<Code, FloatTag>(), from));
}

inline constexpr std::size_t stride = 4 * lane_count;

// Two levels of prefetch, one line each for every line that is used: the streaming loads of hardware stop at pages.
inline constexpr std::size_t near_ahead = 512, far_ahead = 2048;  // elements: 2 KiB, 8 KiB

/// The loops over one job. is_common: worth four vectors at a time.
template <RoundingMode mode, bool is_common>
struct Conversion {
  const ElementLanes<Floats> lanes;
  const ConvertJob job;    // a copy, which no store can alias
  const bool saturates;    // whether overflow is usual, and a minimum serves
  const bool plain_zeros;  // whether zeros lose their sign, and a sum serves

  /// One vector: what came in, and what it is rounded to.
  struct Rounded {
    Floats x, number;
    std::size_t at;
  };
  HWY_INLINE Rounded rounded_at(std::size_t at, const LaneScale<Floats>& scale) const noexcept {
    const Floats x = load(job.x + at);
    const Words random = is_stochastic(mode) ? load(job.random + at) : Words(0);
    Floats number = round_element<mode>(lanes, divided<mode>(x, scale), random);
    if (saturates) number = saturated(lanes, x, number);
    if (plain_zeros) number = number + Floats(0);
    return {x, number, at};
  }

  HWY_INLINE Mask is_settled(const Rounded& rounded) const noexcept {
    const Floats judged = saturates ? rounded.x : rounded.number;
    const Floats magnitude = real_of(bits_of(judged) ^ sign_bit_of(judged));
    if (saturates) return magnitude <= Floats(std::numeric_limits<float>::max());
    return plain_zeros ? magnitude <= lanes.largest.positive : is_regular(lanes, judged);
  }

  template <bool all_regular>
  HWY_INLINE void write(const Rounded& rounded, const LaneScale<Floats>& scale) const noexcept {
    const auto& [x, number, at] = rounded;
    const bool keeps = job.kept != nullptr;
    const Floats stored = keeps ? load(job.kept + at) : Floats();
    const Mask stays = x == stored;
    if (job.values) {
      const Floats element = all_regular ? number : settle(lanes, lanes.values, x, number, number);
      const Floats value = multiplied(element, scale);
      store(keeps ? select(stays, stored, value) : value, job.values + at);
    }
    if (!job.bytes && !job.words) return;
    Words code = code_of(lanes, number);
    if constexpr (!all_regular) code = settle(lanes, lanes.codes, x, number, code);
    const auto put = [&](auto* to) { store_codes(keeps ? select(stays, load_codes(to), code) : code, to); };
    job.bytes ? put(job.bytes + at) : put(job.words + at);
  }

  /// Some vectors with one question whether all their lanes are regular, so that it costs a fraction of an instruction.
  /// scale_at(element): of the vector that begins there; asked again, since a load costs less than keeping them all.
  template <class ScaleAt, class... Vectors>
  HWY_INLINE void write_all(ScaleAt scale_at, const Vectors&... rounded) const noexcept {
    if (HWY_LIKELY(all_of((is_settled(rounded) & ...))))
      return (write<true>(rounded, scale_at(rounded.at)), ...);
    // Rare, and long: one copy of the code.
    const Rounded each[] = {rounded...};
#pragma GCC unroll 1
    for (const Rounded& one : each) write<false>(one, scale_at(one.at));
  }

  /// Elements [begin, end), end - begin below a vector: through padded copies.
  HWY_INLINE void convert_rest(std::size_t begin, std::size_t end,
                               const LaneScale<Floats>& scale) const noexcept {
    const std::size_t count = end - begin;
    float x[lane_count] = {}, kept[lane_count] = {}, values[lane_count];
    std::uint32_t random[lane_count] = {};
    std::uint8_t bytes[lane_count] = {};
    std::uint16_t words[lane_count] = {};
    for (std::size_t i = 0; i < count; ++i) {
      x[i] = job.x[begin + i];
      if (job.kept) {
        kept[i] = job.kept[begin + i];
        if (job.bytes) bytes[i] = job.bytes[begin + i];
        if (job.words) words[i] = job.words[begin + i];
      }
      if (is_stochastic(mode)) random[i] = job.random[begin + i];
    }
    const ConvertJob padded{job.lanes,
                            mode,
                            x,
                            lane_count,
                            random,
                            {},
                            job.values ? values : nullptr,
                            job.bytes ? bytes : nullptr,
                            job.words ? words : nullptr,
                            job.kept ? kept : nullptr};
    const Conversion<mode, false> one{lanes, padded, saturates, plain_zeros};
    one.write_all([&](std::size_t) { return scale; }, one.rounded_at(0, scale));
    for (std::size_t i = 0; i < count; ++i) {
      if (job.values) job.values[begin + i] = values[i];
      if (job.bytes) job.bytes[begin + i] = bytes[i];
      if (job.words) job.words[begin + i] = words[i];
    }
  }

  /// Strides of four vectors from `begin` to `end`; returns where the next would pass it.
  template <class ScaleAt>
  HWY_INLINE std::size_t convert_strides(std::size_t begin, std::size_t end,
                                         ScaleAt scale_at) const noexcept {
    std::size_t i = begin;
    for (; is_common && i + stride <= end; i += stride) {
      for (std::size_t line = 0; line < stride; line += 16) {
        __builtin_prefetch(job.x + i + line + near_ahead, 1, 3);
        __builtin_prefetch(job.x + i + line + far_ahead, 1, 2);
      }
      const auto rounded = [&](std::size_t at) { return rounded_at(at, scale_at(at)); };
      write_all(scale_at, rounded(i), rounded(i + lane_count), rounded(i + 2 * lane_count),
                rounded(i + 3 * lane_count));
    }
    return i;
  }

  HWY_INLINE void convert_run(std::size_t begin, std::size_t end,
                              const LaneScale<Floats>& scale) const noexcept {
    const auto one_scale = [&](std::size_t) { return scale; };
    std::size_t i = convert_strides(begin, end, one_scale);
    for (; i + lane_count <= end; i += lane_count) write_all(one_scale, rounded_at(i, scale));
    if (i < end) convert_rest(i, end, scale);
  }

  HWY_INLINE void convert_runs(Scaling scaling) const noexcept {
    const std::size_t length = job.scales.run_length;
    std::size_t begin = 0;
    // Where runs are whole vectors a stride goes on from one to the next, each vector with the scale of its run.
    if (std::has_single_bit(length) && length >= lane_count) {
      const int shift = std::countr_zero(length);
      begin = convert_strides(0, job.n,
                              [&](std::size_t at) { return scale_of_run(job.scales, scaling, at >> shift); });
    }
    while (begin < job.n) {
      const std::size_t run = begin / length, next = (run + 1) * length, end = next < job.n ? next : job.n;
      convert_run(begin, end, scale_of_run(job.scales, scaling, run));
      begin = end;
    }
  }
};

}  // namespace halfulp::HWY_NAMESPACE
