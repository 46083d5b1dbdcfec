#include "optimizers/rounding_points.h"

#include "optimizers/step.h"

namespace halfulp {
namespace {

std::string rounding_of(const SlotPlan& slot) {
  return slot.format ? "one rounding: " + describe(slot) : "no rounding: the number type of the rule";
}

/// The points of one rule on one tensor; each function adds those of one phase of the step.
template <class Rule>
class Points {
 public:
  Points(const typename Rule::Config& config, const TensorPlan& plan, const TensorInfo& tensor,
         const std::string& number)
      : config_(config),
        plan_(plan),
        tensor_(tensor),
        number_(number),
        residual_(plan.residual()),
        decays_(Rule::decay(config, StepInfo{1, 1.0, 0}) != 0),
        decay_apart_(decays_ && plan.decay == DecayPlacement::own_rounding),
        base_(decay_apart_ ? "decayed" : "before") {}

  std::vector<std::string> all() {
    read();
    pull_back();
    if constexpr (LowRankRule<Rule>) advance_low_rank();
    const bool from_stored = plan_.states_used == StatesUsed::rounded;
    add("new states from the states just read, in " + number_);
    scales_of_states();
    if (from_stored) store_states();
    increment(from_stored);
    if (residual_) compensate();
    for (const std::string_view slot : Rule::weight_slots) wide_scale(slot, plan_.weights);
    if (!from_stored) store_states();
    store_weights();
    return points_;
  }

 private:
  void add(std::string point) { points_.push_back(std::move(point)); }
  void store(std::string_view slot, const SlotPlan& plan) {
    add("store " + std::string(slot) + ", " + rounding_of(plan));
  }
  void wide_scale(std::string_view slot, const SlotPlan& plan) {
    if (!plan.has_tensor_wide_scale()) return;
    const bool delayed = plan.scale.kind == ScalePolicyKind::delayed;
    add("scale of all of " + std::string(slot) + ": " + to_string(plan.scale) + ", from the amax of what " +
        (delayed ? "was stored" : "is to be stored"));
  }
  bool is_pair(const StateSlot& slot) const {
    return plan_.compensation == Compensation::collage_plus && slot.moment == Moment::second;
  }

  void read() {
    add("betas, epsilon, learning rates, bias corrections: computed in double once a step, used in " +
        number_ + ", never rounded to a storage format");
    std::string text = "weights and states read: exact in " + number_;
    for (const StateSlot& slot : Rule::state_slots)
      if (is_pair(slot)) text += "; " + std::string(slot.name) + " as the sum of its pair, in " + number_;
    add(text);
    const int samples = Rule::samples(config_);
    add(samples == 0 ? "forward and backward at the stored weight, in " + number_
                     : "forward and backward at " + std::to_string(samples) +
                           " noisy sample(s) of the weight, in " + number_);
  }

  void pull_back() {
    add("gradient of each sample and micro-batch: " +
        (plan_.gradient.format ? rounding_of(plan_.gradient) : number_ + ", not rounded"));
    add("accumulated gradient, sum of share times gradient: " +
        (plan_.accumulator.format ? "after each of them " + rounding_of(plan_.accumulator)
                                  : number_ + ", not rounded"));
  }

  void advance_low_rank() {
    if constexpr (LowRankRule<Rule>) {
      std::string shape;
      for (const std::size_t extent : Rule::auxiliary_shape(config_, tensor_))
        shape += (shape.empty() ? "" : " x ") + std::to_string(extent);
      add((tensor_.shape.size() < 2
               ? std::string("nothing to project in a vector")
               : "projection or factors of the whole tensor, in " + number_ + "; norms in double") +
          "; new low-rank states [" + shape + "], used before they are rounded");
      for (const StateSlot& slot : Rule::auxiliary_slots) {
        wide_scale(slot.name, plan_.state(slot.moment));
        store(slot.name, plan_.state(slot.moment));
      }
    }
  }

  void scales_of_states() {
    for (const StateSlot& slot : Rule::state_slots) wide_scale(slot.name, plan_.state(slot.moment));
  }
  void store_states() {
    for (const StateSlot& slot : Rule::state_slots) {
      store(slot.name, plan_.state(slot.moment));
      if (is_pair(slot)) store("what " + std::string(slot.name) + " lost", plan_.second_moment);
    }
  }

  void increment(bool from_stored) {
    std::string text = "increment u from the new states as they were ";
    text += from_stored ? "stored" : "before they are stored";
    if (decays_ && !decay_apart_) text += ", weight decay included";
    add(text + ", in " + number_);
    if (decay_apart_)
      for (const std::string_view slot : Rule::weight_slots)
        add("weight decay, " + std::string(slot) + " (1 - rate): " +
            (plan_.weights.format
                 ? "a rounding of its own to the format of the weight, nearest_even under the scale "
                   "it has, never compensated"
                 : "no rounding"));
    add("wanted = " + base_ + " + u, in " + number_);
  }

  void compensate() {
    const std::string own = rounding_of(*residual_), weight = rounding_of(plan_.weights);
    if (plan_.compensation == Compensation::kahan) {
      add("k = compensation + u, " + own);
      add("to be stored: " + base_ + " + k instead of wanted, in " + number_);
      return;
    }
    add("step = u, " + weight);
    add("a = " + base_ + " + step, " + weight);
    add("a - " + base_ + ", " + weight);
    add("missed = step - (a - " + base_ + "), " + weight);
    add("r = compensation + missed, " + weight);
    add("to be stored: a + r instead of wanted, in " + number_);
  }

  void store_weights() {
    const bool kahan = plan_.compensation == Compensation::kahan;
    for (const std::string_view slot : Rule::weight_slots) {
      store(slot, plan_.weights);
      if (!residual_) continue;
      if (!kahan) add("stored weight - a, " + rounding_of(plan_.weights));
      store("compensation of " + std::string(slot) +
                (kahan ? " = k - (stored - " + base_ + ")" : " = r - (stored - a)"),
            *residual_);
    }
  }

  const typename Rule::Config& config_;
  const TensorPlan& plan_;
  const TensorInfo& tensor_;
  const std::string& number_;
  std::optional<SlotPlan> residual_;
  bool decays_, decay_apart_;
  std::string base_;  // what an increment is added to
  std::vector<std::string> points_;
};

}  // namespace

std::vector<std::string> rounding_points(const AnyRule& rule, const TensorPlan& plan,
                                         const TensorInfo& tensor, const std::string& number_type) {
  return std::visit(
      [&]<class Choice>(const Choice& choice) {
        return Points<typename Choice::Rule>(choice.config, plan, tensor, number_type).all();
      },
      rule);
}

}  // namespace halfulp
