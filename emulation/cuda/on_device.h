#pragma once
#include <vector>

#include "emulation/cuda/device.h"
#include "emulation/cuda/kernel_list.h"

// Whole operations on numbers of the host: copy, run, copy back, wait. For numbers that stay on the device, make the
// kernel (kernel_makers.h) with pointers of buffers and launch() it.
// errors: each throws Error without a device, and where its kernel's maker does.
namespace halfulp::cuda {

/// out[i] = the value of the format that x[i] becomes. in: sizes equal.
inline void quantize_on_device(const ScalarFormat& format, const Quantization& how, std::span<const float> x,
                               std::span<float> out) {
  Stream stream;
  DeviceBuffer numbers = on_device(x, stream);
  launch(quantize_kernel(format, how, numbers.as<float>(), numbers.as<float>(), x.size()), stream);
  numbers.download(out.data(), x.size_bytes(), stream);
  stream.wait();
}

/// Packed codes and scale codes, as Tensor holds them.
struct PackedNumbers {
  std::vector<std::uint8_t> codes, scales;
};

/// Quantisation into packed codes and scales. in: x [rows * row_length].
inline PackedNumbers encode_on_device(const BlockFormat& format, std::size_t rows, std::size_t row_length,
                                      TensorMultiplier second, const Quantization& how,
                                      std::span<const float> x) {
  const StoredFormat stored = stored_format(format, row_length, rows, second);
  const std::size_t blocks = format.has_scale() ? blocks_for(x.size(), stored.length) : 0;
  PackedNumbers out{std::vector<std::uint8_t>(packed_bytes(format.element, x.size())),
                    std::vector<std::uint8_t>(packed_bytes(format.scale, blocks))};
  Stream stream;
  const DeviceBuffer numbers = on_device(x, stream), codes(out.codes.size()), scales(out.scales.size());
  launch(encode_kernel(format, rows, row_length, second, how, numbers.as<float>(), codes.as<std::uint8_t>(),
                       scales.as<std::uint8_t>(), nullptr),
         stream);
  codes.download(out.codes.data(), out.codes.size(), stream);
  scales.download(out.scales.data(), out.scales.size(), stream);
  stream.wait();
  return out;
}

/// The numbers that codes and scales store. in: values [rows * row_length].
inline void decode_on_device(const BlockFormat& format, std::size_t rows, std::size_t row_length,
                             TensorMultiplier second, const PackedNumbers& stored, std::span<float> values) {
  Stream stream;
  const DeviceBuffer codes = on_device(std::span<const std::uint8_t>(stored.codes), stream),
                     scales = on_device(std::span<const std::uint8_t>(stored.scales), stream),
                     numbers(values.size_bytes());
  launch(decode_kernel(format, rows, row_length, second, codes.as<std::uint8_t>(), scales.as<std::uint8_t>(),
                       numbers.as<float>()),
         stream);
  numbers.download(values.data(), values.size_bytes(), stream);
  stream.wait();
}

/// c = a b, as matmul.h. in: a [m x k], b [k x n], c [m x n], row-major; Real: float or double.
template <class Real>
void matmul_on_device(const Real* a, const Real* b, Real* c, std::size_t m, std::size_t k, std::size_t n) {
  Stream stream;
  const DeviceBuffer left = on_device(std::span<const Real>(a, m * k), stream),
                     right = on_device(std::span<const Real>(b, k * n), stream),
                     product(m * n * sizeof(Real));
  launch(MatmulKernel<Real>{left.as<Real>(), right.as<Real>(), product.as<Real>(), m, k, n}, stream);
  product.download(c, m * n * sizeof(Real), stream);
  stream.wait();
}

}  // namespace halfulp::cuda
