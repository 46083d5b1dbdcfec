#pragma once
#include <tuple>
#include <utility>

#include "optimizers/tile_record.h"

namespace halfulp {

/// Several probes on one step, each of which sees every tile.
template <class... P>
struct ProbesTogether {
  std::tuple<P...> probes;

  struct Tile {
    std::tuple<typename P::Tile...> tiles;

    template <class R>
    void see(const TileRecord<R>& record) {
      std::apply([&](auto&... tile) { (tile.see(record), ...); }, tiles);
    }
  };
  void join(const Tile& tile) { join_each(tile, std::index_sequence_for<P...>{}); }

 private:
  template <std::size_t... i>
  void join_each(const Tile& tile, std::index_sequence<i...>) {
    (std::get<i>(probes).join(std::get<i>(tile.tiles)), ...);
  }
};

}  // namespace halfulp
