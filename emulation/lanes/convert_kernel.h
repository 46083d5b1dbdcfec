#pragma once
#include "emulation/lanes/conversion_loop.h"

namespace halfulp::HWY_NAMESPACE {

enum class Output : std::uint8_t { values, bytes, words, values_and_bytes, values_and_words };

/// What a loop is compiled for. The common shapes have loops of their own, in which everything that is the same for all
/// elements is known to the compiler; the others share one that asks each time, at about a third of the speed.
struct Shape {
  bool is_known;
  bool in_bits;
  Scaling scaling;
  Output output;
  bool is_fixed_point = false;
};

template <RoundingMode mode, Shape shape>
HWY_NOINLINE void convert_as(const ConvertJob& given) noexcept {
  ElementLanes<Floats> lanes = given.lanes.as<Floats>();
  ConvertJob job = given;
  Scaling scaling = scaling_of(job.scales);
  if constexpr (shape.is_known) {
    lanes.in_bits = shape.in_bits;
    lanes.grid.flushes = lanes.grid.parity_in_exponent = false;
    lanes.is_fixed_point = shape.is_fixed_point;
    lanes.is_signed = true;
    scaling = shape.scaling;
    constexpr Output output = shape.output;
    if (output == Output::bytes || output == Output::words) job.values = nullptr;
    if (output != Output::bytes && output != Output::values_and_bytes) job.bytes = nullptr;
    if (output != Output::words && output != Output::values_and_words) job.words = nullptr;
    if (output == Output::values || scaling == Scaling::none) job.kept = nullptr;
  }
  // Rules that take the floor of log2 amax let blocks overflow; without a scale it is rare.
  const bool saturates = scaling != Scaling::none && saturates_at_ends(given.lanes);
  const bool plain_zeros = shape.is_known && shape.is_fixed_point && zeros_become_positive(given.lanes);
  const Conversion<mode, shape.is_known> conversion{lanes, job, saturates, plain_zeros};
  if (scaling == Scaling::none) return conversion.convert_run(0, job.n, scale_of_run(job.scales, scaling, 0));
  conversion.convert_runs(scaling);
}

template <RoundingMode mode, bool in_bits, Scaling scaling, bool is_fixed_point = false>
HWY_INLINE void convert_to_bytes(const ConvertJob& job) noexcept {
  constexpr auto shape = [](Output output) { return Shape{true, in_bits, scaling, output, is_fixed_point}; };
  if (!job.bytes) return convert_as<mode, shape(Output::values)>(job);
  if (!job.values) return convert_as<mode, shape(Output::bytes)>(job);
  return convert_as<mode, shape(Output::values_and_bytes)>(job);
}

template <RoundingMode mode, bool in_bits>
HWY_INLINE void convert_to_words(const ConvertJob& job) noexcept {
  if (!job.words) return convert_as<mode, Shape{true, in_bits, Scaling::none, Output::values}>(job);
  if (!job.values) return convert_as<mode, Shape{true, in_bits, Scaling::none, Output::words}>(job);
  return convert_as<mode, Shape{true, in_bits, Scaling::none, Output::values_and_words}>(job);
}

/// The loop for this job, if its shape is a common one: words only without scales, and the lane's own bits only in words.
template <RoundingMode mode>
HWY_INLINE bool convert_common(const ConvertJob& job) noexcept {
  const ElementLanes<float>& lanes = job.lanes;
  const Scaling scaling = scaling_of(job.scales);
  if (!lanes.is_signed || lanes.grid.flushes || lanes.grid.parity_in_exponent) return false;
  if (lanes.is_fixed_point) {  // as the elements of MXINT8 are
    if (scaling != Scaling::exact || lanes.in_bits || job.words || (job.kept && !job.bytes)) return false;
    convert_to_bytes<mode, false, Scaling::exact, true>(job);
    return true;
  }
  if (scaling == Scaling::none && (lanes.in_bits || job.words)) {
    if (job.bytes || job.kept) return false;
    lanes.in_bits ? convert_to_words<mode, true>(job) : convert_to_words<mode, false>(job);
    return true;
  }
  if (lanes.in_bits || job.words || (job.kept && (scaling == Scaling::none || !job.bytes))) return false;
  switch (scaling) {
    case Scaling::none:
      convert_to_bytes<mode, false, Scaling::none>(job);
      return true;
    case Scaling::exact:
      convert_to_bytes<mode, false, Scaling::exact>(job);
      return true;
    case Scaling::quotient:
      convert_to_bytes<mode, false, Scaling::quotient>(job);
      return true;
  }
  return false;
}

inline void convert(const ConvertJob& job) noexcept {
  with_mode(job.mode, [&]<RoundingMode mode>() {
    if constexpr (mode == RoundingMode::nearest_even || mode == RoundingMode::stochastic_c)
      if (convert_common<mode>(job)) return;
    convert_as<mode, Shape{}>(job);
  });
}

}  // namespace halfulp::HWY_NAMESPACE
