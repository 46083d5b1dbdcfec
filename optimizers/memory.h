#pragma once
#include <cstddef>
#include <vector>

#include "emulation/registry.h"
#include "optimizers/any_rule.h"
#include "optimizers/plan.h"

namespace halfulp {

/// Bytes of a tensor of this shape in a format: codes packed, and every scale. What Tensor::stored_bytes()
/// says, without making the tensor.
std::size_t stored_bytes(const BlockFormat& format, const std::vector<std::size_t>& shape);
/// The same of a slot; number_bytes: of the rule's number type, where the slot is unrounded.
std::size_t stored_bytes(const SlotPlan& slot, const std::vector<std::size_t>& shape, int number_bytes);

/// What one tensor, or several, keep in memory, in bytes.
struct StoredBytes {
  /// Every weight slot.
  std::size_t weights = 0;
  /// Those with a number for each element; an integer that has to stay one is kept in the number type of the
  /// rule, so that many bytes count.
  std::size_t states = 0;
  /// States of fewer numbers, and the one double that such a rule keeps of a tensor.
  std::size_t low_rank = 0;
  /// Beside each weight slot; under collage_plus also beside each second moment among `states`.
  std::size_t compensation = 0;
  /// Of each weight slot, of one noise sample or micro-batch.
  std::size_t gradient = 0;
  /// Of their sum; 0 with a single one, which is its own sum.
  std::size_t accumulator = 0;

  std::size_t total() const noexcept {
    return weights + states + low_rank + compensation + gradient + accumulator;
  }
  StoredBytes& operator+=(const StoredBytes& other) noexcept;
  friend bool operator==(const StoredBytes&, const StoredBytes&) = default;
};

/// Of a tensor under a rule and a plan. Not counted: activations, the views that a model is evaluated at,
/// buffers of one tile or tensor that a step uses, projections (drawn when needed), a tensor's initial rms.
/// number_bytes: 4 or 8, of the rule's number type, for what the plan does not round
/// micro_batches: of one step
StoredBytes stored_bytes(const AnyRule& rule, const TensorPlan& plan, const TensorInfo& tensor,
                         int number_bytes, int micro_batches = 1);

}  // namespace halfulp
