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
      return 0;
    case RoundingMode::nearest_away:
    case RoundingMode::nearest_to_zero:
      return 1;
    case RoundingMode::stochastic_a:
    case RoundingMode::stochastic_c:
      return random_bits;
    case RoundingMode::stochastic_b:
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
          .parity_in_exponent = f.fraction_bits == 0};
}

/// Whether Real lanes can round to f with so many guard bits: |x| + anchor must stay below 2 anchor even at
/// |x| = 2^(M+1) steps, hence M + g + 1 < F; and the anchor of each binade must be a normal number whose last
/// place, a step over 2^g, exists.
template <class Real>
HALFULP_HD constexpr bool lanes_fit(const ScalarFormat& f, int guard) noexcept {
  constexpr int F = Lane<Real>::fraction_bits, bias = Lane<Real>::exponent_bias;
  return f.fraction_bits + guard + 1 < F && f.max_exponent() + F - f.fraction_bits - guard <= bias &&
         f.min_exponent() - f.fraction_bits - guard >= 1 - bias - F && f.max_exponent() < bias &&
         f.min_exponent() > -bias;
}

/// x rounded to the precision of the grid, with unbounded exponent above; the sign is kept, NaN stays NaN.
///
/// Let q be the step at x. anchor = 2^(F-g) q has the last place q 2^-g, so |x| + anchor is |x| rounded to a
/// multiple of q 2^-g, ties to even, and that multiple stands as an integer in the low bits of the sum. With
/// g = 0 this is nearest_even. Comparing sum - anchor (exact) with |x| turns nearest into floor or ceiling of
/// the guarded integer, and every other mode is integer arithmetic on it followed by clearing the g guard
/// bits.
///
/// Without fraction bits the integers are 1 and 2 in every binade while the codes alternate in parity; one
/// step added to the anchor wherever the lower code is even makes integer parity equal code parity.
///
/// in: lanes_fit<Real>(f, guard_bits(mode, random_bits)); random in [0, 2^random_bits).
template <RoundingMode mode, class Real>
HALFULP_HD constexpr Real round_to_grid(Real x, const Grid<Real>& grid, int random_bits,
                                        typename Lane<Real>::Bits random) noexcept {
  using Bits = typename Lane<Real>::Bits;
  constexpr int F = Lane<Real>::fraction_bits;
  constexpr bool needs_floor = mode != RoundingMode::nearest_even && mode != RoundingMode::stochastic_c;
  const Bits guard = static_cast<Bits>(guard_bits(mode, random_bits));

  const Bits sign = sign_bit_of(x);
  const Real magnitude = lane_min(real_of(static_cast<Bits>(bits_of(x) ^ sign)), grid.beyond);
  const Bits exponent = bits_of(magnitude) & static_cast<Bits>(~((Bits{1} << F) - 1));
  const Bits binade = lane_min(lane_max(exponent, grid.smallest_binade), grid.largest_binade);
  const Bits to_anchor = select(exponent < grid.smallest_binade, grid.flush_to_anchor, grid.step_to_anchor);
  Real anchor = real_of(static_cast<Bits>(binade + to_anchor - (guard << F)));
  if (grid.parity_in_exponent)
    anchor = anchor + select(((binade >> F) & Bits{1}) == grid.even_binade, real_of(binade), Real{0});

  const Real sum = magnitude + anchor;
  const Real back = sum - anchor;
  Bits integer = bits_of(sum);
  if constexpr (needs_floor) integer = integer - select(back > magnitude, Bits{1}, Bits{0});
  const Bits inexact = select(back != magnitude, Bits{1}, Bits{0});

  // From here on `integer` is floor(|x| 2^g / q) plus the anchor's bits, except where the mode wants nearest.
  if constexpr (mode == RoundingMode::nearest_away) integer = integer + Bits{1};
  if constexpr (mode == RoundingMode::nearest_to_zero || mode == RoundingMode::away_from_zero)
    integer = integer + inexact;  // ceiling: a tie, exact in the guarded integer, is left below
  if constexpr (mode == RoundingMode::up) integer = integer + select(sign == Bits{0}, inexact, Bits{0});
  if constexpr (mode == RoundingMode::down) integer = integer + select(sign == Bits{0}, Bits{0}, inexact);
  if constexpr (mode == RoundingMode::odd) integer = integer | inexact;
  if constexpr (mode == RoundingMode::stochastic_a || mode == RoundingMode::stochastic_c)
    integer = integer + random;
  if constexpr (mode == RoundingMode::stochastic_b) integer = integer + (random + random + Bits{1});

  const Bits kept = integer & static_cast<Bits>(~((Bits{1} << guard) - 1));
  const Real rounded = real_of(kept) - anchor;
  return select(x != x, x, real_of(static_cast<Bits>(bits_of(rounded) | sign)));
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

/// Stochastic rounding where fraction and random bits together exceed the lanes (fp32 with N > 26 or 27): the
/// part below the step is split off exactly, and rounded on its own to 0 or one step, which needs the random
/// bits alone.
HALFULP_HD constexpr double round_in_two_parts(double x, const ScalarFormat& f, Rounding rounding,
                                               std::uint64_t random) noexcept {
  const Grid<double> grid = make_grid<double>(f);
  const double whole = round_to_grid<RoundingMode::toward_zero>(x, grid, 0, std::uint64_t{0});
  const std::uint64_t exponent = bits_of(x) & 0x7ff0'0000'0000'0000u;
  const std::uint64_t binade = lane_min(lane_max(exponent, grid.smallest_binade), grid.largest_binade);
  const std::uint64_t step = binade - (static_cast<std::uint64_t>(f.fraction_bits) << 52);
  const std::uint64_t to_anchor = std::uint64_t{52} << 52;
  const Grid<double> one_step{.smallest_binade = step,
                              .largest_binade = step,
                              .step_to_anchor = to_anchor,
                              .flush_to_anchor = to_anchor,
                              .beyond = 2 * real_of(step),
                              .even_binade = 0,
                              .parity_in_exponent = false};
  // -0 - -0 is +0, so the sign is put back at the end.
  return real_of(bits_of(whole + round_to_grid(x - whole, one_step, rounding, random)) | sign_bit_of(x));
}

/// x rounded to the precision of f, in one rounding, with unbounded exponent above; a float argument is
/// exact. in: random in [0, 2^random_bits), ignored by the other modes.
/// errors: none (total function): NaN
/// stays NaN, infinities become a magnitude beyond max_finite().
HALFULP_HD constexpr double round(double x, const ScalarFormat& f, Rounding rounding,
                                  std::uint32_t random) noexcept {
  if (!lanes_fit<double>(f, guard_bits(rounding.mode, rounding.random_bits)))
    return round_in_two_parts(x, f, rounding, random);
  return round_to_grid(x, make_grid<double>(f), rounding, std::uint64_t{random});
}

}  // namespace halfulp
