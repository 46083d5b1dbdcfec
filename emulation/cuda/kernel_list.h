#pragma once
#include "emulation/cuda/embedding_gradient_kernel.h"
#include "emulation/cuda/kernel_makers.h"
#include "emulation/cuda/map_kernel.h"
#include "emulation/cuda/matmul_kernel.h"
#include "emulation/cuda/row_sum_kernel.h"

namespace halfulp::cuda {

using MatmulFloat = MatmulKernel<float>;
using MatmulDouble = MatmulKernel<double>;
using RowSumFloat = RowSumKernel<float>;
using RowSumDouble = RowSumKernel<double>;
using RowSumOfSquaresFloat = RowSumKernel<float, Square>;
using RowSumOfSquaresDouble = RowSumKernel<double, Square>;
using SumOfTwoFloat = MapKernel<float, SumOfTwo<float>>;
using ReluFloat = MapKernel<float, Relu<float>>;
using ReluGradientFloat = MapKernel<float, ReluGradient<float>>;
using EmbeddingGradientFloat = EmbeddingGradientKernel<float>;

}  // namespace halfulp::cuda

/// Every kernel that the library compiles for devices: DO(kernel) for each.
#define HALFULP_CUDA_KERNELS(DO) \
  DO(QuantizeKernel)             \
  DO(EncodeKernel)               \
  DO(DecodeKernel)               \
  DO(MatmulFloat)                \
  DO(MatmulDouble)               \
  DO(RowSumFloat)                \
  DO(RowSumDouble)               \
  DO(RowSumOfSquaresFloat)       \
  DO(RowSumOfSquaresDouble)      \
  DO(SumOfTwoFloat)              \
  DO(ReluFloat)                  \
  DO(ReluGradientFloat)          \
  DO(EmbeddingGradientFloat)
