#pragma once
#include <map>

#include "analysis/step_counters.h"

namespace halfulp {

/// The probe that counts each tensor apart.
struct PerTensorCounters {
  std::map<std::uint32_t, CounterProbe> tensors;  ///< by id in the registry

  using Tile = PerTensorCounters;
  template <class R>
  void see(const TileRecord<R>& record) {
    tensors[record.tensor].see(record);
  }
  void join(const PerTensorCounters& other) {
    for (const auto& [id, counters] : other.tensors) tensors[id].join(counters);
  }
  /// As CounterProbe::after_step(), of every tensor.
  void after_step() noexcept {
    for (auto& [id, counters] : tensors) counters.after_step();
  }
  /// All tensors together, in the order of their ids. Its growth by scales is the product over tensors; the growth of
  /// the whole model is that of a CounterProbe that saw all of them.
  CounterProbe all() const {
    CounterProbe sum;
    for (const auto& [id, counters] : tensors) sum.join(counters);
    return sum;
  }
};

}  // namespace halfulp
