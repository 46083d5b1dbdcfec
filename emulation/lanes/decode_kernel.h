#pragma once
#include "emulation/lanes/convert_kernel.h"

namespace halfulp::HWY_NAMESPACE {

template <class Code, Shape shape>
HWY_NOINLINE void decode_as(const DecodeJob& given, const Code* codes) noexcept {
  ElementLanes<Floats> lanes = given.lanes.as<Floats>();
  const DecodeJob job = given;
  Scaling scaling = scaling_of(job.scales);
  if constexpr (shape.is_known) {
    lanes.in_bits = shape.in_bits;
    lanes.is_signed = lanes.has_subnormals = true;
    lanes.is_fixed_point = lanes.nan_is_negative_zero = false;
    scaling = shape.scaling;
  }
  const std::size_t length = scaling == Scaling::none ? job.n : job.scales.run_length;
  for (std::size_t begin = 0, run = 0; begin < job.n; begin += length, ++run) {
    const std::size_t end = begin + length < job.n ? begin + length : job.n;
    const LaneScale<Floats> scale = scale_of_run(job.scales, scaling, run);
    std::size_t i = begin;
    for (; i + lane_count <= end; i += lane_count)
      store(multiplied(number_of(lanes, load_codes(codes + i)), scale), job.values + i);
    if (i == end) continue;
    Code rest[lane_count] = {};
    float values[lane_count];
    for (std::size_t k = 0; i + k < end; ++k) rest[k] = codes[i + k];
    store(multiplied(number_of(lanes, load_codes(rest)), scale), values);
    for (std::size_t k = 0; i + k < end; ++k) job.values[i + k] = values[k];
  }
}

inline void decode(const DecodeJob& job) noexcept {
  const ElementLanes<float>& lanes = job.lanes;
  const bool is_common =
      lanes.is_signed && lanes.has_subnormals && !lanes.is_fixed_point && !lanes.nan_is_negative_zero;
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
