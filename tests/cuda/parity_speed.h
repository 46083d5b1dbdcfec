#pragma once
#include <chrono>

#include "tests/cuda/parity_steps.h"

// Rates of kernels that should be as fast as memory, beside the device's own copy. Bytes read plus bytes written.
namespace halfulp::cuda {

/// Seconds of one run, the best of five times ten.
template <class Run>
double seconds_of(DeviceMachine& device, Run run) {
  double best = 1e9;
  for (int trial = 0; trial < 5; ++trial) {
    run();
    device.wait();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; ++i) run();
    device.wait();
    best =
        std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 10);
  }
  return best;
}

/// Steps without the download of their counts. bytes: of one element, read and written.
inline void measure_step(ParityReport& report, const char* name, const TensorPlan& plan, double bytes,
                         double rate) {
  constexpr std::size_t count = std::size_t{1} << 25;
  DeviceMachine device;
  const std::vector<double> start(count, 0.5);
  SteppedTensor<AdamW, DeviceMachine> tensor(device, {"w", 0, {count}, 0}, plan, start);
  const std::vector<float> gradients = mixed_numbers(count, 2, true);
  const DeviceBuffer given = copied_to(device, std::span<const float>(gradients));
  device.wait();
  std::uint64_t t = 0;
  const double seconds = seconds_of(device, [&] { tensor.step({}, {++t, 1.0, 1}, {given.as<float>()}); });
  const double gigabytes = bytes * count / 1e9;
  report.timed(std::string("step adamw ") + name, gigabytes, seconds, gigabytes / seconds / rate);
}

inline void measure_speed(ParityReport& report) {
  constexpr std::size_t count = std::size_t{1} << 28;
  constexpr double copied = 2.0 * count * sizeof(float) / 1e9;
  DeviceMachine device;
  Stream stream;
  DeviceBuffer x(count * sizeof(float)), y(count * sizeof(float));
  std::vector<float> start = mixed_numbers(std::size_t{1} << 20, 1, true);
  for (std::size_t i = 0; i < count; i += start.size()) {
    DeviceBuffer part(start.size() * sizeof(float));
    part.upload(start.data(), part.bytes(), stream);
    launch(SumOfTwoFloat{{}, x.as<float>() + i, start.size(), {part.as<float>(), part.as<float>()}}, stream);
    stream.wait();
  }
  const double copy = seconds_of(device, [&] {
    y.copy(x, y.bytes(), stream);
    stream.wait();
  });
  const double rate = copied / copy;
  report.timed("copy", copied, copy, 1.0);
  const auto time = [&](const std::string& name, double gigabytes, const auto& kernel) {
    const double seconds = seconds_of(device, [&] { device.run(kernel); });
    report.timed(name, gigabytes, seconds, gigabytes / seconds / rate);
  };
  const Quantization stochastically{stochastic, special_values(OverflowPolicy::saturate),
                                    draws_of({1, 1, 1, 0, RandomPurpose::rounding, 0}, 16)};
  for (const auto& [name, format] : {NamedScalarFormat{"e4m3", e4m3}, NamedScalarFormat{"bf16", bf16}}) {
    time("quantise " + std::string(name), copied,
         quantize_kernel(format, to_nearest(), x.as<float>(), y.as<float>(), count));
    time("quantise stochastic " + std::string(name), copied,
         quantize_kernel(format, stochastically, x.as<float>(), y.as<float>(), count));
  }
  auto* const codes = y.as<std::uint8_t>();
  time("encode mxfp8", 4.0 * count / 1e9 + count * (1 + 1 / 32.0) / 1e9,
       encode_kernel(mx(e4m3, ScaleRule::rceil), 1, count, 1.0f, to_nearest(), x.as<float>(), codes,
                     codes + count, nullptr));
  time("encode nvfp4", 4.0 * count / 1e9 + count * (0.5 + 1 / 16.0) / 1e9,
       encode_kernel(nvfp4, 1, count, 0x1p-4f, to_nearest(), x.as<float>(), codes, codes + count, nullptr));
  time("decode nvfp4", 4.0 * count / 1e9 + count * (0.5 + 1 / 16.0) / 1e9,
       decode_kernel(nvfp4, 1, count, 0x1p-4f, codes, codes + count, x.as<float>()));

  const BlockFormat first = scaled_by_fp32(e4m3, {BlockAxis::flattened, 256}),
                    second = scaled_by_fp32(e5m2, {BlockAxis::flattened, 256});
  // Gradient 4 bytes; what is stored is read and written.
  measure_step(report, "bf16/fp32", parity_plan(unscaled(bf16), unscaled(fp32), unscaled(fp32), nearest_even),
               4 + 2 * (2 + 4 + 4), rate);
  measure_step(report, "bf16/bf16 stochastic",
               parity_plan(unscaled(bf16), unscaled(bf16), unscaled(bf16), stochastic), 4 + 2 * (2 + 2 + 2),
               rate);
  measure_step(report, "mxfp8/fp8", parity_plan(mx(e4m3, ScaleRule::rceil), first, second, nearest_even),
               4 + 2 * (1 + 1 / 32.0 + 2 + 2 / 64.0), rate);
}

}  // namespace halfulp::cuda
