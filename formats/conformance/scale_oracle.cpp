// The scales of blocks, for BlockOracle: the rules as their sentences say them, and the conventions around
// them.
#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>

#include "formats/conformance/block_oracle.h"
#include "formats/conformance/exact_number.h"

namespace halfulp::oracle {
namespace {

// Quotients of 53-bit numbers by products of an element, a scale and an fp32 number stay farther than 2^-250
// from every threshold of the rules, squares included.
using Exact = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<320, boost::multiprecision::digit_base_2, void, std::int32_t,
                                         -100000, 100000>,
    boost::multiprecision::et_off>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr SpecialValues ieee{OverflowPolicy::ieee};

/// floor(log2 x)
int floor_log2(const Exact& x) { return ilogb(x); }
int ceil_log2(const Exact& x) { return ldexp(Exact(1), ilogb(x)) == x ? ilogb(x) : ilogb(x) + 1; }
/// floor(log2 x + 1/2): the largest k with 2^(2k - 1) <= x^2
int nearest_log2(const Exact& x) { return (floor_log2(x * x) + 1) >> 1; }

}  // namespace

std::uint32_t BlockOracle::nan_scale() const {
  return scale_.convert(std::numeric_limits<double>::quiet_NaN(), nearest_even, ieee, 0);
}

std::uint32_t BlockOracle::power_code(int exponent) const {
  int smallest = 0;
  for (std::uint32_t code = 0;; ++code)
    if (const Dyadic number = oracle::number(f_.scale, code); !is_zero(number)) {
      smallest = std::ilogb(as_double(number).value());
      break;
    }
  const int highest =
      std::min(std::ilogb(as_double(scale_.largest()).value()), f_.conventions.highest_exponent);
  if (f_.conventions.floor > 0) smallest = std::max(smallest, ceil_log2(Exact(f_.conventions.floor)));
  smallest = std::min(smallest, highest);
  if (exponent > highest && f_.conventions.overflow == ScaleOverflow::nan) return nan_scale();
  return scale_.convert(std::ldexp(1.0, std::clamp(exponent, smallest, highest)), nearest_even, ieee, 0);
}

std::uint32_t BlockOracle::largest_scale() const {
  const bool rounds = f_.rule == ScaleRule::amax || f_.rule == ScaleRule::p3109_maxabs;
  if (rounds) return scale_.largest_code();
  const int highest =
      std::min(std::ilogb(as_double(scale_.largest()).value()), f_.conventions.highest_exponent);
  return scale_.convert(std::ldexp(1.0, highest), nearest_even, ieee, 0);
}

std::uint32_t BlockOracle::rounded_code(double amax, double largest, const TensorMultiplier& t) const {
  const ScaleConventions& c = f_.conventions;
  // Numerator and denominator of the scale before it is rounded.
  Dyadic above = exact_number(amax), below = exact_number(1.0);
  const double b = rounded(amax), m = rounded(largest);
  if (f_.rule == ScaleRule::p3109_maxabs) {
    below = exact_number(t.decode);
  } else {
    switch (c.arithmetic) {
      case ScaleArithmetic::exact:
        below = product(largest, t.decode);
        break;
      case ScaleArithmetic::reciprocal:
        above = exact_number(rounded(b * double{rounded(double{t.encode} * double{rounded(1 / m)})}));
        break;
      case ScaleArithmetic::quotients:
        above = exact_number(rounded(b / double{rounded(m * t.decode)}));
        break;
      case ScaleArithmetic::mixed:
        above = exact_number(rounded(double{rounded(b / m)} / t.decode));
        break;
    }
  }
  const bool infinite = above.kind == NumberClass::infinite || is_zero(below);
  if (!infinite && c.floor > 0) {
    const Exact value = ldexp(Exact(above.significand), above.exponent),
                floor = Exact(c.floor) * ldexp(Exact(below.significand), below.exponent);
    if (value < floor) above = exact_number(c.floor), below = exact_number(1.0);
  }
  const Bracket bracket = infinite ? scale_.bracket(infinity) : scale_.bracket_quotient(above, below);
  const SpecialValues policy{c.overflow == ScaleOverflow::nan ? OverflowPolicy::ocp
                                                              : OverflowPolicy::saturate};
  const Rounding rounding{c.rounds_up ? RoundingMode::up : RoundingMode::nearest_even, 0};
  const std::uint32_t code = scale_.code(bracket, rounding, policy, 0);
  return oracle::number(f_.scale, code).kind == NumberClass::infinite ? nan_scale() : code;
}

std::uint32_t BlockOracle::code_for(double amax, double largest, const TensorMultiplier& t,
                                    std::uint32_t random) const {
  // Beside a second scale of 0 or infinity every number is infinitely large or small.
  const bool powers = f_.rule != ScaleRule::amax && f_.rule != ScaleRule::p3109_maxabs;
  if (powers && t.decode == 0) return power_code(2000);
  if (powers && std::isinf(t.decode)) return power_code(-2000);
  const Dyadic divisor = product(largest_, t.decode);
  const Exact a = Exact(amax) / Exact(t.decode),
              relative = Exact(amax) / ldexp(Exact(divisor.significand), divisor.exponent);
  const int em = largest_exponent_, m = f_.element.is_table() ? 0 : f_.element.fraction_bits;
  const auto e = [&] { return floor_log2(a); };
  const auto significand = [&] { return ldexp(a, -e()); };  // 1 + f
  switch (f_.rule) {
    case ScaleRule::ocp_floor:
      return power_code(e() - em);
    case ScaleRule::even:
      return power_code(e() + (significand() >= 2 - ldexp(Exact(1), -(m + 1)) ? 1 : 0) - em);
    case ScaleRule::even_tie_down:
      return power_code(e() + (significand() > 2 - ldexp(Exact(1), -(m + 1)) ? 1 : 0) - em);
    case ScaleRule::ceil:
      return power_code(ceil_log2(a) - em);
    case ScaleRule::rceil:
      return power_code(ceil_log2(relative));
    case ScaleRule::rfloor:
      return power_code(floor_log2(relative));
    case ScaleRule::log2_nearest:
      return power_code(nearest_log2(relative));
    case ScaleRule::log2_nearest_binade:
      return power_code(nearest_log2(a) - em);
    case ScaleRule::stochastic_exponent: {
      const Exact lifted = ldexp(significand() - 1, scale_random_bits) + random;
      return power_code(e() + (lifted >= ldexp(Exact(1), scale_random_bits) ? 1 : 0) - em);
    }
    case ScaleRule::amax:
    case ScaleRule::p3109_maxabs:
      return rounded_code(amax, largest, t);
    case ScaleRule::none:
      break;
  }
  return 0;
}

std::uint32_t BlockOracle::scale_code(std::span<const double> block, const TensorMultiplier& t,
                                      std::uint32_t random) const {
  const double largest = largest_by_conventions(block);
  if (std::isnan(largest) || std::isnan(t.decode)) return nan_scale();
  if (std::isinf(largest)) return largest_scale();
  const bool flushes = f_.conventions.subnormal_block == SubnormalBlock::flush && largest < 0x1p-126;
  if (largest == 0 || flushes) switch (f_.conventions.zero_block) {
      case ZeroBlock::smallest:
        return scale_.convert(f_.conventions.floor, nearest_even, {OverflowPolicy::saturate}, 0);
      case ZeroBlock::one:
        return scale_.convert(1.0, nearest_even, ieee, 0);
      case ZeroBlock::amax_one:
        return code_for(1.0, largest_, t, 0);
      case ZeroBlock::two_to_minus_23:
        return power_code(-23);
      case ZeroBlock::amax_min_normal:
        return code_for(0x1p-126, largest_, t, 0);
    }
  const std::uint32_t first = code_for(largest, target(), t, random);
  const FourOverSix choice = f_.conventions.four_over_six;
  if (choice == FourOverSix::none || choice == FourOverSix::always_four) return first;
  const std::uint32_t second = code_for(largest, 4, t, random);
  return error(block, second, t) < error(block, first, t) ? second : first;
}

}  // namespace halfulp::oracle
