#pragma once
#include "optimizers/cuda/element_update.h"
#include "optimizers/cuda/step_counts.h"

namespace halfulp::cuda {

/// One optimizer step of one tensor whose tensor-wide scales are chosen: decode, update, round, encode, decode what was
/// stored, count. A block has 1024 elements, eight for each of its threads. Slot after slot goes through shared memory in
/// four phases: 0 new numbers and random integers, coalesced; 1 amax of each thread's eight consecutive elements;
/// 2 a thread for each scale; 3 the eight elements of a thread, which own whole bytes, stored and counted. Then a tree
/// adds the counts of the threads.
template <class Rule>
struct StepKernel {
  using Arguments = StepArguments<Rule>;
  static constexpr std::size_t weights = Arguments::weight_count, slots = Arguments::slot_count;
  static constexpr std::size_t count_columns = weights * step_count_kinds;
  static constexpr unsigned threads = tile_threads;
  static constexpr int per_slot = 4, tree_levels = 7, tree = per_slot * static_cast<int>(slots);
  static constexpr int phases = tree + 1 + tree_levels;
  static constexpr std::size_t shortest_block = 16;

  struct Shared {
    float number[tile_elements + tile_elements / 8];
    std::uint32_t random[tile_elements];
    bool moves[tile_elements];
    float amax[threads];
    BlockScales scales[tile_elements / shortest_block];
    std::uint32_t counts[threads][count_columns];
  };
  struct Registers {
    float wanted[8][slots];
    bool moves[8][weights];
    std::uint32_t counts[count_columns] = {};
  };

  Arguments step;
  std::uint32_t*
      partial;  ///< [blocks x count_columns], counts of each block: moving, unchanged, zeros, saturated

  std::size_t blocks() const noexcept { return blocks_for(step.count, tile_elements); }
  HALFULP_HD std::size_t rounds() const noexcept { return 1; }

  template <int phase>
  HALFULP_HD void run(Block block, Thread thread, std::size_t, Shared& shared,
                      Registers& own) const noexcept {
    const std::size_t first = block.index * tile_elements;
    const std::size_t here = step.count - first < tile_elements ? step.count - first : tile_elements;
    if constexpr (phase == 0) compute(first, here, thread, own);
    if constexpr (phase < tree) {
      constexpr std::size_t slot = static_cast<std::size_t>(phase / per_slot);
      if constexpr (phase % per_slot == 0) share<slot>(first, here, thread, shared, own);
      if constexpr (phase % per_slot == 1) find_amax(step.slots[slot], here, thread, shared);
      if constexpr (phase % per_slot == 2) choose(step.slots[slot], first, here, thread, shared);
      if constexpr (phase % per_slot == 3) store<slot>(first, here, thread, shared, own);
    } else if constexpr (phase == tree) {
      for (std::size_t k = 0; k < count_columns; ++k) shared.counts[thread.index][k] = own.counts[k];
    } else {
      constexpr unsigned half = threads >> (phase - tree);
      if (thread.index >= half) return;
      std::uint32_t* sums = shared.counts[thread.index];
      for (std::size_t k = 0; k < count_columns; ++k) sums[k] += shared.counts[thread.index + half][k];
      if constexpr (phase == phases - 1)
        for (std::size_t k = 0; k < count_columns; ++k) partial[block.index * count_columns + k] = sums[k];
    }
  }

 private:
  /// A thread computes the elements 16 d + lane of its group of 128, which share a counter of the random map.
  HALFULP_HD static std::size_t strided(Thread thread, std::size_t d) noexcept {
    return thread.index / 16 * 128 + 16 * d + thread.index % 16;
  }
  HALFULP_HD static std::size_t place(const StoredSlot& slot, std::size_t i) noexcept {
    return i + i / slot.stored.length;
  }

  HALFULP_HD void compute(std::size_t first, std::size_t here, Thread thread, Registers& own) const noexcept {
    for (std::size_t d = 0; d < 8; ++d) {
      const std::size_t i = strided(thread, d);
      if (i >= here) continue;
      const ElementUpdate<Rule> update = element_update(step, first + i);
      for (std::size_t slot = 0; slot < slots; ++slot) own.wanted[d][slot] = update.wanted[slot];
      for (std::size_t slot = 0; slot < weights; ++slot) own.moves[d][slot] = update.moves[slot];
    }
  }

  template <std::size_t number>
  HALFULP_HD void share(std::size_t first, std::size_t here, Thread thread, Shared& shared,
                        Registers& own) const noexcept {
    const StoredSlot& slot = step.slots[number];
    std::uint32_t random[8];
    if (slot.needs_random) slot.draws.of_lane(first / 128 + thread.index / 16, thread.index % 16, random);
    for (std::size_t d = 0; d < 8; ++d) {
      const std::size_t i = strided(thread, d);
      if (i >= here) continue;
      if (slot.is_native) {
        store_native<number>(first + i, own.wanted[d][number], own, d);
        continue;
      }
      shared.number[place(slot, i)] = own.wanted[d][number];
      if (slot.needs_random) shared.random[i] = random[d];
      if constexpr (number < weights) shared.moves[i] = own.moves[d][number];
    }
  }

