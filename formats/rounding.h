#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/platform.h"

namespace halfulp {

/// What becomes of a number between two neighbours of a format. Every name says what happens to ties.
/// The stochastic modes take a random integer r in [0, 2^N) and, with nu the fraction of the gap, go away
/// from zero exactly if (P3109 v4.0):
///   a: floor(nu 2^N) + r >= 2^N            probability floor(nu 2^N) / 2^N, biased toward zero
///   b: floor(nu 2^(N+1)) + 2r + 1 >= 2^(N+1)
///   c: nearest_even(nu 2^N) + r >= 2^N
///   odd:   nearest integer to nu 2^N, ties to the odd one, + r >= 2^N (gfloat's StochasticOdd)
///   equal: r = 1 of N = 1 bit, wherever the number is not exact (chop's mode 6): each neighbour with 1/2
enum class RoundingMode : std::uint8_t {
  nearest_even,
  nearest_away,
  nearest_to_zero,
  toward_zero,
  away_from_zero,
  up,
  down,
  odd,
  stochastic_a,
  stochastic_b,
  stochastic_c,
  stochastic_odd,
  stochastic_equal,
};

/// A mode with its number of random bits (0 where the mode needs none).
struct Rounding {
  RoundingMode mode;
  int random_bits;

  friend constexpr bool operator==(const Rounding&, const Rounding&) = default;
};

struct NamedRoundingMode {
  std::string_view name;
  RoundingMode mode;
};

inline constexpr std::array all_rounding_modes{
    NamedRoundingMode{"nearest_even", RoundingMode::nearest_even},
    NamedRoundingMode{"nearest_away", RoundingMode::nearest_away},
    NamedRoundingMode{"nearest_to_zero", RoundingMode::nearest_to_zero},
    NamedRoundingMode{"toward_zero", RoundingMode::toward_zero},
    NamedRoundingMode{"away_from_zero", RoundingMode::away_from_zero},
    NamedRoundingMode{"up", RoundingMode::up},
    NamedRoundingMode{"down", RoundingMode::down},
    NamedRoundingMode{"odd", RoundingMode::odd},
    NamedRoundingMode{"stochastic_a", RoundingMode::stochastic_a},
    NamedRoundingMode{"stochastic_b", RoundingMode::stochastic_b},
    NamedRoundingMode{"stochastic_c", RoundingMode::stochastic_c},
    NamedRoundingMode{"stochastic_odd", RoundingMode::stochastic_odd},
    NamedRoundingMode{"stochastic_equal", RoundingMode::stochastic_equal},
};

HALFULP_HD constexpr bool is_stochastic(RoundingMode mode) noexcept {
  switch (mode) {
    case RoundingMode::stochastic_a:
    case RoundingMode::stochastic_b:
    case RoundingMode::stochastic_c:
    case RoundingMode::stochastic_odd:
    case RoundingMode::stochastic_equal:
      return true;
    case RoundingMode::nearest_even:
    case RoundingMode::nearest_away:
    case RoundingMode::nearest_to_zero:
    case RoundingMode::toward_zero:
    case RoundingMode::away_from_zero:
    case RoundingMode::up:
    case RoundingMode::down:
    case RoundingMode::odd:
      return false;
  }
  return false;
}

inline constexpr Rounding nearest_even{RoundingMode::nearest_even, 0};
inline constexpr Rounding stochastic{RoundingMode::stochastic_c, 16};

/// Rounding of a text: a mode's name, `stochastic_a|b|c|odd[:N]` with N in 1..32 (16 if left out),
/// `stochastic_equal`, or `stochastic` (c with N = 16).
/// errors: throws Error naming the modes.
Rounding parse_rounding(std::string_view text);

/// Text that parse_rounding reads back.
std::string to_string(const Rounding& rounding);

}  // namespace halfulp
