#include "optimizers/plan.h"

#include <charconv>

#include "emulation/tensor.h"
#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

constexpr std::string_view allowed_policies =
    "recompute, delayed, keep, lazy, lazy{headroom=N} with N in 0..8";
constexpr std::string_view allowed_schemes =
    "fp64, fp32, or WEIGHTS/STATES with WEIGHTS a format (bf16, fp8, nvfp4, mxfp4_rceil, ...) and STATES one "
    "of "
    "fp32, bf16, fp8";

/// The weights' own format; bf16 where that has scales.
BlockFormat default_residual_format(const SlotPlan& weights) {
  return weights.format && !weights.format->has_scale() ? *weights.format : unscaled(bf16);
}

}  // namespace

ScalePolicy parse_scale_policy(std::string_view text) {
  if (text == "recompute") return recompute_scale;
  if (text == "delayed") return {ScalePolicyKind::delayed, 0};
  if (text == "keep") return {ScalePolicyKind::keep, 0};
  if (text == "lazy") return lazy_scale_default;
  constexpr std::string_view prefix = "lazy{headroom=";
  if (text.starts_with(prefix) && text.ends_with("}")) {
    const std::string_view digits = text.substr(prefix.size(), text.size() - prefix.size() - 1);
    int headroom = -1;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), headroom);
    if (status == std::errc{} && end == digits.data() + digits.size() && headroom >= 0 && headroom <= 8)
      return {ScalePolicyKind::lazy, headroom};
  }
  throw Error("scale policy", "no such policy", std::string(text), std::string(allowed_policies));
}

std::string to_string(const ScalePolicy& policy) {
  switch (policy.kind) {
    case ScalePolicyKind::recompute:
      return "recompute";
    case ScalePolicyKind::lazy:
      return "lazy{headroom=" + std::to_string(policy.headroom) + "}";
    case ScalePolicyKind::delayed:
      return "delayed";
    case ScalePolicyKind::keep:
      return "keep";
  }
  return "";
}

