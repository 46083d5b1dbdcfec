#pragma once
#include "emulation/cuda/kernel_list.h"
#include "emulation/cuda/machine.h"
#include "formats/catalog.h"
#include "tests/cuda/mixed_numbers.h"
#include "tests/cuda/parity_report.h"

// Every kernel of emulation/cuda on the emulator and on a device, from the same bytes: the results have to be the same.
namespace halfulp::cuda {

/// Bytes that differ.
template <class T>
std::uint64_t differing(const std::vector<T>& a, const std::vector<T>& b) {
  std::uint64_t count = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    count += std::memcmp(&a[i], &b[i], sizeof(T)) != 0 ? 1 : 0;
  return count;
}

/// One array of results, from kernel_of(machine, place for it), run on a machine.
template <class Out, class Machine, class Run>
std::vector<Out> result_on(Machine& machine, std::size_t count, Run run) {
  typename Machine::Buffer out(count * sizeof(Out));
  std::vector<Out> result(count);
  machine.upload(out, result.data(), out.bytes());
  run(machine, out.template as<Out>());
  machine.download(result.data(), out, out.bytes());
  machine.wait();
  return result;
}

template <class Out, class Run>
void compare(ParityReport& report, const std::string& name, std::size_t count, Run run) {
  HostMachine host;
  DeviceMachine device;
  report.compared(name, count,
                  differing(result_on<Out>(host, count, run), result_on<Out>(device, count, run)));
}

inline void compare_format_kernels(ParityReport& report, std::size_t size) {
  const std::vector<float> x = mixed_numbers(size, 31);
  const std::string at = " of " + std::to_string(size);
  const auto quantization = [](RoundingMode mode) {
    const int bits = mode == RoundingMode::stochastic_equal ? 1 : is_stochastic(mode) ? 16 : 0;
    return Quantization{{mode, bits},
                        special_values(OverflowPolicy::saturate),
                        draws_of({7, 1, 2, 0, RandomPurpose::rounding, 0}, bits)};
  };
  for (const NamedScalarFormat& named : {NamedScalarFormat{"e4m3", e4m3}, NamedScalarFormat{"e5m2", e5m2},
                                         NamedScalarFormat{"bf16", bf16}, NamedScalarFormat{"e2m1", e2m1}})
    for (const NamedRoundingMode& rounds : all_rounding_modes)
      compare<float>(report, "quantise " + std::string(named.name) + " " + std::string(rounds.name) + at,
                     size, [&](auto& machine, float* out) {
                       const auto numbers = copied_to(machine, std::span<const float>(x));
                       machine.run(quantize_kernel(named.format, quantization(rounds.mode),
                                                   numbers.template as<float>(), out, size));
                       machine.wait();
                     });
  for (const BlockFormat& f : {unscaled(e2m1), unscaled(e3m2), unscaled(bf16), unscaled(tf32),
                               mx(e4m3, ScaleRule::rceil), mx(e2m1, ScaleRule::ocp_floor), nvfp4})
    for (const RoundingMode mode : {RoundingMode::nearest_even, RoundingMode::stochastic_c}) {
      const std::string which = f.has_tensor_scale() ? " nvfp4"
                                                     : (f.has_scale() ? " mx " : " scalar ") +
                                                           std::to_string(f.element.bits()) + " bits";
      const std::size_t code_bytes = packed_bytes(f.element, size),
                        scale_bytes =
                            f.has_scale() ? packed_bytes(f.scale, blocks_for(size, f.shape.columns)) : 0;
      const auto encode_to = [&](auto& machine, std::uint8_t* bytes) {
        const auto numbers = copied_to(machine, std::span<const float>(x));
        machine.run(encode_kernel(f, 1, size, 0x1p-7f, quantization(mode), numbers.template as<float>(),
                                  bytes, bytes + code_bytes, nullptr));
        machine.wait();
      };
      compare<std::uint8_t>(report, "encode" + which + at, code_bytes + scale_bytes, encode_to);
      compare<float>(report, "decode" + which + at, size, [&](auto& machine, float* out) {
        const auto bytes = result_on<std::uint8_t>(machine, code_bytes + scale_bytes, encode_to);
        const auto stored = copied_to(machine, std::span<const std::uint8_t>(bytes));
        const auto* codes = stored.template as<std::uint8_t>();
        machine.run(decode_kernel(f, 1, size, 0x1p-7f, codes, codes + code_bytes, out));
        machine.wait();
      });
    }
}

template <class Real>
void compare_model_kernels(ParityReport& report, const char* number) {
  const std::string in = std::string(" in ") + number;
  const auto numbers = [](std::size_t count, std::uint32_t seed) {
    const std::vector<float> x = mixed_numbers(count, seed, true);
    return std::vector<Real>(x.begin(), x.end());
  };
  constexpr std::size_t m = 200, k = 333, n = 130;
  const std::vector<Real> a = numbers(m * k, 1), b = numbers(k * n, 2);
  compare<Real>(report, "matmul" + in, m * n, [&](auto& machine, Real* out) {
    const auto left = copied_to(machine, std::span<const Real>(a)),
               right = copied_to(machine, std::span<const Real>(b));
    machine.run(MatmulKernel<Real>{left.template as<Real>(), right.template as<Real>(), out, m, k, n});
    machine.wait();
  });
  compare<Real>(report, "row sums" + in, m, [&](auto& machine, Real* out) {
    const auto x = copied_to(machine, std::span<const Real>(a));
    machine.run(RowSumKernel<Real>{{}, x.template as<Real>(), out, m, k, {}});
    machine.wait();
  });
  compare<Real>(report, "row sums of squares" + in, m, [&](auto& machine, Real* out) {
    const auto x = copied_to(machine, std::span<const Real>(a));
    machine.run(RowSumKernel<Real, Square>{{}, x.template as<Real>(), out, m, k, {}});
    machine.wait();
  });
}

inline void compare_float_kernels(ParityReport& report) {
  constexpr std::size_t positions = 500, vocabulary = 40, width = 130;
  const std::vector<float> d = mixed_numbers(positions * width, 3, true);
  std::vector<std::int32_t> tokens(positions);
  for (std::size_t t = 0; t < positions; ++t) tokens[t] = static_cast<std::int32_t>(t * t % 43) - 1;
  compare<float>(report, "gradient of an embedding", vocabulary * width, [&](auto& machine, float* out) {
    const auto text = copied_to(machine, std::span<const std::int32_t>(tokens));
    const auto gradient = copied_to(machine, std::span<const float>(d));
    machine.run(EmbeddingGradientFloat{text.template as<std::int32_t>(), gradient.template as<float>(), out,
                                       positions, vocabulary, width});
    machine.wait();
  });
  compare<float>(report, "elementwise map", d.size(), [&](auto& machine, float* out) {
    const auto x = copied_to(machine, std::span<const float>(d));
    machine.run(ReluGradientFloat{{}, out, d.size(), {x.template as<float>(), x.template as<float>()}});
    machine.wait();
  });
}

}  // namespace halfulp::cuda
