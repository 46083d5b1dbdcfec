#pragma once
#include <cstddef>
#include <span>

namespace halfulp {

/// Zeroed memory that begins on a 2 MiB boundary and asks for pages of that size: with 4 KiB pages the misses of the
/// address cache cost an in-place pass 21 to 26 %, and whether the system's allocator gives large ones is chance.
/// Every page is touched before the constructor ends, so that no fault falls into a measurement.
class HugeMemory {
 public:
  /// errors: throws std::bad_alloc where the system has not that much.
  explicit HugeMemory(std::size_t bytes);
  ~HugeMemory();
  HugeMemory(const HugeMemory&) = delete;
  HugeMemory& operator=(const HugeMemory&) = delete;

  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  /// How many of the bytes lie on large pages, as far as the system tells (0 where it does not). Neighbouring arrays
  /// can share an entry of /proc/self/smaps; what it states for both is then taken for this one, up to its size.
  std::size_t bytes_on_huge_pages() const;

 private:
  void* mapped_;
  std::size_t mapped_bytes_;
  void* data_;
  std::size_t bytes_;
};

/// Numbers in such memory.
template <class T>
class HugeArray {
 public:
  /// errors: as HugeMemory
  explicit HugeArray(std::size_t size) : memory_(size * sizeof(T)), size_(size) {}

  T* data() const noexcept { return static_cast<T*>(memory_.data()); }
  std::size_t size() const noexcept { return size_; }
  std::span<T> all() const noexcept { return {data(), size_}; }
  const HugeMemory& memory() const noexcept { return memory_; }

 private:
  HugeMemory memory_;
  std::size_t size_;
};

}  // namespace halfulp
