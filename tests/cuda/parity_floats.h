#pragma once
#include "emulation/parallel.h"
#include "tests/cuda/parity_kernels.h"

namespace halfulp::cuda {

/// All 2^32 floats in a format, nearest_even and saturating: the kernel on a device against Converter on the host.
inline void compare_all_floats(ParityReport& report, const std::string& name, const ScalarFormat& format) {
  constexpr std::size_t chunk = std::size_t{1} << 24;
  const Converter converter(format, nearest_even, special_values(OverflowPolicy::saturate));
  DeviceMachine device;
  ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()));
  DeviceBuffer numbers(chunk * sizeof(float));
  std::vector<float> x(chunk), out(chunk);
  std::vector<std::uint64_t> wrong(chunk >> 12);
  std::uint64_t differing = 0;
  for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += chunk) {
    for (std::size_t i = 0; i < chunk; ++i) x[i] = real_of(static_cast<std::uint32_t>(first + i));
    device.upload(numbers, x.data(), numbers.bytes());
    device.run(quantize_kernel(format, to_nearest(), numbers.as<float>(), numbers.as<float>(), chunk));
    device.download(out.data(), numbers, numbers.bytes());
    device.wait();
    pool.for_each_index(wrong.size(), [&](std::size_t part) {
      wrong[part] = 0;
      for (std::size_t i = part << 12; i < (part + 1) << 12; ++i)
        wrong[part] +=
            bits_of(out[i]) != bits_of(to_float(converter.value(static_cast<double>(x[i]), 0))) ? 1 : 0;
    });
    for (const std::uint64_t count : wrong) differing += count;
  }
  report.compared("all floats in " + name, std::uint64_t{1} << 32, differing);
}

}  // namespace halfulp::cuda