bool matches_pattern(std::string_view pattern, std::string_view name) {
  // Greedy: only the last star seen ever needs to give back, so one point to return to is enough.
  std::size_t p = 0, n = 0, star = std::string_view::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

void SlotChange::apply_to(SlotPlan& slot, bool is_weight) const {
  if (format) {
    if (!slot.format) slot.overflow = OverflowPolicy::saturate;  // an unrounded slot has no policy to keep
    slot.format = format;
    slot.scale = is_weight ? default_weight_scale(*format) : recompute_scale;
  }
  if (rounding) slot.rounding = *rounding;
  if (overflow) slot.overflow = *overflow;
  if (scale) slot.scale = *scale;
}

void TensorChange::apply_to(TensorPlan& plan) const {
  weights.apply_to(plan.weights, true);
  first_moment.apply_to(plan.first_moment, false);
  second_moment.apply_to(plan.second_moment, false);
  gradient.apply_to(plan.gradient, false);
  accumulator.apply_to(plan.accumulator, false);
  if (compensation) plan.compensation = *compensation;
  if (decay) plan.decay = *decay;
  if (states_used) plan.states_used = *states_used;
  if (!(compensation_slot == SlotChange{})) {
    SlotPlan slot = plan.compensation_slot.value_or(state_slot(default_residual_format(plan.weights)));
    compensation_slot.apply_to(slot, false);
    plan.compensation_slot = slot;
  }
}

std::optional<SlotPlan> TensorPlan::residual() const {
  const auto is_plain = [](const SlotPlan& slot) {
    return !slot.format || (!slot.format->has_scale() && slot.rounding == nearest_even);
  };
  const auto require_plain = [&](const SlotPlan& slot, const char* what) {
    if (!is_plain(slot))
      throw Error(what, "its format has scales, or does not round to nearest", describe(slot),
                  "a scalar format with nearest_even");
  };
  if (compensation == Compensation::none) return std::nullopt;
  const SlotPlan slot = compensation_slot.value_or(
      weights.format ? state_slot(default_residual_format(weights)) : unrounded_slot);
  require_plain(slot, "compensation");
  if (compensation == Compensation::collage_light || compensation == Compensation::collage_plus)
    require_plain(weights, "weights of a Collage pair");
  if (compensation == Compensation::collage_plus)
    require_plain(second_moment, "second moment of a Collage pair");
  return slot;
}

TensorPlan Plan::of(const TensorInfo& tensor) const {
  TensorPlan plan = base;
  if (weights_of_vectors && tensor.shape.size() == 1) plan.weights = *weights_of_vectors;
  for (const PlanOverride& override_ : overrides)
    if (matches_pattern(override_.match, tensor.name)) override_.change.apply_to(plan);
  return plan;
}

ScalePolicy default_weight_scale(const BlockFormat& format) {
  return format.rule == ScaleRule::amax ? lazy_scale_default : recompute_scale;
}

SlotPlan weight_slot(const BlockFormat& format) {
  require_double_view(format, "plan");
  return {format, nearest_even, OverflowPolicy::saturate, default_weight_scale(format)};
}

SlotPlan state_slot(const BlockFormat& format) {
  require_double_view(format, "plan");
  return {format, nearest_even, OverflowPolicy::saturate, recompute_scale};
}

Plan parse_scheme(const std::string& name) {
  if (name == "fp64") return {name, {unrounded_slot, unrounded_slot, unrounded_slot}, {}, {}};
  const SlotPlan fp32_state = state_slot(unscaled(fp32));
  if (name == "fp32") return {name, {weight_slot(unscaled(fp32)), fp32_state, fp32_state}, {}, {}};

  const std::size_t slash = name.rfind('/');  // a table's spec may hold a path
  if (slash == std::string::npos) throw Error("scheme", "no such scheme", name, std::string(allowed_schemes));
  const std::string weights = name.substr(0, slash), states = name.substr(slash + 1);
  Plan plan{name, {}, {}, {}};
  // fp8 weights mean e4m3 under one fp32 scale per tensor.
  plan.base.weights = weight_slot(weights == "fp8" ? parse_format("fp8_tensor") : parse_format(weights));
  // Vectors (biases, norms) have no axis worth blocking; NVFP4 recipes keep them in bf16.
  if (plan.base.weights.format->has_tensor_scale()) plan.weights_of_vectors = weight_slot(unscaled(bf16));
  if (states == "fp8") {
    plan.base.first_moment = state_slot(parse_format("fp8_block256"));
    plan.base.second_moment = state_slot(parse_format("fp8_block256_e5m2"));
  } else if (states == "fp32" || states == "bf16") {
    plan.base.first_moment = plan.base.second_moment = state_slot(parse_format(states));
  } else {
    throw Error("scheme", "no such format for states", name, std::string(allowed_schemes));
  }
  return plan;
}

std::string describe(const SlotPlan& slot) {
  if (!slot.format) return "the number type of the rule, unrounded";
  const BlockFormat& f = *slot.format;
  std::string text = to_spec(unscaled(f.element));
  const std::string scale =
      f.has_scale() ? to_spec(unscaled(f.scale)) + " (" + std::string(name_of(f.rule)) + ")" : "";
  switch (f.shape.axis) {
    case BlockAxis::element:
      break;
    case BlockAxis::tile: {
      const auto extent = [](std::size_t n, const char* all) { return n == 0 ? all : std::to_string(n); };
      text += ", one " + scale + " scale per ";
      if (f.shape.rows == 1)
        text += extent(f.shape.columns, "row") + (f.shape.columns == 0 ? "" : " along the last axis");
      else
        text += extent(f.shape.rows, "all") + " x " + extent(f.shape.columns, "all") + " tile";
      break;
    }
    case BlockAxis::flattened:
      text += ", one " + scale + " scale per " + std::to_string(f.shape.columns) + " flattened elements";
      break;
    case BlockAxis::tensor:
      text += ", one " + scale + " scale per tensor";
      break;
  }
  if (f.tensor_scale == TensorScale::tensor) text += ", one fp32 scale per tensor";
  if (f.tensor_scale == TensorScale::row) text += ", one fp32 scale per row";
  const bool plain =
      f.conventions == ScaleConventions{} || f.conventions == ScaleConventions{.zero_block = ZeroBlock::one};
  if (!plain) text += " (" + to_spec(f) + ")";
  text += ", " + to_string(slot.rounding) + ", " + std::string(to_string(slot.overflow));
  return f.has_scale() ? text + ", scale " + to_string(slot.scale) : text;
}

}  // namespace halfulp
