#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "emulation/registry.h"
#include "formats/overflow.h"
#include "optimizers/rule.h"
#include "optimizers/scale_policy.h"

namespace halfulp {

/// How one slot is stored. Every rounding of a step is one of these.
struct SlotPlan {
  std::optional<BlockFormat>
      format;  ///< nullopt: the number type of the rule itself, unrounded (the double twin)
  Rounding rounding;
  OverflowPolicy overflow;
  ScalePolicy scale;

  /// Whether an element's scale can depend on new values of the whole tensor.
  bool has_tensor_wide_scale() const noexcept {
    return format && scale.kind != ScalePolicyKind::keep &&
           (format->tensor_scale == TensorScale::tensor || format->shape.axis == BlockAxis::tensor);
  }

  friend bool operator==(const SlotPlan&, const SlotPlan&) = default;
};

/// What becomes of the part of an update that the stored weight cannot hold.
enum class Compensation : std::uint8_t {
  none,           ///< lost (with stochastic rounding: kept on average)
  kahan,          ///< added to the next update, stored beside the weight
  collage_light,  ///< the weight is an unevaluated pair, every operation on it rounds to its format (Grow)
  collage_plus,   ///< and so is each second moment, as a pair of numbers of its format
};
inline constexpr std::array<std::string_view, 4> compensation_names{"none", "kahan", "collage_light",
                                                                    "collage_plus"};

/// Where decoupled weight decay is rounded.
enum class DecayPlacement : std::uint8_t {
  fused,         ///< part of the increment: one rounding for both
  own_rounding,  ///< w = nearest_even of w (1 - rate) first, never compensated, whatever the weights' rounding
};
inline constexpr std::array<std::string_view, 2> decay_placement_names{"fused", "own_rounding"};

/// Which states an increment is computed from.
enum class StatesUsed : std::uint8_t {
  unrounded,  ///< the new ones as the rule computed them
  rounded,    ///< the new ones as they were stored
};
inline constexpr std::array<std::string_view, 2> states_used_names{"unrounded", "rounded"};

/// A slot in the number type of the rule itself.
inline constexpr SlotPlan unrounded_slot{std::nullopt, nearest_even, OverflowPolicy::ieee, recompute_scale};

/// How the slots of one tensor are stored, and where the roundings between them are.
struct TensorPlan {
  SlotPlan weights;
  SlotPlan first_moment, second_moment;
  SlotPlan gradient = unrounded_slot;     ///< of one noise sample or micro-batch
  SlotPlan accumulator = unrounded_slot;  ///< of their sum, stored after each of them
  Compensation compensation = Compensation::none;
  std::optional<SlotPlan>
      compensation_slot{};  ///< nullopt: the weights' format, or bf16 where that has scales
  DecayPlacement decay = DecayPlacement::fused;
  StatesUsed states_used = StatesUsed::unrounded;

  /// Of a state; unrounded for one that is no moment.
  const SlotPlan& state(Moment moment) const {
    return moment == Moment::first ? first_moment : moment == Moment::second ? second_moment : unrounded_slot;
  }
  /// The slot of the compensation, if there is one.
  /// errors: throws Error where the formats cannot serve: a compensation under scales, or rounded other than
  /// nearest_even; Collage with weights (plus: second moments) under scales or rounded other than nearest_even.
  std::optional<SlotPlan> residual() const;

  friend bool operator==(const TensorPlan&, const TensorPlan&) = default;
};

/// Parts of a slot's plan that are said anew; the others stay.
struct SlotChange {
  std::optional<BlockFormat> format;  ///< brings its own default scale policy, unless `scale` is given too
  std::optional<Rounding> rounding;
  std::optional<OverflowPolicy> overflow;
  std::optional<ScalePolicy> scale;

  /// is_weight: whose default scale policy a new format brings
  void apply_to(SlotPlan& slot, bool is_weight) const;
  friend bool operator==(const SlotChange&, const SlotChange&) = default;
};

struct TensorChange {
  SlotChange weights{}, first_moment{}, second_moment{}, gradient{}, accumulator{}, compensation_slot{};
  std::optional<Compensation> compensation{};
  std::optional<DecayPlacement> decay{};
  std::optional<StatesUsed> states_used{};

  void apply_to(TensorPlan& plan) const;
};

/// What the tensors change whose name matches a pattern (* any run, ? any one character).
struct PlanOverride {
  std::string match;
  TensorChange change;
};

/// Which format each slot of each tensor is stored in.
struct Plan {
  std::string scheme;  ///< name of the scheme it started from
  TensorPlan base;
  std::optional<SlotPlan>
      weights_of_vectors;               ///< 1-D tensors, where the scheme stores them differently (NVFP4)
  std::vector<PlanOverride> overrides;  ///< later ones win

  /// The plan of one tensor: base, then vectors, then each override whose pattern matches.
  TensorPlan of(const TensorInfo& tensor) const;
};

/// The default scale policy of stored weights in a format: lazy with one binade of headroom for fp32 tensor
/// scales and for NVFP4's block scales, recomputed for power-of-two scales; nothing to choose without a
/// scale.
ScalePolicy default_weight_scale(const BlockFormat& format);

/// A slot in this format with nearest_even, saturating, default scale policy of weights or (recompute) of
/// states.
SlotPlan weight_slot(const BlockFormat& format);
SlotPlan state_slot(const BlockFormat& format);

/// Plan of a scheme, weights/states: fp64, fp32, bf16/fp32, bf16/bf16, bf16/fp8, fp8/fp8, nvfp4/fp8; any
/// catalog format may stand for the weights. States are fp32, bf16 or fp8 = one fp32 scale per 256 flattened
/// elements with e4m3 first and e5m2 second moments.
/// errors: throws Error naming the schemes.
Plan parse_scheme(const std::string& name);

/// True where `name` matches `pattern` with * and ?.
bool matches_pattern(std::string_view pattern, std::string_view name);

/// A slot in words: "e4m3, one fp32 (amax) scale per tensor, nearest_even, saturate, scale lazy{headroom=1}".
std::string describe(const SlotPlan& slot);

}  // namespace halfulp
