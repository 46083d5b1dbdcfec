#include "optimizers/adamw.h"
#include "optimizers/cuda/stepped_tensor.h"
#include "optimizers/lmd.h"
#include "optimizers/m_adam.h"
#include "optimizers/madam.h"
#include "optimizers/step.h"
#include "tests/cuda/kernel_orders.h"

namespace halfulp::cuda {
namespace {

/// The counts of a step again, from what probes see.
template <std::size_t weights>
struct Recount {
  std::array<StepCounts, weights> counts{};

  struct Tile {
    std::array<StepCounts, weights> counts{};
    void see(const TileRecord<float>& record) {
      if (record.weight_slot >= weights) return;
      StepCounts& c = counts[record.weight_slot];
      for (std::size_t i = 0; i < record.before.size(); ++i) {
        const float after = record.after[i], wanted = record.wanted[i];
        ++c.elements;
        c.moving += record.update[i] != 0;
        c.unchanged += record.update[i] != 0 && after == record.unmoved[i];
        c.zeros += after == 0;
        if (!record.plan.format || *record.plan.format == unscaled(fp32)) continue;
        const float top = to_float(record.plan.format->element.max_finite() * record.multiplier[i]);
        c.saturated += std::fabs(after) == top && std::fabs(wanted) > top && (wanted > 0) == (after > 0);
      }
    }
  };
  void join(const Tile& tile) {
    for (std::size_t slot = 0; slot < weights; ++slot) {
      counts[slot].elements += tile.counts[slot].elements;
      counts[slot].moving += tile.counts[slot].moving;
      counts[slot].unchanged += tile.counts[slot].unchanged;
      counts[slot].zeros += tile.counts[slot].zeros;
      counts[slot].saturated += tile.counts[slot].saturated;
    }
  }
};

SlotPlan slot_in(const BlockFormat& f, Rounding rounding,
                 ScalePolicyKind policy = ScalePolicyKind::recompute) {
  return {f, rounding, OverflowPolicy::saturate, {policy, policy == ScalePolicyKind::lazy ? 1 : 0}};
}

/// 20 steps on the host and in kernels: the same bytes of every slot and the same counts after every step.
/// returns: the counts of all slots and steps together
template <class Rule>
StepCounts check(const TensorPlan& plan, std::vector<std::size_t> shape, RunOrder order,
                 const typename Rule::Config& config = {}) {
  constexpr std::size_t weights = Rule::weight_slots.size(), states = Rule::state_slots.size();
  const TensorInfo info{"w", 3, std::move(shape), 0};
  CAPTURE(info.size());
  std::vector<double> start(info.size());
  for (std::size_t i = 0; i < start.size(); ++i)
    start[i] =
        i % 13 == 0 ? 0.0 : std::ldexp(static_cast<double>(i * 37 % 101) - 50, static_cast<int>(i % 7) - 9);
  OptimizedTensor<Rule, float> expected(info, plan, start, config, 42);
  StepCounts seen{};
  HostMachine machine(order);
  SteppedTensor<Rule, HostMachine> tensor(machine, info, plan, start, config, 42);
  for (std::uint64_t t = 1; t <= 20; ++t) {
    CAPTURE(t);
    typename OptimizedTensor<Rule, float>::Gradients gradients;
    std::array<const float*, weights> given;
    for (std::size_t slot = 0; slot < weights; ++slot) {
      gradients[slot] = mixed_numbers(info.size(), static_cast<std::uint32_t>(100 * t + slot), true);
      for (float& g : gradients[slot]) g = std::fabs(g) > 64 ? 0.0f : std::ldexp(g, -6);
      given[slot] = gradients[slot].data();
    }
    Recount<weights> probe{};
    const StepInfo now{t, 1.0, 42};
    expected.step(config, now, gradients, nullptr, probe);
    tensor.step(config, now, given);
    const auto counts = tensor.counts();
    for (std::size_t slot = 0; slot < weights; ++slot) {
      CHECK(counts[slot] == probe.counts[slot]);
      seen = {seen.elements, seen.moving + counts[slot].moving, seen.unchanged + counts[slot].unchanged,
              seen.zeros + counts[slot].zeros, seen.saturated + counts[slot].saturated};
    }
    for (std::size_t slot = 0; slot < weights + states; ++slot) {
      CAPTURE(slot);
      std::vector<std::uint8_t> bytes;
      (slot < weights ? expected.weight(slot) : expected.state(slot - weights))
          .visit_bytes([&](const std::uint8_t* data, std::size_t size) {
            bytes.insert(bytes.end(), data, data + size);
          });
      REQUIRE(tensor.bytes(slot) == bytes);
    }
  }
  return seen;
}

const BlockFormat fp8_block256 = scaled_by_fp32(e4m3, {BlockAxis::flattened, 256}),
                  fp8_block256_e5m2 = scaled_by_fp32(e5m2, {BlockAxis::flattened, 256}),
                  fp8_tensor = scaled_by_fp32(e4m3, {BlockAxis::tensor, 0});

/// Weights in a format beside states in fp32, bf16 and fp8, under one rounding.
std::vector<TensorPlan> plans_of(const BlockFormat& weights, Rounding rounding, ScalePolicyKind policy) {
  const SlotPlan w = slot_in(weights, rounding, policy);
  return {{w, slot_in(unscaled(fp32), nearest_even), slot_in(unscaled(fp32), nearest_even)},
          {w, slot_in(unscaled(bf16), rounding), slot_in(unscaled(bf16), rounding)},
          {w, slot_in(fp8_block256, nearest_even), slot_in(fp8_block256_e5m2, nearest_even)}};
}

TEST_SUITE("unit") {
  TEST_CASE_TEMPLATE("a step stores and counts what OptimizedTensor does", Rule, AdamW, Madam, MAdam, Lmd) {
    typename Rule::Config config;
    if constexpr (requires { config.weight_decay; }) config.weight_decay = 0.1;
    StepCounts all{};
    const auto add = [&](const StepCounts& c) {
      all = {0, all.moving + c.moving, all.unchanged + c.unchanged, all.zeros + c.zeros,
             all.saturated + c.saturated};
    };
    for (const Rounding rounding : {nearest_even, stochastic, Rounding{RoundingMode::stochastic_c, 20}})
      for (const BlockFormat& weights : {unscaled(bf16), unscaled(fp32), fp8_tensor,
                                         mx(e4m3, ScaleRule::rceil), mx(e2m1, ScaleRule::ocp_floor), nvfp4})
        for (const TensorPlan& plan : plans_of(weights, rounding, ScalePolicyKind::recompute))
          add(check<Rule>(plan, {9, 96}, RunOrder::ascending, config));
    CHECK(all.moving > 0);
    CHECK(all.unchanged > 0);
    CHECK(all.zeros > 0);
    CHECK(all.saturated > 0);
  }

  TEST_CASE("threads in every order, sizes around every edge") {
    for (const RunOrder order : all_orders)
      for (const std::size_t size : {1, 31, 33, 255, 257, 1000, 1025, 2500})
        for (const BlockFormat& weights : {unscaled(bf16), mx(e2m1, ScaleRule::rceil), nvfp4, fp8_tensor})
          check<AdamW>(plans_of(weights, stochastic, ScalePolicyKind::recompute)[2], {size}, order);
  }

  TEST_CASE("kept scales, among them a given one of the whole tensor, and scales with random bits") {
    for (const BlockFormat& weights : {fp8_tensor, nvfp4, mx(e4m3, ScaleRule::rceil)})
      check<MAdam>(plans_of(weights, stochastic, ScalePolicyKind::keep)[1], {7, 64}, RunOrder::shuffled);
    check<AdamW>(
        plans_of(mx(e2m1, ScaleRule::stochastic_exponent), nearest_even, ScalePolicyKind::recompute)[0],
        {1200}, RunOrder::descending);
  }

  TEST_CASE_TEMPLATE("lazy scales of blocks and tensors", Rule, AdamW, Lmd) {
    for (const BlockFormat& weights : {fp8_tensor, nvfp4, mx(e4m3, ScaleRule::rceil),
                                       with_tensor_scale(mx(e2m1, ScaleRule::rceil), TensorScale::tensor)})
      for (const Rounding rounding : {nearest_even, stochastic})
        check<Rule>(plans_of(weights, rounding, ScalePolicyKind::lazy)[2], {10, 160}, RunOrder::ascending);
  }

  TEST_CASE("a number without an update keeps its code, also where a directed mode would step on") {
    for (const BlockFormat& weights : {fp8_tensor, nvfp4})
      for (const Rounding rounding :
           {Rounding{RoundingMode::down, 0}, Rounding{RoundingMode::toward_zero, 0}})
        check<AdamW>(plans_of(weights, rounding, ScalePolicyKind::keep)[0], {700}, RunOrder::ascending,
                     {.eta = 0});
  }

  TEST_CASE("every rule mode of M+Adam and LMD") {
    const TensorPlan plan = plans_of(unscaled(bf16), stochastic, ScalePolicyKind::recompute)[1];
    for (const auto mode :
         {MAdam::MultMode::exp2, MAdam::MultMode::rho_unsigned, MAdam::MultMode::log1p_capped})
      check<MAdam>(plan, {300}, RunOrder::ascending,
                   {.mult_mode = mode, .exponent_decay = 0.1, .p_scale = 3});
    for (const auto regulariser : {Lmd::Regulariser::kl, Lmd::Regulariser::lie_group})
      check<Lmd>(plan, {300}, RunOrder::ascending, {.regulariser = regulariser});
  }

  TEST_CASE("plans that are not served are refused by name") {
    HostMachine machine;
    const TensorInfo info{"w", 0, {64}, 0};
    const std::vector<double> start(64, 1.0);
    const auto make = [&](const TensorPlan& plan) {
      SteppedTensor<AdamW, HostMachine> tensor(machine, info, plan, start);
    };
    TensorPlan plan = plans_of(nvfp4, nearest_even, ScalePolicyKind::delayed)[0];
    CHECK_THROWS_WITH(make(plan), doctest::Contains("delayed"));
    plan = plans_of(unscaled(bf16), nearest_even, ScalePolicyKind::recompute)[0];
    plan.states_used = StatesUsed::rounded;
    CHECK_THROWS_WITH(make(plan), doctest::Contains("states used"));
    plan.states_used = StatesUsed::unrounded;
    plan.decay = DecayPlacement::own_rounding;
    CHECK_THROWS_WITH(make(plan), doctest::Contains("own_rounding"));
    plan.decay = DecayPlacement::fused;
    plan.compensation = Compensation::kahan;
    CHECK_THROWS_WITH(make(plan), doctest::Contains("kahan"));
  }
}

}  // namespace
}  // namespace halfulp::cuda
