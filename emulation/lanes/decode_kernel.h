#pragma once
#include <hwy/cache_control.h>

#include "emulation/lanes/convert_kernel.h"

namespace halfulp::HWY_NAMESPACE {

// Steps decode a tile at a time, which ends the streams that hardware follows: elements, as long as most tiles.
inline constexpr std::size_t code_ahead = 1024;

template <class Code, Shape shape>
HWY_NOINLINE void decode_as(const DecodeJob& given, const Code* codes) noexcept {
  ElementLanes<Floats> lanes = given.lanes.as<Floats>();
  const DecodeJob job = given;
  Scaling scaling = scaling_of(job.scales);
  if constexpr (shape.is_known) {
    lanes.in_bits = shape.in_bits;
    lanes.is_signed = lanes.has_subnormals = true;
    lanes.is_fixed_point = shape.is_fixed_point;
    lanes.nan_is_negative_zero = false;
    scaling = shape.scaling;
  }
  constexpr std::size_t vector_bytes = lane_count * sizeof(float);
  const bool streams = job.streams && reinterpret_cast<std::uintptr_t>(job.values) % vector_bytes == 0;
  const auto value_at = [&](std::size_t at, const LaneScale<Floats>& scale) {
    __builtin_prefetch(codes + at + code_ahead);
    const Floats value = multiplied(number_of(lanes, load_codes(codes + at)), scale);
    if (streams && at % lane_count == 0)
      hn::Stream(value.v, FloatTag(), job.values + at);
    else
      store(value, job.values + at);
  };
  const std::size_t length = scaling == Scaling::none ? job.n : job.scales.run_length;
  std::size_t begin = 0;
  // As convert_runs(): where runs are whole vectors they are gone through without a pause.
  if (scaling != Scaling::none && std::has_single_bit(length) && length >= lane_count) {
    const int shift = std::countr_zero(length);
    for (; begin + lane_count <= job.n; begin += lane_count)
      value_at(begin, scale_of_run(job.scales, scaling, begin >> shift));
  }
  while (begin < job.n) {
    const std::size_t run = begin / length, next = (run + 1) * length, end = next < job.n ? next : job.n;
    const LaneScale<Floats> scale = scale_of_run(job.scales, scaling, run);
    std::size_t i = begin;
    for (; i + lane_count <= end; i += lane_count) value_at(i, scale);
    begin = end;
    if (i == end) continue;
    Code rest[lane_count] = {};
    float values[lane_count];
    for (std::size_t k = 0; i + k < end; ++k) rest[k] = codes[i + k];
    store(multiplied(number_of(lanes, load_codes(rest)), scale), values);
    for (std::size_t k = 0; i + k < end; ++k) job.values[i + k] = values[k];
  }
  if (streams) hwy::FlushStream();
}

inline void decode(const DecodeJob& job) noexcept {
  const ElementLanes<float>& lanes = job.lanes;
  const bool is_usual = lanes.is_signed && lanes.has_subnormals && !lanes.nan_is_negative_zero,
             is_common = is_usual && !lanes.is_fixed_point;
  if (is_usual && lanes.is_fixed_point && job.bytes && !lanes.in_bits &&
      scaling_of(job.scales) == Scaling::exact)
    return decode_as<std::uint8_t, Shape{true, false, Scaling::exact, {}, true}>(job, job.bytes);
  if (is_common && job.words && lanes.in_bits && !job.scales.high)
    return decode_as<std::uint16_t, Shape{true, true, Scaling::none, {}}>(job, job.words);
  if (is_common && job.bytes && !lanes.in_bits) switch (scaling_of(job.scales)) {
      case Scaling::none:
        return decode_as<std::uint8_t, Shape{true, false, Scaling::none, {}}>(job, job.bytes);
      case Scaling::exact:
        return decode_as<std::uint8_t, Shape{true, false, Scaling::exact, {}}>(job, job.bytes);
      case Scaling::quotient:
        return decode_as<std::uint8_t, Shape{true, false, Scaling::quotient, {}}>(job, job.bytes);
    }
  job.bytes ? decode_as<std::uint8_t, Shape{}>(job, job.bytes)
            : decode_as<std::uint16_t, Shape{}>(job, job.words);
}

}  // namespace halfulp::HWY_NAMESPACE
