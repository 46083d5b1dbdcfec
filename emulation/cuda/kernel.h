#pragma once
#include <concepts>
#include <cstddef>

#include "formats/platform.h"

// Kernel bodies are plain C++ over index code, written once: a device runs them, and so does the host emulator.
// A kernel is a trivially copyable struct whose members are its arguments, with
//   threads          of a block
//   phases           a phase ends where all threads of a block have to meet (a barrier)
//   Shared           what the threads of a block share; uninitialised at first
//   Registers        what a thread keeps from phase to phase
//   blocks()         how many blocks there are
//   rounds()         how often all phases are run, one round after the other
//   run<phase>(block, thread, round, shared, registers)
// A phase is free of races if no thread writes what another one reads or writes in the same phase; then the order of the
// threads inside a phase does not show. Blocks never write what other blocks read or write.
namespace halfulp::cuda {

struct Block {
  std::size_t index, count;
};
struct Thread {
  unsigned index, count;
};

/// What most kernels need: no sharing, nothing kept, one round.
struct PlainKernel {
  struct Shared {};
  struct Registers {};
  HALFULP_HD constexpr std::size_t rounds() const noexcept { return 1; }
};

template <class K>
concept Kernel = requires(const K& kernel) {
  typename K::Shared;
  typename K::Registers;
  { K::threads + 0u } -> std::same_as<unsigned>;
  { K::phases + 0 } -> std::same_as<int>;
  { kernel.blocks() } -> std::same_as<std::size_t>;
  { kernel.rounds() } -> std::same_as<std::size_t>;
};

/// Blocks that cover `count` items, `each` in a block.
HALFULP_HD constexpr std::size_t blocks_for(std::size_t count, std::size_t each) noexcept {
  return count / each + (count % each != 0 ? 1 : 0);
}

}  // namespace halfulp::cuda
