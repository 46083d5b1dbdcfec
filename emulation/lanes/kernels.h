#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "emulation/random_bits.h"
#include "formats/element_lanes.h"

// The loops over arrays that are compiled for each instruction set. All of them compute the same bits; which one runs is
// decided once, by the CPU.
namespace halfulp {

/// Scales of consecutive runs of run_length elements (the last run may be short): elements are divided by, and their
/// values multiplied by, high + low. Without high there are no scales; without low they are powers of two.
struct RunScales {
  const float* high = nullptr;
  const float* low = nullptr;
  const float* inverse = nullptr;
  std::size_t run_length = 0;
};

/// One conversion of n floats. Values, codes or both are wanted; values may be x itself.
struct ConvertJob {
  const ElementLanes<float>& lanes;
  RoundingMode mode;
  const float* x;
  std::size_t n;
  const std::uint32_t*
      random;  ///< for each element, of the rounding's number of bits; null where it takes none
  RunScales scales;
  float* values;         ///< what is stored, read back
  std::uint8_t* bytes;   ///< codes of up to 8 bits, one a byte
  std::uint16_t* words;  ///< codes of up to 16 bits
  const float* kept =
      nullptr;  ///< numbers already stored: where x equals one its value, and the code that stands in
                ///< bytes or words, stay
};

/// The way back: codes to values.
struct DecodeJob {
  const ElementLanes<float>& lanes;
  const std::uint8_t* bytes;  ///< one code a byte, or
  const std::uint16_t* words;
  std::size_t n;
  RunScales scales;
  float* values;
  bool streams =
      false;  ///< whether the values go to memory past the caches, where they begin at a whole vector
};

enum class ElementaryFunction : std::uint8_t { exp2, exp2m1, exp, expm1, log, log2, log1p };

/// The kernels of one instruction set. None needs alignment; n is any number.
struct LaneKernels {
  const char* target;  ///< Highway's name of it, such as "AVX2"
  std::size_t lanes;   ///< floats in a vector
  bool
      fused;  ///< whether a fused product is one instruction; without, dividing by other than powers of two is slow

  void (*convert)(const ConvertJob& job) noexcept;
  void (*decode)(const DecodeJob& job) noexcept;
  /// out[i] = random_bits(stream, first + i, bits), as random_bits.h has it
  void (*random)(const RandomStream& stream, std::uint64_t first, int bits, std::uint32_t* out,
                 std::size_t n) noexcept;
  /// The largest magnitude of each run, NaN if it holds one
  void (*amax)(const float* x, std::size_t n, std::size_t run_length, float* out) noexcept;
  /// Codes of 4 bits, element 0 in the low nibble; n even
  void (*pack_nibbles)(const std::uint8_t* codes, std::size_t n, std::uint8_t* packed) noexcept;
  void (*unpack_nibbles)(const std::uint8_t* packed, std::size_t n, std::uint8_t* codes) noexcept;
  /// out[i] = function of x[i], as elementary.h; out may be x
  void (*apply)(ElementaryFunction function, const float* x, float* out, std::size_t n) noexcept;
  /// out[i] = normal_deviate<float>(bits[i])
  void (*normals)(const std::uint32_t* bits, float* out, std::size_t n) noexcept;
  /// x[0] + x[1] + ... in the order of reduce.h
  float (*sum)(const float* x, std::size_t n) noexcept;
};

/// Kernels in this build, the widest instruction set first.
std::span<const LaneKernels* const> compiled_lane_kernels() noexcept;
/// Those that this CPU can run: a suffix of the compiled ones, never empty. Everything uses the first.
std::span<const LaneKernels* const> supported_lane_kernels() noexcept;
inline const LaneKernels& lane_kernels() noexcept { return *supported_lane_kernels().front(); }

}  // namespace halfulp
