#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "optimizers/norm.h"

namespace halfulp {

enum class NormLimiter : std::uint8_t { on, off };
inline constexpr std::array<std::string_view, 2> norm_limiter_names{"on", "off"};

/// APOLLO's norm-growth limiter (from its official code): from the second step on, an update is divided by
///   q = max(|U| / (previous + 1e-8), 1.01) / 1.01
/// so that its norm grows by at most 1 % a step. previous: the norm after limiting; the first step sets it. q
/// is computed in double and rounded once to R. Derived: after an update of zero norm, k steps can reach a
/// norm of 1.01e-6 (1.01^k - 1): 1,388 steps until it is 1. NaN stays NaN.
template <class R>
void limit_norm_growth(std::vector<R>& update, bool is_first_step, double& previous) noexcept {
  constexpr double growth = 1.01;
  const double length = norm(std::span<const R>(update));
  if (is_first_step) {
    previous = length;
    return;
  }
  const double ratio = length / (previous + 1e-8);
  const double q = (growth > ratio ? growth : ratio) / growth;
  previous = length / q;
  if (q == 1) return;
  for (R& u : update) u /= static_cast<R>(q);
}

}  // namespace halfulp
