#pragma once
#include <limits>

#include "emulation/cuda/block_layout.h"
#include "emulation/cuda/element_draws.h"
#include "emulation/reduce.h"
#include "optimizers/block_state.h"
#include "optimizers/lazy_scales.h"
#include "optimizers/plan.h"

namespace halfulp::cuda {

/// One slot of an optimizer as the step kernels see it: where its bytes are, under which scales they are read in this
/// step, and what it is stored under from now on. Slot<float> in a form that devices can take.
struct StoredSlot {
  bool is_native;     ///< floats, not codes
  bool spans_tensor;  ///< one scale for the whole tensor: those below instead of `scales`
  bool needs_random;
  bool next_is_flushed;  ///< of spans_tensor: the conventions make this tensor all zero
  ScalePolicy policy;    ///< recompute, lazy or keep
  float* numbers;        ///< [elements], of native slots
  std::uint8_t* codes;   ///< [packed_bytes(element, elements)]
  std::uint8_t* scales;  ///< [packed_bytes(scale, blocks)]
  StoredFormat stored;   ///< its second scale: before this step
  TensorMultiplier next_second;
  std::uint32_t scale_before, next_scale;  ///< codes, of spans_tensor
  FloatConverter converter;
  float largest, lowest;  ///< elements
  ElementDraws draws;

  HALFULP_HD std::uint32_t scale_code(std::size_t block) const noexcept {
    if (!stored.format.has_scale()) return 0;
    return spans_tensor ? scale_before : load_code(stored.format.scale, scales, block);
  }
  /// What element i stores before this step.
  HALFULP_HD float load(std::size_t i) const noexcept {
    if (is_native) return numbers[i];
    const float element = converter.element(load_code(stored.format.element, codes, i));
    if (!stored.format.has_scale()) return element;
    return value_in_block(static_cast<double>(element),
                          scale_value(stored.format, scale_code(i / stored.length), stored.second));
  }
};

/// What the numbers of one block are stored under, before and after a step.
struct BlockScales {
  BlockState state;
  BlockScale before, now;
};

HALFULP_HD inline BlockScales block_scales(const BlockState& state) noexcept {
  return {state, block_scale(state.multiplier_before, exact_divisor(state.multiplier_before)),
          block_scale(state.multiplier, state.divisor)};
}
/// Of formats without a scale.
HALFULP_HD inline BlockScales no_scales() noexcept { return {unscaled_block, no_scale(), no_scale()}; }

/// The scales of a block from its new numbers, and their storage.
/// in: first: the block's first element; largest: amax(wanted)
HALFULP_HD_RARE inline BlockScales choose_scales(const StoredSlot& slot, std::size_t first,
                                                 std::span<const float> wanted, float largest) noexcept {
  const BlockFormat& f = slot.stored.format;
  const std::size_t block = first / slot.stored.length;
  const std::uint32_t before = slot.scale_code(block);
  const double multiplier_before = scale_value(f, before, slot.stored.second);
  const auto divided_by = [&](std::uint32_t code, bool is_flushed_now) {
    return BlockChoice{code, is_flushed_now ? zero_elements : block_divisor(f, code, slot.next_second)};
  };
  BlockChoice choice = divided_by(before, false);
  if (slot.spans_tensor) {
    choice = divided_by(slot.next_scale, slot.next_is_flushed);
  } else {
    switch (slot.policy.kind) {
      case ScalePolicyKind::keep:
        break;
      case ScalePolicyKind::recompute:
      case ScalePolicyKind::delayed:  // not served
        choice = choose_block(f, wanted, static_cast<double>(largest), slot.next_second,
                              f.rule == ScaleRule::stochastic_exponent ? slot.draws.of_scale(first) : 0);
        break;
      case ScalePolicyKind::lazy: {
        const double amax = amax_by_conventions(static_cast<double>(largest), wanted, f.conventions);
        choice =
            divided_by(lazy_scale_code(f, multiplier_before, amax, slot.next_second, slot.policy.headroom),
                       is_flushed(f, amax));
        break;
      }
    }
    store_code(f.scale, slot.scales, block, choice.scale);
  }
  return block_scales({multiplier_before, scale_value(f, choice.scale, slot.next_second),
                       block_divisor(f, before, slot.stored.second), choice.divisor});
}

/// What a step made of one element.
struct StoredElement {
  float after, unmoved;  ///< read back; what the old number would have become under the new scale
  bool is_largest;       ///< the largest number of its sign
};

/// Stores element i, one rounding, and reads it back.
/// in: before = slot.load(i) as it was; no native slot
HALFULP_HD_RARE inline StoredElement store_element(const StoredSlot& slot, std::size_t i,
                                                   const BlockScales& scales, float before, float wanted,
                                                   std::uint32_t random) noexcept {
  const ScalarFormat& f = slot.stored.format.element;
  const bool scaled = scales.now.is_scaled();
  const auto stored_as = [&](float x) { return slot.converter.code(x, scales.now, random); };
  const auto element_of = [&](std::uint32_t code) { return slot.converter.element(code); };
  float element = 0;
  if (scaled && scales.state.keeps_code(before, wanted)) {
    element = element_of(load_code(f, slot.codes, i));
  } else {
    const std::uint32_t code = stored_as(wanted);
    store_code(f, slot.codes, i, code);
    element = element_of(code);
  }
  const auto number = [&](float stored) { return slot.converter.number(stored, scales.now); };
  return {number(element), scales.state.is_unchanged() ? before : number(element_of(stored_as(before))),
          element == slot.largest || element == slot.lowest};
}

}  // namespace halfulp::cuda
