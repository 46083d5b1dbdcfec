#pragma once
#include <map>
#include <utility>
#include <vector>

#include "analysis/element_step.h"

namespace halfulp {

/// A probe that remembers every element from step to step; it takes a vector per weight slot, so it is no part of
/// CounterProbe. Feed it the steps in order, each of them through the same object.
///
/// A Memory is a struct with
///   Mark                        what it needs to know of one element's step
///   mark(ElementStep)           static; on any thread, before the memory is at hand
///   apply(first, span of Mark)  the elements from `first` on, in tile order and step by step
template <class Memory>
class MemoryProbe {
 public:
  /// A weight slot of a tensor: id in the registry, slot as in TileRecord.
  using Key = std::pair<std::uint32_t, std::size_t>;

  class Tile {
   public:
    template <class R>
    void see(const TileRecord<R>& record) {
      Piece& piece = pieces_.emplace_back(Piece{{record.tensor, record.weight_slot}, record.first, {}});
      piece.marks.reserve(record.before.size());
      ElementsOf<R> elements(record);
      for (std::size_t i = 0; i < record.before.size(); ++i) piece.marks.push_back(Memory::mark(elements[i]));
    }

   private:
    friend class MemoryProbe;
    struct Piece {
      Key key;
      std::size_t first;
      std::vector<typename Memory::Mark> marks;
    };
    std::vector<Piece> pieces_;
  };

  /// Every slot starts with a copy of `fresh`.
  explicit MemoryProbe(Memory fresh = Memory()) : fresh_(std::move(fresh)) {}

  void join(const Tile& tile) {
    for (const auto& piece : tile.pieces_)
      memories_.try_emplace(piece.key, fresh_).first->second.apply(piece.first, std::span(piece.marks));
  }
  const std::map<Key, Memory>& memories() const noexcept { return memories_; }

 private:
  Memory fresh_;
  std::map<Key, Memory> memories_;
};

/// Element `index` of a memory that grows as elements are seen.
template <class T>
T& remembered(std::vector<T>& elements, std::size_t index) {
  if (index >= elements.size()) elements.resize(index + 1);
  return elements[index];
}

}  // namespace halfulp
