#pragma once
#include <cstddef>
#include <cstdint>

namespace halfulp {

// Access patterns without arithmetic: what a kernel of the same accesses cannot beat. Vectors are written out, so that
// each compiler moves memory in the same way; the widest that the machine has are chosen at run time, as for kernels.
// in: arrays on 64-byte boundaries, elements a multiple of 64.

/// Loads every float and stores it in place with its sign flipped: ordinary stores, no prefetch.
void read_modify_write(float* x, std::size_t elements) noexcept;
/// The same with software prefetch, into L1 2 KiB ahead and into L2 8 KiB ahead, one pair for each line.
void read_modify_write_with_prefetch(float* x, std::size_t elements) noexcept;
/// Loads every float.
/// out: exclusive or of their bits
std::uint32_t read_all(const float* x, std::size_t elements) noexcept;
/// Stores one float everywhere, past the caches.
void write_past_caches(float* x, float value, std::size_t elements) noexcept;
/// Loads every float and stores it elsewhere, past the caches.
void copy_past_caches(const float* from, float* to, std::size_t elements) noexcept;

/// One array of an optimizer step.
struct AccessStream {
  std::uint8_t* data;
  std::size_t bytes;  ///< of an element, at most 4
  bool is_written;    ///< in place, after it was read
};

/// Goes through all streams side by side, 64 elements at a time: loads every line, and stores those of written streams
/// in place with a bit of each word flipped; ordinary stores, no prefetch.
/// out: exclusive or of what is only read
std::uint32_t access_streams(const AccessStream* streams, std::size_t count, std::size_t elements) noexcept;

/// Instruction set of the above: "AVX2".
const char* reference_target() noexcept;

}  // namespace halfulp