  template <std::size_t number>
  HALFULP_HD void store_native(std::size_t i, float wanted, Registers& own, std::size_t d) const noexcept {
    float& stored = step.slots[number].numbers[i];
    if constexpr (number < weights) count<number>({wanted, stored, false}, wanted, own.moves[d][number], own);
    stored = wanted;
  }

  HALFULP_HD static void find_amax(const StoredSlot& slot, std::size_t here, Thread thread,
                                   Shared& shared) noexcept {
    const std::size_t begin = thread.index * std::size_t{8};
    if (slot.is_native || !slot.stored.format.has_scale() || begin >= here) return;
    const std::size_t size = here - begin < 8 ? here - begin : 8;
    shared.amax[thread.index] = amax(std::span<const float>(shared.number + place(slot, begin), size));
  }

  HALFULP_HD static void choose(const StoredSlot& slot, std::size_t first, std::size_t here, Thread thread,
                                Shared& shared) noexcept {
    if (slot.is_native || !slot.stored.format.has_scale()) return;
    const std::size_t length = slot.stored.length;
    for (std::size_t b = thread.index; b * length < here; b += threads) {
      const std::size_t begin = b * length, size = here - begin < length ? here - begin : length;
      const std::span<const float> parts(shared.amax + begin / 8, (size + 7) / 8);
      shared.scales[b] =
          choose_scales(slot, first + begin, {shared.number + place(slot, begin), size}, amax(parts));
    }
  }

  template <std::size_t number>
  HALFULP_HD void store(std::size_t first, std::size_t here, Thread thread, Shared& shared,
                        Registers& own) const noexcept {
    const StoredSlot& slot = step.slots[number];
    if (slot.is_native) return;
    const std::size_t begin = thread.index * std::size_t{8};
    const std::size_t end = begin + 8 < here ? begin + 8 : here;
    const BlockScales none = no_scales();
    const BlockScales& scales =
        slot.stored.format.has_scale() && begin < here ? shared.scales[begin / slot.stored.length] : none;
    // The scale codes in memory are new by now; what a code stood for before is read with the multiplier of then.
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t old = load_code(slot.stored.format.element, slot.codes, first + i);
      const float before = slot.converter.number(slot.converter.element(old), scales.before);
      const float wanted = shared.number[place(slot, i)];
      const StoredElement stored =
          store_element(slot, first + i, scales, before, wanted, slot.needs_random ? shared.random[i] : 0);
      if constexpr (number < weights) count<number>(stored, wanted, shared.moves[i], own);
    }
  }

  template <std::size_t number>
  HALFULP_HD static void count(const StoredElement& stored, float wanted, bool moves,
                               Registers& own) noexcept {
    std::uint32_t* counts = own.counts + number * step_count_kinds;
    const bool beyond = stored.after > 0 ? wanted > stored.after : wanted < stored.after;
    counts[0] += moves ? 1 : 0;
    counts[1] += moves && stored.after == stored.unmoved ? 1 : 0;
    counts[2] += stored.after == 0 ? 1 : 0;
    counts[3] += stored.is_largest && beyond ? 1 : 0;
  }
};

/// Phase 2 of a step: the amax of what each slot is to store, for scales that span the tensor. Nothing is stored. A NaN
/// wins over everything.
template <class Rule>
struct StepAmaxKernel : PlainKernel {
  using Arguments = StepArguments<Rule>;
  static constexpr std::size_t slots = Arguments::slot_count;
  static constexpr unsigned threads = tile_threads;
  static constexpr int phases = 2;

  struct Shared {
    float amax[slots][threads];
  };

  Arguments step;
  float* out;  ///< [slots x blocks]

  std::size_t blocks() const noexcept { return blocks_for(step.count, tile_elements); }

  template <int phase>
  HALFULP_HD void run(Block block, Thread thread, std::size_t, Shared& shared, Registers&) const noexcept {
    if constexpr (phase == 0) {
      float largest[slots][2] = {};
      for (std::size_t d = 0; d < 8; ++d) {
        const std::size_t i = block.index * tile_elements + d * threads + thread.index;
        if (i >= step.count) continue;
        const ElementUpdate<Rule> update = element_update(step, i);
        for (std::size_t slot = 0; slot < slots; ++slot) {
          largest[slot][1] = update.wanted[slot];
          largest[slot][0] = amax(std::span<const float>(largest[slot], 2));
        }
      }
      for (std::size_t slot = 0; slot < slots; ++slot) shared.amax[slot][thread.index] = largest[slot][0];
    } else if (thread.index < slots) {
      out[thread.index * block.count + block.index] =
          amax(std::span<const float>(shared.amax[thread.index], threads));
    }
  }
};

}  // namespace halfulp::cuda
