#pragma once
#include "optimizers/cuda/step_list.h"
#include "optimizers/cuda/stepped_tensor.h"
#include "tests/cuda/parity_kernels.h"

// Twenty steps of every rule on the emulator and on a device: the bytes of every slot have to be the same.
namespace halfulp::cuda {

inline TensorPlan parity_plan(const BlockFormat& weights, const BlockFormat& first, const BlockFormat& second,
                              Rounding rounding, ScalePolicy scale = recompute_scale) {
  const auto state = [](const BlockFormat& f) {
    return SlotPlan{f, nearest_even, OverflowPolicy::saturate, recompute_scale};
  };
  return {SlotPlan{weights, rounding, OverflowPolicy::saturate, scale}, state(first), state(second)};
}

template <class Rule, class Machine>
std::vector<std::uint8_t> bytes_after_steps(Machine& machine, const TensorPlan& plan, std::size_t size) {
  constexpr std::size_t weights = Rule::weight_slots.size();
  const TensorInfo info{"w", 3, {size}, 0};
  std::vector<double> start(size);
  for (std::size_t i = 0; i < size; ++i) start[i] = std::ldexp(static_cast<double>(i * 37 % 101) - 50, -6);
  SteppedTensor<Rule, Machine> tensor(machine, info, plan, start, {}, 42);
  std::vector<std::uint8_t> bytes;
  for (std::uint64_t t = 1; t <= 20; ++t) {
    std::vector<typename Machine::Buffer> gradients;
    std::array<const float*, weights> given;
    for (std::size_t slot = 0; slot < weights; ++slot) {
      std::vector<float> g = mixed_numbers(size, static_cast<std::uint32_t>(10 * t + slot), true);
      for (float& number : g) number = std::fabs(number) > 64 ? 0.0f : number / 64;
      gradients.push_back(copied_to(machine, std::span<const float>(g)));
      machine.wait();
      given[slot] = gradients.back().template as<float>();
    }
    tensor.step({}, {t, 1.0, 42}, given);
    for (const StepCounts& counts : tensor.counts()) {
      const auto* words = reinterpret_cast<const std::uint8_t*>(&counts);
      bytes.insert(bytes.end(), words, words + sizeof counts);
    }
  }
  for (std::size_t slot = 0; slot < tensor.slot_count; ++slot) {
    const std::vector<std::uint8_t> stored = tensor.bytes(slot);
    bytes.insert(bytes.end(), stored.begin(), stored.end());
  }
  return bytes;
}

template <class Rule>
void compare_steps(ParityReport& report, std::size_t size) {
  const BlockFormat fp8 = scaled_by_fp32(e4m3, {BlockAxis::flattened, 256}),
                    fp8_second = scaled_by_fp32(e5m2, {BlockAxis::flattened, 256}),
                    fp8_tensor = scaled_by_fp32(e4m3, {BlockAxis::tensor, 0});
  const std::pair<const char*, TensorPlan> plans[] = {
      {"bf16/fp32", parity_plan(unscaled(bf16), unscaled(fp32), unscaled(fp32), nearest_even)},
      {"bf16/bf16 stochastic", parity_plan(unscaled(bf16), unscaled(bf16), unscaled(bf16), stochastic)},
      {"fp8/fp8", parity_plan(fp8_tensor, fp8, fp8_second, nearest_even)},
      {"mxfp8/fp8 stochastic", parity_plan(mx(e4m3, ScaleRule::rceil), fp8, fp8_second, stochastic)},
      {"mxfp4/bf16", parity_plan(mx(e2m1, ScaleRule::rceil), unscaled(bf16), unscaled(bf16), nearest_even)},
      {"nvfp4/fp8 stochastic", parity_plan(nvfp4, fp8, fp8_second, stochastic)},
      {"nvfp4/fp8 lazy", parity_plan(nvfp4, fp8, fp8_second, nearest_even, lazy_scale_default)}};
  for (const auto& [name, plan] : plans) {
    HostMachine host;
    DeviceMachine device;
    const auto expected = bytes_after_steps<Rule>(host, plan, size),
               made = bytes_after_steps<Rule>(device, plan, size);
    report.compared("step " + std::string(Rule::name) + " " + name + " of " + std::to_string(size),
                    made.size(), differing(expected, made));
  }
}

}  // namespace halfulp::cuda
