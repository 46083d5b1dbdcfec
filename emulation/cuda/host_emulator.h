#pragma once
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "emulation/cuda/kernel.h"
#include "emulation/fp_environment.h"

namespace halfulp::cuda {

/// The order in which the emulator runs the threads of a phase, and the blocks. Each barrier allows any: a kernel whose
/// results differ between two of them has a race.
enum class RunOrder { ascending, descending, shuffled };

namespace detail {

inline std::vector<std::size_t> run_order(std::size_t count, RunOrder order, std::uint32_t seed) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  switch (order) {
    case RunOrder::ascending:
      break;
    case RunOrder::descending:
      for (std::size_t& index : indices) index = count - 1 - index;
      break;
    case RunOrder::shuffled: {
      std::mt19937 bits(seed);
      for (std::size_t left = count; left > 1; --left) std::swap(indices[left - 1], indices[bits() % left]);
      break;
    }
  }
  return indices;
}

template <int phase, Kernel K>
void run_phase(const K& kernel, Block block, std::size_t round, RunOrder order, typename K::Shared& shared,
               std::vector<typename K::Registers>& registers) {
  const auto seed = static_cast<std::uint32_t>(block.index * 31 + round * 7 + phase);
  for (const std::size_t thread : run_order(K::threads, order, seed))
    kernel.template run<phase>(block, Thread{static_cast<unsigned>(thread), K::threads}, round, shared,
                               registers[thread]);
}

}  // namespace detail

/// Runs a kernel on the host: block by block, phase by phase, thread by thread. Its arguments point to host memory.
/// Shared memory starts as the bytes a5, so that what is read before it is written shows.
/// errors: none, but for memory.
template <Kernel K>
void emulate(const K& kernel, RunOrder order = RunOrder::ascending) {
  const FpEnvironment environment;
  const std::size_t blocks = kernel.blocks();
  for (const std::size_t index : detail::run_order(blocks, order, 1)) {
    const auto shared = std::make_unique<typename K::Shared>();
    std::memset(static_cast<void*>(shared.get()), 0xa5, sizeof(typename K::Shared));
    std::vector<typename K::Registers> registers(K::threads);
    const std::size_t rounds = kernel.rounds();
    for (std::size_t round = 0; round < rounds; ++round)
      [&]<int... phase>(std::integer_sequence<int, phase...>) {
        (detail::run_phase<phase>(kernel, Block{index, blocks}, round, order, *shared, registers), ...);
      }
    (std::make_integer_sequence<int, K::phases>{});
  }
}

}  // namespace halfulp::cuda
