#pragma once
#include "emulation/cuda/block_layout.h"
#include "emulation/cuda/element_draws.h"
#include "emulation/cuda/kernel.h"
#include "emulation/reduce.h"

namespace halfulp::cuda {

/// Quantisation into packed codes and scales (those of quantize(), the second scale given), fake quantisation, or both.
/// Phases: 0 numbers and random integers into shared memory, coalesced; 1 amax of each thread's eight consecutive
/// elements; 2 a thread for each scale; 3 the eight elements of a thread, which own whole bytes, stored; 4 numbers read
/// back, coalesced.
struct EncodeKernel : PlainKernel {
  static constexpr unsigned threads = tile_threads;
  static constexpr int phases = 5;

  struct Shared {
    float number[tile_elements + tile_elements / 8];
    std::uint32_t random[tile_elements];
    float amax[threads];
    BlockScale scale[tile_elements / 8];
  };

  const float* x;
  std::size_t count;
  StoredFormat stored;
  FloatConverter converter;
  ElementDraws draws;
  bool needs_random;     ///< the rounding is stochastic
  std::uint8_t* codes;   ///< [packed_bytes(element, count)], or null
  std::uint8_t* scales;  ///< [packed_bytes(scale, ceil(count / length))], or null
  float* values;         ///< [count], the numbers read back, or null

  std::size_t blocks() const noexcept { return blocks_for(count, tile_elements); }

  template <int phase>
  HALFULP_HD void run(Block block, Thread thread, std::size_t, Shared& shared, Registers&) const noexcept {
    const std::size_t first = block.index * tile_elements;
    const std::size_t here = count - first < tile_elements ? count - first : tile_elements;
    const std::size_t begin = thread.index * std::size_t{8}, end = begin + 8 < here ? begin + 8 : here;
    if constexpr (phase == 0) {
      float number[8];
      for (std::size_t d = 0; d < 8; ++d) {
        const std::size_t i = thread.index + d * threads;
        number[d] = i < here ? x[first + i] : 0.0f;
      }
      for (std::size_t d = 0; d < 8; ++d) {
        const std::size_t i = thread.index + d * threads;
        if (i < here) shared.number[place(i)] = number[d];
      }
      if (needs_random) {
        std::uint32_t random[8];
        draws.of_lane(first / 128 + thread.index / 16, thread.index % 16, random);
        for (std::size_t d = 0; d < 8; ++d)
          shared.random[thread.index / 16 * 128 + 16 * d + thread.index % 16] = random[d];
      }
    } else if constexpr (phase == 1) {
      if (stored.format.has_scale() && begin < here)
        shared.amax[thread.index] = amax(std::span<const float>(shared.number + place(begin), end - begin));
    } else if constexpr (phase == 2) {
      if (!stored.format.has_scale()) return;
      for (std::size_t scaled = thread.index; scaled * stored.length < here; scaled += threads)
        choose(shared, first, here, scaled);
    } else if constexpr (phase == 3) {
      with_mode(converter.mode(), [&]<RoundingMode mode>() {
        for (std::size_t i = begin; i < end; ++i) store<mode>(shared, first, i);
      });
    } else {
      if (values == nullptr) return;
      for (std::size_t i = thread.index; i < here; i += threads) values[first + i] = shared.number[place(i)];
    }
  }

 private:
  /// One number of padding after every block: threads that walk blocks side by side meet no bank twice.
  HALFULP_HD std::size_t place(std::size_t i) const noexcept { return i + i / stored.length; }

  HALFULP_HD void choose(Shared& shared, std::size_t first, std::size_t here,
                         std::size_t scaled) const noexcept {
    const std::size_t begin = scaled * stored.length;
    const std::size_t size = here - begin < stored.length ? here - begin : stored.length;
    const std::span<const float> members(shared.number + place(begin), size);
    const std::span<const float> largest(shared.amax + begin / 8, (size + 7) / 8);
    const bool draws_scale = stored.format.rule == ScaleRule::stochastic_exponent;
    const BlockChoice choice = choose_block(stored.format, members, static_cast<double>(amax(largest)),
                                            stored.second, draws_scale ? draws.of_scale(first + begin) : 0);
    shared.scale[scaled] =
        block_scale(scale_value(stored.format, choice.scale, stored.second), choice.divisor);
    if (scales != nullptr)
      store_code(stored.format.scale, scales, first / stored.length + scaled, choice.scale);
  }

  template <RoundingMode mode>
  HALFULP_HD void store(Shared& shared, std::size_t first, std::size_t i) const noexcept {
    const BlockScale none = no_scale();
    const BlockScale& scale = stored.format.has_scale() ? shared.scale[i / stored.length] : none;
    float& number = shared.number[place(i)];
    const std::uint32_t code = converter.code<mode>(number, scale, needs_random ? shared.random[i] : 0);
    if (codes != nullptr) store_code(stored.format.element, codes, first + i, code);
    if (values != nullptr) number = converter.number(converter.element(code), scale);
  }
};

}  // namespace halfulp::cuda
