#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "optimizers/norm.h"
#include "optimizers/projection.h"

namespace halfulp {

/// Of what APOLLO takes one scaling factor.
enum class ScaleType : std::uint8_t { channel, tensor };
inline constexpr std::array<std::string_view, 2> scale_type_names{"channel", "tensor"};

namespace detail {

/// |adapted| / (|plain| + guard), computed in double, rounded once; 0 where that is 0 / 0 by zeros.
template <class R>
R norm_ratio(std::span<const R> adapted, std::span<const R> plain, double guard) noexcept {
  const double divisor = norm(plain) + guard;
  return divisor == 0 ? R(0) : static_cast<R>(norm(adapted) / divisor);
}

}  // namespace detail

/// One factor for each channel, or a single one for the tensor: how much longer the adapted projected
/// gradient is than the plain one, |adapted| / (|plain| + guard), along the rank axis or over everything. A
/// NaN stays in its channel.
/// in: adapted, plain: as shape.projected() says; the shape is no vector
template <class R>
std::vector<R> scaling_factors(const ProjectedShape& shape, ScaleType type, const std::vector<R>& adapted,
                               const std::vector<R>& plain, double guard) {
  if (type == ScaleType::tensor) return {detail::norm_ratio<R>(adapted, plain, guard)};
  std::vector<R> factors(shape.channels()), adapted_channel(shape.rank), plain_channel(shape.rank);
  for (std::size_t channel = 0; channel < factors.size(); ++channel) {
    for (std::size_t k = 0; k < shape.rank; ++k) {
      const std::size_t at = shape.is_wide() ? k * shape.columns + channel : channel * shape.rank + k;
      adapted_channel[k] = adapted[at], plain_channel[k] = plain[at];
    }
    factors[channel] = detail::norm_ratio<R>(adapted_channel, plain_channel, guard);
  }
  return factors;
}

/// Each element times the factor of its channel, or the one of the tensor.
template <class R>
std::vector<R> scaled_by_channel(const ProjectedShape& shape, const std::vector<R>& factors,
                                 std::vector<R> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] *= factors[factors.size() == 1 ? 0 : shape.channel_of(i)];
  return numbers;
}

}  // namespace halfulp
