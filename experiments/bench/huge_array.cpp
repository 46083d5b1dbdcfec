#include "experiments/bench/huge_array.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <string>

namespace halfulp {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; }

}  // namespace

HugeMemory::HugeMemory(std::size_t bytes) : bytes_(bytes) {
  // One page more than it takes, since a mapping begins on any 4 KiB.
  mapped_bytes_ = rounded_up(std::max<std::size_t>(bytes, 1)) + huge_page;
  mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped_ == MAP_FAILED) throw std::bad_alloc();
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped_);
  data_ = reinterpret_cast<void*>(rounded_up(begin));
  // Advice only: a system without large pages says no, and bytes_on_huge_pages() tells.
#ifdef MADV_HUGEPAGE
  madvise(data_, rounded_up(bytes_), MADV_HUGEPAGE);
#endif
  std::memset(data_, 0, rounded_up(bytes_));
}

HugeMemory::~HugeMemory() { munmap(mapped_, mapped_bytes_); }

std::size_t HugeMemory::bytes_on_huge_pages() const {
  const auto first = reinterpret_cast<std::uintptr_t>(data_), last = first + bytes_;
  std::ifstream smaps("/proc/self/smaps");
  std::size_t found = 0;
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long long from = 0, to = 0, kilobytes = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &from, &to) == 2)
      inside = from < last && to > first;
    else if (inside && std::sscanf(line.c_str(), "AnonHugePages: %llu kB", &kilobytes) == 1)
      found += static_cast<std::size_t>(kilobytes) << 10;
  }
  return std::min(found, bytes_);
}

}  // namespace halfulp
