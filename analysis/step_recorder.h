#pragma once
#include <vector>

#include "analysis/step_counters.h"

namespace halfulp {

/// One element of one weight slot in one step.
struct RecordedElement {
  std::size_t element, weight_slot;  ///< row-major index in the tensor; slot as in TileRecord
  bool made_of_parts;                ///< the weight that parts make, stored nowhere
  ElementStep step;
};

/// The probe that keeps every element it is shown, tile by tile, beside the counters of the same step.
struct StepRecorder {
  std::vector<RecordedElement> elements;
  CounterProbe counters;

  using Tile = StepRecorder;
  template <class R>
  void see(const TileRecord<R>& record) {
    counters.see(record);
    for (std::size_t i = 0; i < record.before.size(); ++i)
      elements.push_back({record.first + i, record.weight_slot, record.made_of_parts, element_of(record, i)});
  }
  void join(const StepRecorder& other) {
    elements.insert(elements.end(), other.elements.begin(), other.elements.end());
    counters.join(other.counters);
  }
};

}  // namespace halfulp
