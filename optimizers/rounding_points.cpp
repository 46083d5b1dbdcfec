#include "optimizers/rounding_points.h"

namespace halfulp {
namespace {

bool spans_tensor(const SlotPlan& slot) {
  return slot.format && slot.scale.kind != ScalePolicyKind::keep &&
         (slot.format->tensor_scale == TensorScale::tensor || slot.format->shape.axis == BlockAxis::tensor);
}

template <class Rule>
std::vector<std::string> points_of(const typename Rule::Config& config, const TensorPlan& plan,
                                   const std::string& number) {
  std::vector<std::string> points;
  points.push_back(
      "betas, epsilon, learning rates, bias corrections: computed in double once a step, used in " + number +
      ", never rounded to a storage format");
  points.push_back("weights and states read: exact in " + number);
  const int samples = Rule::samples(config);
  points.push_back(samples == 0 ? "forward and backward at the stored weight, in " + number
                                : "forward and backward at " + std::to_string(samples) +
                                      " noisy sample(s) of the weight, in " + number);
  points.push_back("gradient: " + number + ", not stored");
  points.push_back("new states and the increment u from the states just read, in " + number +
                   "; the states used are those before they are stored");
  points.push_back("wanted = before + u, in " + number);
  const auto wide_scale = [&](std::string_view slot, const SlotPlan& slot_plan) {
    if (!spans_tensor(slot_plan)) return;
    const bool delayed = slot_plan.scale.kind == ScalePolicyKind::delayed;
    points.push_back("scale of all of " + std::string(slot) + ": " + to_string(slot_plan.scale) +
                     ", from the amax of what " + (delayed ? "was stored" : "is to be stored"));
  };
  for (const std::string_view slot : Rule::weight_slots) wide_scale(slot, plan.weights);
  for (const StateSlot& slot : Rule::state_slots) wide_scale(slot.name, plan.state(slot.moment));
  for (const std::string_view slot : Rule::weight_slots)
    points.push_back("store " + std::string(slot) + ", one rounding: " + describe(plan.weights));
  for (const StateSlot& slot : Rule::state_slots)
    points.push_back("store " + std::string(slot.name) +
                     ", one rounding: " + describe(plan.state(slot.moment)));
  return points;
}

}  // namespace

std::vector<std::string> rounding_points(const AnyRule& rule, const TensorPlan& plan,
                                         const std::string& number_type) {
  return std::visit(
      [&]<class Choice>(const Choice& choice) {
        return points_of<typename Choice::Rule>(choice.config, plan, number_type);
      },
      rule);
}

StoredBytes bytes_per_parameter(const AnyRule& any, const TensorPlan& plan, const TensorInfo& tensor,
                                int number_bytes) {
  return std::visit(
      [&]<class Choice>(const Choice&) {
        using Rule = typename Choice::Rule;
        const auto bytes = [&](const SlotPlan& slot) {
          return bits_per_parameter(slot, tensor.shape, 8 * number_bytes) / 8;
        };
        StoredBytes stored;
        stored.weights = static_cast<double>(Rule::weight_slots.size()) * bytes(plan.weights);
        for (const StateSlot& slot : Rule::state_slots) stored.states += bytes(plan.state(slot.moment));
        return stored;
      },
      any);
}

}  // namespace halfulp
