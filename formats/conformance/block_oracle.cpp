#include "formats/conformance/block_oracle.h"

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>

#include "formats/catalog.h"
#include "formats/conformance/exact_number.h"

namespace halfulp::oracle {
namespace {

// The product of an element, a scale and an fp32 number has at most 101 bits.
using Exact = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<128, boost::multiprecision::digit_base_2, void, std::int32_t,
                                         -100000, 100000>,
    boost::multiprecision::et_off>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest_float = 0x1.fffffep127;
constexpr SpecialValues ieee{OverflowPolicy::ieee};

}  // namespace

BlockOracle::BlockOracle(const BlockFormat& f) : f_(f), element_(f.element), scale_(f.scale), fp32_(fp32) {
  largest_ = as_double(element_.largest()).value();
  largest_exponent_ = std::ilogb(largest_);
}

float BlockOracle::rounded(double x) const {
  return std::bit_cast<float>(fp32_.convert(x, nearest_even, ieee, 0));
}

double BlockOracle::target() const {
  return f_.conventions.four_over_six == FourOverSix::always_four ? 4 : largest_;
}

TensorMultiplier BlockOracle::tensor_scale(double amax) const {
  const bool poisons =
      std::isnan(amax) || (std::isinf(amax) && f_.conventions.infinity == InfinityInBlock::poison);
  if (f_.tensor_scale == TensorScale::none || amax == 0) return {1, 1};
  if (poisons) return {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::quiet_NaN()};
  const double scale =
      f_.conventions.largest > 0 ? f_.conventions.largest : as_double(scale_.largest()).value();
  const double range = target() * scale;
  const Bracket b = fp32_.bracket_quotient(exact_number(amax), exact_number(range));
  const auto read = std::isinf(amax)
                        ? static_cast<float>(largest_float)
                        : std::bit_cast<float>(fp32_.code(b, nearest_even, {OverflowPolicy::saturate}, 0));
  if (f_.conventions.arithmetic != ScaleArithmetic::reciprocal) return {read};
  // S = fl(L M / A) of fp32 numbers; a quotient of two floats survives a rounding to double on its way.
  const double up = rounded(double{rounded(range)} / double{rounded(amax)});
  if (up == 0) return {1, 1};
  return {read, static_cast<float>(std::min(up, largest_float))};
}

double BlockOracle::largest_by_conventions(std::span<const double> block) const {
  double largest = 0;
  bool poisoned = false;
  for (const double x : block) {
    if (std::isnan(x))
      poisoned = poisoned || f_.conventions.nan == NanInBlock::poison;
    else if (!std::isinf(x))
      largest = std::max(largest, std::fabs(x));
    else if (f_.conventions.infinity == InfinityInBlock::poison)
      poisoned = true;
    else if (f_.conventions.infinity == InfinityInBlock::saturate)
      largest = infinity;
  }
  return poisoned ? std::numeric_limits<double>::quiet_NaN() : largest;
}

bool BlockOracle::is_flushed(std::span<const double> block) const {
  return f_.conventions.subnormal_block == SubnormalBlock::flush && largest_by_conventions(block) < 0x1p-126;
}

double BlockOracle::error(std::span<const double> block, std::uint32_t scale_code,
                          const TensorMultiplier& t) const {
  double total = 0;
  for (const double x : block) {
    const std::uint32_t code =
        element_.code(bracket(x, false, scale_code, t), nearest_even, {OverflowPolicy::saturate}, 0);
    const double difference = std::fabs(x - decode(code, scale_code, t));
    if (f_.conventions.four_over_six == FourOverSix::abs_max)
      total = std::max(total, difference);
    else
      total += f_.conventions.four_over_six == FourOverSix::mse ? difference * difference : difference;
  }
  return total;
}

Bracket BlockOracle::bracket(double x, bool flushed, std::uint32_t scale_code,
                             const TensorMultiplier& t) const {
  const Dyadic scale = oracle::number(f_.scale, scale_code);
  const bool poisoned = scale.kind == NumberClass::not_a_number || std::isnan(t.decode);
  if (std::isnan(x)) return element_.bracket(x);
  if (poisoned) return element_.bracket(std::numeric_limits<double>::quiet_NaN());
  const double s = as_double(scale).value();
  const bool forced = f_.conventions.underflow == ScaleUnderflow::zero_elements && scale_code == 0;
  const Dyadic source = exact_number(x), signed_zero = exact_number(std::copysign(0.0, x));
  if (flushed || forced) return element_.bracket(signed_zero);
  // fp32 arithmetic: the quotient or product itself is a number, rounded once more to an element.
  const double narrow = rounded(x);
  const auto scaled_by = [&](double factor) {
    const double finite = std::min(factor, largest_float);
    return finite == 0 ? element_.bracket(signed_zero) : element_.bracket(double{rounded(narrow * finite)});
  };
  switch (f_.conventions.arithmetic) {
    case ScaleArithmetic::exact: {
      const Dyadic divisor = product(s, t.decode);
      if (is_zero(divisor)) return element_.bracket(signed_zero);
      return source.kind == NumberClass::finite ? element_.bracket_quotient(source, divisor)
                                                : element_.bracket(x);
    }
    case ScaleArithmetic::quotients: {
      const double divisor = rounded(s * t.decode);
      return divisor == 0 ? element_.bracket(signed_zero)
                          : element_.bracket(double{rounded(narrow / divisor)});
    }
    case ScaleArithmetic::reciprocal:
      return scaled_by(rounded(1 / double{rounded(s * double{rounded(1.0 / t.encode)})}));
    case ScaleArithmetic::mixed:
      return scaled_by(rounded(double{rounded(1.0 / t.decode)} / s));
  }
  return element_.bracket(x);
}

double BlockOracle::decode(std::uint32_t code, std::uint32_t scale_code, const TensorMultiplier& t) const {
  const double q = oracle::decode(f_.element, code), s = oracle::decode(f_.scale, scale_code);
  if (!std::isfinite(q) || !std::isfinite(s) || !std::isfinite(t.decode)) return q * s * t.decode;
  const Exact exact = Exact(q) * Exact(s) * Exact(t.decode);
  if (exact == 0) return std::copysign(0.0, q);
  // 62 leading bits and a sticky one are enough for one rounding to 24.
  const Exact magnitude = abs(exact);
  const int shift = ilogb(magnitude) - 61;
  const Exact scaled = ldexp(magnitude, -shift), kept = floor(scaled);
  const std::uint64_t significand = static_cast<std::uint64_t>(kept) | (kept != scaled ? 1 : 0);
  const Bracket b = fp32_.bracket(Dyadic{NumberClass::finite, exact < 0, significand, shift});
  return std::bit_cast<float>(fp32_.code(b, nearest_even, ieee, 0));
}

}  // namespace halfulp::oracle
