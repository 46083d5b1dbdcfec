#include "optimizers/memory.h"

#include <algorithm>

#include "formats/block.h"
#include "formats/packing.h"
#include "optimizers/step.h"

namespace halfulp {
namespace {

std::size_t ceil_of_quotient(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Blocks of a matrix; an extent of 0 in the format means all of that side.
std::size_t block_count(const BlockShape& block, std::size_t rows, std::size_t columns) {
  const bool tiled = block.axis == BlockAxis::tile;
  if (!tiled) columns *= rows, rows = 1;
  const std::size_t height = !tiled ? 1 : block.rows == 0 ? rows : block.rows;
  const std::size_t width = block.columns == 0 ? columns : block.columns;
  return ceil_of_quotient(rows, height) * ceil_of_quotient(columns, width);
}

template <class Rule>
StoredBytes bytes_of(const typename Rule::Config& config, const TensorPlan& plan, const TensorInfo& tensor,
                     int number_bytes, int micro_batches) {
  constexpr std::size_t weight_slots = Rule::weight_slots.size();
  const auto bytes = [&](const SlotPlan& slot) { return stored_bytes(slot, tensor.shape, number_bytes); };
  StoredBytes stored;
  stored.weights = weight_slots * bytes(plan.weights);
  for (const StateSlot& slot : Rule::state_slots) stored.states += bytes(plan.state(slot.moment));
  if constexpr (LowRankRule<Rule>) {
    for (const StateSlot& slot : Rule::auxiliary_slots)
      stored.low_rank +=
          stored_bytes(plan.state(slot.moment), Rule::auxiliary_shape(config, tensor), number_bytes);
    stored.low_rank += sizeof(double);
  }
  if (const std::optional<SlotPlan> residual = plan.residual())
    stored.compensation = weight_slots * bytes(*residual);
  if (plan.compensation == Compensation::collage_plus)
    for (const StateSlot& slot : Rule::state_slots)
      if (slot.moment == Moment::second) stored.compensation += bytes(plan.second_moment);
  stored.gradient = weight_slots * bytes(plan.gradient);
  if (micro_batches * std::max(1, Rule::samples(config)) > 1)
    stored.accumulator = weight_slots * bytes(plan.accumulator);
  return stored;
}

}  // namespace

std::size_t stored_bytes(const BlockFormat& format, const std::vector<std::size_t>& shape) {
  std::size_t size = 1;
  for (const std::size_t extent : shape) size *= extent;
  const std::size_t columns = shape.empty() ? 1 : shape.back(), rows = size / columns;
  std::size_t bytes = packed_bytes(format.element, size);
  if (format.has_scale()) bytes += packed_bytes(format.scale, block_count(format.shape, rows, columns));
  if (format.has_tensor_scale())
    bytes += sizeof(float) * (format.tensor_scale == TensorScale::row ? rows : 1);
  return bytes;
}

std::size_t stored_bytes(const SlotPlan& slot, const std::vector<std::size_t>& shape, int number_bytes) {
  if (slot.format) return stored_bytes(*slot.format, shape);
  std::size_t bytes = static_cast<std::size_t>(number_bytes);
  for (const std::size_t extent : shape) bytes *= extent;
  return bytes;
}

StoredBytes& StoredBytes::operator+=(const StoredBytes& other) noexcept {
  weights += other.weights;
  states += other.states;
  low_rank += other.low_rank;
  compensation += other.compensation;
  gradient += other.gradient;
  accumulator += other.accumulator;
  return *this;
}

StoredBytes stored_bytes(const AnyRule& rule, const TensorPlan& plan, const TensorInfo& tensor,
                         int number_bytes, int micro_batches) {
  return std::visit(
      [&]<class Choice>(const Choice& choice) {
        return bytes_of<typename Choice::Rule>(choice.config, plan, tensor, number_bytes, micro_batches);
      },
      rule);
}

}  // namespace halfulp
