#pragma once
#include "emulation/cuda/kernel.h"

namespace halfulp::cuda {

/// out[i] = f(i): every elementwise operation of a model. f holds what it reads.
template <class Real, class F>
struct MapKernel : PlainKernel {
  static constexpr unsigned threads = 256;
  static constexpr int phases = 1;

  Real* out;  ///< [count]
  std::size_t count;
  F f;

  std::size_t blocks() const noexcept { return blocks_for(count, threads); }

  template <int phase>
  HALFULP_HD void run(Block block, Thread thread, std::size_t, Shared&, Registers&) const noexcept {
    const std::size_t i = block.index * threads + thread.index;
    if (i < count) out[i] = f(i);
  }
};

/// x[i] + y[i].
template <class Real>
struct SumOfTwo {
  const Real *x, *y;
  HALFULP_HD Real operator()(std::size_t i) const noexcept { return x[i] + y[i]; }
};
/// max(x[i], 0); NaN becomes 0.
template <class Real>
struct Relu {
  const Real* x;
  HALFULP_HD Real operator()(std::size_t i) const noexcept { return x[i] > Real(0) ? x[i] : Real(0); }
};
/// d[i] where x[i] > 0, else 0: the gradient of Relu.
template <class Real>
struct ReluGradient {
  const Real *x, *d;
  HALFULP_HD Real operator()(std::size_t i) const noexcept { return x[i] > Real(0) ? d[i] : Real(0); }
};

}  // namespace halfulp::cuda
