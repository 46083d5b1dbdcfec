#pragma once
#include "formats/lane.h"
#include "formats/rounding.h"
#include "formats/scalar_format.h"

namespace halfulp {

/// Guard bits that a mode decides with: bits kept below the last place of the format.
HALFULP_HD constexpr int guard_bits(RoundingMode mode, int random_bits) noexcept {
  switch (mode) {
    case RoundingMode::nearest_even:
    case RoundingMode::toward_zero:
    case RoundingMode::away_from_zero:
    case RoundingMode::up:
    case RoundingMode::down:
    case RoundingMode::odd:
    case RoundingMode::stochastic_equal:
      return 0;
    case RoundingMode::nearest_away:
    case RoundingMode::nearest_to_zero:
      return 1;
    case RoundingMode::stochastic_a:
    case RoundingMode::stochastic_c:
      return random_bits;
    case RoundingMode::stochastic_b:
    case RoundingMode::stochastic_odd:
      return random_bits + 1;
  }
  return 0;
}

/// The numbers of a format that rounding needs, as lane values; a block scale would move the binades only.
template <class Real>
struct Grid {
  using Bits = typename Lane<Real>::Bits;
  Bits smallest_binade;     ///< bits of 2^min_exponent: below it the step no longer shrinks
  Bits largest_binade;      ///< bits of 2^max_exponent
  Bits step_to_anchor;      ///< added to the bits of a binade: bits of 2^F steps, F the lane's fraction bits
  Bits flush_to_anchor;     ///< the same below the smallest binade (differs only without subnormals)
  Real beyond;              ///< 2^(max_exponent + 1): every larger magnitude overflows as this one does
  Bits even_binade;         ///< exponent parity of the binades whose lower end has an even code, if M = 0
  bool flushes;             ///< no subnormals: flush_to_anchor differs from step_to_anchor
  bool parity_in_exponent;  ///< no fraction bits: ties look at the exponent
};

template <class Real>
HALFULP_HD constexpr Grid<Real> make_grid(const ScalarFormat& f) noexcept {
  using Bits = typename Lane<Real>::Bits;
  constexpr int F = Lane<Real>::fraction_bits, bias = Lane<Real>::exponent_bias;
  const auto power = [](int n) { return static_cast<Bits>(static_cast<Bits>(n + bias) << F); };
  const auto exponent = [](int n) { return static_cast<Bits>(static_cast<Bits>(n) << F); };
  const Bits to_anchor = exponent(F - f.fraction_bits);
  return {.smallest_binade = power(f.min_exponent()),
          .largest_binade = power(f.max_exponent()),
          .step_to_anchor = to_anchor,
          .flush_to_anchor = f.has_subnormals || !f.has_zero ? to_anchor : exponent(F),
          .beyond = real_of(power(f.max_exponent() + 1)),
          .even_binade = static_cast<Bits>((bias + f.bias) & 1),
          .flushes = !f.has_subnormals && f.has_zero,
          .parity_in_exponent = f.fraction_bits == 0};
}

/// Whether Real lanes can round to f with so many guard bits: |x| + anchor must stay below 2 anchor even at
/// |x| = 2^(M+1) steps, hence M + g + 1 < F; and the anchor of each binade must be a normal number whose last
/// place, a step over 2^g, exists. A format of subnormals alone has no binade of its own and is left to integers.
template <class Real>
HALFULP_HD constexpr bool lanes_fit(const ScalarFormat& f, int guard) noexcept {
  constexpr int F = Lane<Real>::fraction_bits, bias = Lane<Real>::exponent_bias;
  return f.fraction_bits + guard + 1 < F && f.max_exponent() + F - f.fraction_bits - guard <= bias &&
         f.min_exponent() - f.fraction_bits - guard >= 1 - bias - F && f.max_exponent() < bias &&
         f.min_exponent() > -bias && f.max_exponent() >= f.min_exponent();
}

/// Whether a mode decides from the guarded integer to nearest, ties to even, instead of from its floor.
HALFULP_HD constexpr bool decides_from_nearest(RoundingMode mode) noexcept {
  return mode == RoundingMode::nearest_even || mode == RoundingMode::stochastic_c;
}

/// The decision of every mode, in one place: from |x| 2^g / q as an integer (its floor, or nearest where
/// decides_from_nearest) to a multiple of 2^g, the guard bits cleared. Integer parity is code parity.
/// in: inexact 0 or 1: whether the integer is not |x| 2^g / q itself; sign nonzero for negative x; random in
/// [0, 2^random_bits).
template <RoundingMode mode, class Bits>
HALFULP_LANES constexpr Bits decide(Bits integer, Bits inexact, Bits sign, Bits guard, Bits random) noexcept {
  if constexpr (mode == RoundingMode::nearest_away) integer = integer + Bits{1};
  if constexpr (mode == RoundingMode::nearest_to_zero || mode == RoundingMode::away_from_zero)
    integer = integer + inexact;  // ceiling: a tie, exact in the guarded integer, is left below
  if constexpr (mode == RoundingMode::up) integer = integer + select(sign == Bits{0}, inexact, Bits{0});
  if constexpr (mode == RoundingMode::down) integer = integer + select(sign == Bits{0}, Bits{0}, inexact);
  if constexpr (mode == RoundingMode::odd) integer = integer | inexact;
  if constexpr (mode == RoundingMode::stochastic_a || mode == RoundingMode::stochastic_c)
    integer = integer + random;
  if constexpr (mode == RoundingMode::stochastic_b) integer = integer + (random + random + Bits{1});
  if constexpr (mode == RoundingMode::stochastic_odd) {
    // The last guard bit is a half of the random integer's unit: up if more is left, or to make it odd.
    const Bits even = ((integer >> 1) & Bits{1}) ^ Bits { 1 };
    integer = integer + (integer & Bits{1} & (inexact | even)) + random + random;
  }
  if constexpr (mode == RoundingMode::stochastic_equal) integer = integer + (random & inexact);
  return integer & static_cast<Bits>(~((Bits{1} << guard) - 1));
}

/// The same from an integer with one bit more than the guard bits, and whether anything is left below it: what
/// lanes get from their own rounding, integers and tables work out.
/// in: finer = floor(|x| 2^(g+1) / q), rest: that is not exact
template <RoundingMode mode>
HALFULP_HD constexpr std::uint64_t decide_in_integers(std::uint64_t finer, bool rest, bool negative,
                                                      std::uint64_t guard, std::uint64_t random) noexcept {
  const std::uint64_t floor = finer >> 1;
  const bool half = (finer & 1) != 0, inexact = half || rest;
  const bool up = decides_from_nearest(mode) && half && (rest || (floor & 1) != 0);
  return decide<mode>(floor + (up ? 1u : 0u), std::uint64_t{inexact}, std::uint64_t{negative}, guard, random);
}

/// x rounded to the precision of the grid, with unbounded exponent above; the sign is kept, NaN becomes a magnitude
/// beyond the largest, as infinities do.
///
/// Let q be the step at x. anchor = 2^(F-g) q has the last place q 2^-g, so |x| + anchor is |x| rounded to a
/// multiple of q 2^-g, ties to even, and that multiple stands as an integer in the low bits of the sum. With
/// g = 0 this is nearest_even. Comparing sum - anchor (exact) with |x| turns nearest into floor or ceiling of
/// the guarded integer, and every other mode is integer arithmetic on it followed by clearing the g guard
/// bits.
///
/// Without fraction bits the integers are 1 and 2 in every binade while the codes alternate in parity; one
/// step added to the anchor wherever the lower code is even makes integer parity equal code parity. Below the smallest
/// number the lower neighbour is zero, which is even (P3109 v4.0: floor(S) = 0).
///
/// in: lanes_fit<Real>(f, guard_bits(mode, random_bits)); random in [0, 2^random_bits).
template <RoundingMode mode, class Real>
HALFULP_LANES constexpr Real round_number_to_grid(Real x, const Grid<Real>& grid, int random_bits,
                                                  typename Lane<Real>::Bits random) noexcept {
  using Bits = typename Lane<Real>::Bits;
  constexpr int F = Lane<Real>::fraction_bits;
  const Bits guard = static_cast<Bits>(guard_bits(mode, random_bits));

  const Bits sign = sign_bit_of(x);
  const Real magnitude = lane_min(real_of(static_cast<Bits>(bits_of(x) ^ sign)), grid.beyond);
  const Bits exponent = bits_of(magnitude) & static_cast<Bits>(~((Bits{1} << F) - 1));
  const Bits binade = lane_min(lane_max(exponent, grid.smallest_binade), grid.largest_binade);
  Bits to_anchor = grid.step_to_anchor;
  if (grid.flushes) to_anchor = select(exponent < grid.smallest_binade, grid.flush_to_anchor, to_anchor);
  Real anchor = real_of(static_cast<Bits>(binade + to_anchor - (guard << F)));
  if (grid.parity_in_exponent)
    anchor = anchor + select(exponent < grid.smallest_binade, Real{0},
                             select(((binade >> F) & Bits{1}) == grid.even_binade, real_of(binade), Real{0}));

  const Real sum = magnitude + anchor;
  const Real back = sum - anchor;
  Bits integer = bits_of(sum);
  if constexpr (!decides_from_nearest(mode)) integer = integer - select(back > magnitude, Bits{1}, Bits{0});
  const Bits inexact = select(back != magnitude, Bits{1}, Bits{0});

  const Bits kept = decide<mode>(integer, inexact, sign, guard, random);
  const Real rounded = real_of(kept) - anchor;
  return real_of(static_cast<Bits>(bits_of(rounded) | sign));
}

/// The same where NaN stays NaN.
template <RoundingMode mode, class Real>
HALFULP_HD constexpr Real round_to_grid(Real x, const Grid<Real>& grid, int random_bits,
                                        typename Lane<Real>::Bits random) noexcept {
  return select(x != x, x, round_number_to_grid<mode>(x, grid, random_bits, random));
}

/// Whether Real lanes can round to f in the bits of x: where f has the lane's own smallest binade (bf16 and tf32 in
/// float), its numbers are those whose last bits are zero, subnormals included, and an anchor would leave the range.
template <class Real>
HALFULP_HD constexpr bool bits_fit(const ScalarFormat& f, int guard) noexcept {
  return !f.is_table() && f.has_zero && f.has_subnormals && !f.is_fixed_point &&
         f.min_exponent() == 1 - Lane<Real>::exponent_bias && f.max_exponent() <= Lane<Real>::exponent_bias &&
         f.fraction_bits > 0 && f.fraction_bits + guard <= Lane<Real>::fraction_bits;
}

/// x rounded to fraction_bits, in its bits: as an integer they count steps of 2^-(F - M) q from zero, in every binade, and
/// run on from one binade into the next, up to the infinity. What is below the guard bits decides as in
/// round_number_to_grid, and a NaN becomes an infinity.
/// in: bits_fit<Real>(f, guard_bits(mode, random_bits)); random in [0, 2^random_bits).
template <RoundingMode mode, class Real>
HALFULP_LANES constexpr Real round_in_bits(Real x, int fraction_bits, int random_bits,
                                           typename Lane<Real>::Bits random) noexcept {
  using Bits = typename Lane<Real>::Bits;
  constexpr int F = Lane<Real>::fraction_bits;
  constexpr auto infinity = static_cast<std::uint64_t>(2 * Lane<Real>::exponent_bias + 1) << F;
  const int guard = guard_bits(mode, random_bits), below = F - fraction_bits - guard;
  const Bits sign = sign_bit_of(x);
  const Bits magnitude = lane_min(static_cast<Bits>(bits_of(x) ^ sign), static_cast<Bits>(infinity));
  Bits integer = magnitude >> below;
  const Bits inexact = select((integer << below) == magnitude, Bits{0}, Bits{1});
  if constexpr (decides_from_nearest(mode)) {
    // To nearest even by one addition: half a unit less one, and the unit's parity.
    if (below > 0)
      integer = static_cast<Bits>(magnitude + static_cast<Bits>((std::uint64_t{1} << (below - 1)) - 1) +
                                  (integer & Bits{1})) >>
                below;
  }
  const Bits kept = decide<mode>(integer, inexact, sign, static_cast<Bits>(guard), random);
  return real_of(static_cast<Bits>((kept << below) | sign));
}

/// Calls f.template operator()<mode>() for a mode known at run time only.
template <class F>
HALFULP_HD constexpr auto with_mode(RoundingMode mode, F&& f) noexcept {
  switch (mode) {
    case RoundingMode::nearest_even:
      return f.template operator()<RoundingMode::nearest_even>();
    case RoundingMode::nearest_away:
      return f.template operator()<RoundingMode::nearest_away>();
    case RoundingMode::nearest_to_zero:
      return f.template operator()<RoundingMode::nearest_to_zero>();
    case RoundingMode::toward_zero:
      return f.template operator()<RoundingMode::toward_zero>();
    case RoundingMode::away_from_zero:
      return f.template operator()<RoundingMode::away_from_zero>();
    case RoundingMode::up:
      return f.template operator()<RoundingMode::up>();
    case RoundingMode::down:
      return f.template operator()<RoundingMode::down>();
    case RoundingMode::odd:
      return f.template operator()<RoundingMode::odd>();
    case RoundingMode::stochastic_a:
      return f.template operator()<RoundingMode::stochastic_a>();
    case RoundingMode::stochastic_b:
      return f.template operator()<RoundingMode::stochastic_b>();
    case RoundingMode::stochastic_c:
      return f.template operator()<RoundingMode::stochastic_c>();
    case RoundingMode::stochastic_odd:
      return f.template operator()<RoundingMode::stochastic_odd>();
    case RoundingMode::stochastic_equal:
      return f.template operator()<RoundingMode::stochastic_equal>();
  }
  return f.template operator()<RoundingMode::nearest_even>();
}

/// round_to_grid with the mode as a run-time value.
template <class Real>
HALFULP_HD constexpr Real round_to_grid(Real x, const Grid<Real>& grid, Rounding rounding,
                                        typename Lane<Real>::Bits random) noexcept {
  return with_mode(rounding.mode, [&]<RoundingMode mode>() {
    return round_to_grid<mode>(x, grid, rounding.random_bits, random);
  });
}

}  // namespace halfulp
