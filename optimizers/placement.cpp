#include "optimizers/placement.h"

#include <algorithm>
#include <array>

#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {
namespace {

enum class Stored : std::uint8_t {
  as_the_scheme_says,
  as_numbers,  ///< of the rule, unrounded
  as_the_weights,
  in_fp32,
};

struct Placement {
  std::string_view name;
  Stored gradient, states, weights;
  StatesUsed states_used;
  DecayPlacement decay;
  Compensation compensation;
  bool stochastic_weights;
};

// Sources, in the order of the rows: torchao/optim/adam.py (commit 36027d82d); optimi's Kahan summation, eager path;
// amazon-science/collage, light and plus; TransformerEngine's fused_adam.py (its BF16 weight with a 16-bit remainder is
// an exact FP32 number); QPyTorch's OptimLP; a third-party port of M+Adam's official optimizer; OneTrainer's stochastic
// rounding.
//   What is not reproduced: optimi's eager path and Collage round after every operation on the moments, here they
//   round once when stored; the M+Adam port uses its exponent's second moment before it is rounded, here all states
//   are used rounded.
constexpr std::array<Placement, 8> placements{{
    {"torchao", Stored::as_the_weights, Stored::as_the_scheme_says, Stored::as_the_scheme_says, StatesUsed::unrounded,
     DecayPlacement::fused, Compensation::none, false},
    {"optimi_kahan", Stored::as_the_weights, Stored::as_the_weights, Stored::as_the_scheme_says, StatesUsed::rounded,
     DecayPlacement::own_rounding, Compensation::kahan, false},
    {"collage_light", Stored::as_the_weights, Stored::as_the_weights, Stored::as_the_scheme_says, StatesUsed::rounded,
     DecayPlacement::fused, Compensation::collage_light, false},
    {"collage_plus", Stored::as_the_weights, Stored::as_the_weights, Stored::as_the_scheme_says, StatesUsed::rounded,
     DecayPlacement::fused, Compensation::collage_plus, false},
    {"transformer_engine", Stored::as_numbers, Stored::as_the_scheme_says, Stored::in_fp32, StatesUsed::unrounded,
     DecayPlacement::fused, Compensation::none, false},
    {"qpytorch", Stored::as_the_weights, Stored::as_the_scheme_says, Stored::as_the_scheme_says, StatesUsed::unrounded,
     DecayPlacement::fused, Compensation::none, false},
    {"m_adam_port", Stored::as_the_weights, Stored::as_the_weights, Stored::as_the_scheme_says, StatesUsed::rounded,
     DecayPlacement::fused, Compensation::none, false},
    {"onetrainer_sr", Stored::as_the_weights, Stored::as_the_weights, Stored::as_the_scheme_says, StatesUsed::rounded,
     DecayPlacement::own_rounding, Compensation::none, true},
}};

/// A slot for `stored` where the weights are as given; states and gradients choose their scales anew at each step.
SlotPlan slot_as(Stored stored, const SlotPlan& scheme, const SlotPlan& weights) {
  switch (stored) {
    case Stored::as_the_scheme_says:
      return scheme;
    case Stored::as_numbers:
      return unrounded_slot;
    case Stored::as_the_weights:
      return weights.format ? state_slot(*weights.format) : unrounded_slot;
    case Stored::in_fp32:
      return state_slot(unscaled(fp32));
  }
  return scheme;
}

}  // namespace

std::vector<std::string> placement_names() {
  std::vector<std::string> names;
  for (const Placement& known : placements) names.emplace_back(known.name);
  return names;
}

void apply_placement(const std::string& name, Plan& plan) {
  const auto found = std::find_if(placements.begin(), placements.end(),
                                  [&](const Placement& known) { return known.name == name; });
  if (found == placements.end())
    throw Error("placement", "no such placement", name, name_list(placement_names()));
  TensorPlan& base = plan.base;
  if (found->weights == Stored::in_fp32) plan.weights_of_vectors.reset();
  base.weights = slot_as(found->weights, base.weights, base.weights);
  base.gradient = slot_as(found->gradient, base.gradient, base.weights);
  base.first_moment = slot_as(found->states, base.first_moment, base.weights);
  base.second_moment = slot_as(found->states, base.second_moment, base.weights);
  base.states_used = found->states_used;
  base.decay = found->decay;
  base.compensation = found->compensation;
  if (found->stochastic_weights) {
    base.weights.rounding = stochastic;
    if (plan.weights_of_vectors) plan.weights_of_vectors->rounding = stochastic;
  }
}

}  // namespace halfulp
