#pragma once
#include "emulation/elementary.h"
#include "emulation/lanes/kernels.h"
#include "emulation/lanes/vector.h"
#include "emulation/normal.h"

namespace halfulp::HWY_NAMESPACE {

/// out[i] = f of the vector at i; the rest through a padded copy. in and out may be one array.
template <class From, class F>
HWY_INLINE void map_lanes(const From* in, float* out, std::size_t n, F f) noexcept {
  std::size_t i = 0;
  for (; i + lane_count <= n; i += lane_count) store(f(load(in + i)), out + i);
  if (i == n) return;
  From rest[lane_count] = {};
  float results[lane_count];
  for (std::size_t k = 0; i + k < n; ++k) rest[k] = in[i + k];
  store(f(load(rest)), results);
  for (std::size_t k = 0; i + k < n; ++k) out[i + k] = results[k];
}

inline void apply(ElementaryFunction function, const float* x, float* out, std::size_t n) noexcept {
  switch (function) {
    case ElementaryFunction::exp2:
      return map_lanes(x, out, n, [](Floats v) { return elementary::exp2(v); });
    case ElementaryFunction::exp2m1:
      return map_lanes(x, out, n, [](Floats v) { return elementary::exp2m1(v); });
    case ElementaryFunction::exp:
      return map_lanes(x, out, n, [](Floats v) { return elementary::exp(v); });
    case ElementaryFunction::expm1:
      return map_lanes(x, out, n, [](Floats v) { return elementary::expm1(v); });
    case ElementaryFunction::log:
      return map_lanes(x, out, n, [](Floats v) { return elementary::log(v); });
    case ElementaryFunction::log2:
      return map_lanes(x, out, n, [](Floats v) { return elementary::log2(v); });
    case ElementaryFunction::log1p:
      return map_lanes(x, out, n, [](Floats v) { return elementary::log1p(v); });
  }
}

inline void normals(const std::uint32_t* bits, float* out, std::size_t n) noexcept {
  map_lanes(bits, out, n, [](Words v) { return normal_deviate<Floats>(v); });
}

/// In the order of reduce.h: 32 partial sums stand in 32 / lane_count vectors, then halves are added to halves.
inline float sum(const float* x, std::size_t n) noexcept {
  constexpr std::size_t partials = 32, vectors = partials / lane_count;
  Floats lanes[vectors];
  std::size_t i = 0;
  for (; i + partials <= n; i += partials)
    for (std::size_t v = 0; v < vectors; ++v) lanes[v] = lanes[v] + load(x + i + v * lane_count);
  float partial[partials];
  for (std::size_t v = 0; v < vectors; ++v) store(lanes[v], partial + v * lane_count);
  for (std::size_t j = 0; i + j < n; ++j) partial[j] += x[i + j];
  for (std::size_t half = partials / 2; half > 0; half /= 2)
    for (std::size_t j = 0; j < half; ++j) partial[j] += partial[j + half];
  return partial[0];
}

}  // namespace halfulp::HWY_NAMESPACE
