#pragma once
#include "emulation/cuda/decode_kernel.h"
#include "emulation/cuda/encode_kernel.h"
#include "emulation/cuda/quantize_kernel.h"

// Kernels from what a caller has, with the checks of a host edge. The pointers are those of the memory in which the
// kernel will run: a device's, or the host's under the emulator.
namespace halfulp::cuda {

/// How numbers become numbers of a format.
struct Quantization {
  Rounding rounding;
  SpecialValues special;
  ElementDraws draws;
};

/// nearest_even, saturating.
inline Quantization to_nearest() noexcept {
  return {nearest_even, special_values(OverflowPolicy::saturate), no_draws()};
}

/// Fake quantisation of `count` floats; out may be x.
/// in:     first_element: number of x[0] in its tensor, for random bits.
/// errors: throws Error for a table, for numbers beyond float, and for a first element that is no multiple of 128.
inline QuantizeKernel quantize_kernel(const ScalarFormat& format, const Quantization& how, const float* x,
                                      float* out, std::size_t count, std::uint64_t first_element = 0) {
  stored_format(unscaled(format), count, 1);
  if (first_element % 128 != 0)
    throw Error("quantize on the device", "a stretch that starts inside a group of random bits",
                std::to_string(first_element), "multiples of 128");
  return {{}, x, out, count, FloatConverter(format, how.rounding, how.special), how.draws, first_element};
}

/// Quantisation of rows of numbers into packed codes and scales, into the numbers that these store, or into both.
/// in:     x [rows * row_length]; codes [packed_bytes(element, count)], scales [packed_bytes(scale, blocks)], values
///         [count], each of them may be null.
/// errors: throws Error for formats that the kernels do not serve (stored_format).
inline EncodeKernel encode_kernel(const BlockFormat& format, std::size_t rows, std::size_t row_length,
                                  TensorMultiplier second, const Quantization& how, const float* x,
                                  std::uint8_t* codes, std::uint8_t* scales, float* values) {
  return {{},
          x,
          rows * row_length,
          stored_format(format, row_length, rows, second),
          FloatConverter(format.element, how.rounding, how.special),
          how.draws,
          is_stochastic(how.rounding.mode),
          codes,
          scales,
          values};
}

/// The numbers that packed codes and scales store.
/// errors: as encode_kernel.
inline DecodeKernel decode_kernel(const BlockFormat& format, std::size_t rows, std::size_t row_length,
                                  TensorMultiplier second, const std::uint8_t* codes,
                                  const std::uint8_t* scales, float* values) {
  return {{}, codes, scales, rows * row_length, stored_format(format, row_length, rows, second), values};
}

}  // namespace halfulp::cuda
