#pragma once
#include <array>
#include <string>
#include <string_view>

#include "formats/block.h"

namespace halfulp {

/// When a stored slot chooses its scales anew.
enum class ScalePolicyKind : std::uint8_t {
  recompute,  ///< every step, from the new values, by the format's scale rule
  lazy,       ///< a power of two with hysteresis and `headroom` binades: see lazy_scale
  delayed,    ///< every step, by the format's scale rule, from the amax of the values stored before
  keep,       ///< never again after initialisation
};

struct ScalePolicy {
  ScalePolicyKind kind;
  int headroom;  ///< of lazy, in binades; 0 for the others

  friend constexpr bool operator==(const ScalePolicy&, const ScalePolicy&) = default;
};

inline constexpr ScalePolicy recompute_scale{ScalePolicyKind::recompute, 0};
inline constexpr ScalePolicy lazy_scale_default{ScalePolicyKind::lazy, 1};

/// recompute, delayed, keep, lazy (headroom 1), lazy{headroom=N} with N in 0..8.
/// errors: throws Error naming the policies.
ScalePolicy parse_scale_policy(std::string_view text);
std::string to_string(const ScalePolicy& policy);

/// The multiplier of a lazy scale: a power of two S, kept while 0.45 * 2^-h * S max <= amax <= S max, else
/// S = 2^(ceil(log2(amax / max)) + h). 0.45 rather than 0.5 is the hysteresis: after a change amax lies in
/// (2^-h-1, 2^-h] of S max, and has to fall a further tenth before the scale follows.
/// Comparisons are exact: 0.45 = 9/20, 9 S max 2^-h has at most 33 bits, and the sign of a fused 20 amax - that
/// is the sign of the exact difference.
/// in: current > 0 and amax > 0, both finite; largest: the largest element
HALFULP_HD inline double lazy_multiplier(double current, double amax, double largest, int headroom) noexcept {
  const double ceiling = current * largest;
  if (amax <= ceiling && std::fma(20.0, amax, -9 * std::ldexp(ceiling, -headroom)) >= 0) return current;
  return std::ldexp(1.0, ceil_log2_ratio(amax, largest) + headroom);
}

}  // namespace halfulp
