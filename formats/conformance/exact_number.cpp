#include "formats/conformance/exact_number.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

namespace halfulp {
namespace {

int exponent_of(const Dyadic& x) { return x.exponent + static_cast<int>(std::bit_width(x.significand)) - 1; }

/// The same number with a significand of 53 bits, the first of them set.
/// in: not zero, at most 53 bits
Dyadic widened(Dyadic x) {
  const int shift = 53 - static_cast<int>(std::bit_width(x.significand));
  x.significand <<= shift;
  x.exponent -= shift;
  return x;
}

/// The same number with an odd significand.
Dyadic reduced(Dyadic x) {
  if (x.significand == 0) return {x.kind, x.negative, 0, 0};
  const int shift = std::countr_zero(x.significand);
  x.significand >>= shift;
  x.exponent += shift;
  return x;
}

}  // namespace

Dyadic exact_number(double x) {
  const bool negative = std::signbit(x);
  if (std::isnan(x)) return {NumberClass::not_a_number, negative, 0, 0};
  if (std::isinf(x)) return {NumberClass::infinite, negative, 0, 0};
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);
  return reduced(
      {NumberClass::finite, negative, static_cast<std::uint64_t>(std::ldexp(fraction, 53)), exponent - 53});
}

std::optional<double> as_double(const Dyadic& x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double sign = x.negative ? -1.0 : 1.0;
  if (x.kind == NumberClass::not_a_number)
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (x.kind == NumberClass::infinite) return sign * infinity;
  if (x.significand == 0) return sign * 0.0;
  const Dyadic r = reduced(x);
  if (std::bit_width(r.significand) > 53 || r.exponent < -1074 || exponent_of(r) > 1023) return std::nullopt;
  return sign * std::ldexp(static_cast<double>(r.significand), r.exponent);
}

int compare(const Dyadic& a, const Dyadic& b) {
  if (a.significand == 0 && b.significand == 0) return 0;
  if (a.significand == 0) return b.negative ? 1 : -1;
  if (b.significand == 0) return a.negative ? -1 : 1;
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  int order = exponent_of(a) < exponent_of(b) ? -1 : exponent_of(a) > exponent_of(b) ? 1 : 0;
  if (order == 0) {
    const std::uint64_t left = a.significand << std::countl_zero(a.significand),
                        right = b.significand << std::countl_zero(b.significand);
    order = left < right ? -1 : left > right ? 1 : 0;
  }
  return a.negative ? -order : order;
}

bool is_same_number(const Dyadic& a, const Dyadic& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case NumberClass::not_a_number:
      return true;
    case NumberClass::infinite:
      return a.negative == b.negative;
    case NumberClass::finite:
      return a.negative == b.negative && compare(a, b) == 0;
  }
  return false;
}

Dyadic next_outward(const Dyadic& x) {
  if (const auto value = as_double(x)) {
    const double next =
        std::nextafter(*value, std::copysign(std::numeric_limits<double>::infinity(), *value));
    if (std::isfinite(next)) return exact_number(next);
  }
  Dyadic w = widened(reduced(x));
  ++w.significand;  // 2^53 at the end of a binade: the next power of two
  return reduced(w);
}

Dyadic next_inward(const Dyadic& x) {
  if (const auto value = as_double(x)) return exact_number(std::nextafter(*value, 0.0));
  Dyadic w = widened(reduced(x));
  if (w.significand == std::uint64_t{1} << 52) {  // below a power of two steps are half as long
    w.significand <<= 1;
    --w.exponent;
  }
  --w.significand;
  return reduced(w);
}

Dyadic sum(const Dyadic& x, const Dyadic& d) {
  if (d.significand == 0) return x;
  if (x.significand == 0) return d;
  const int exponent = std::min(x.exponent, d.exponent);
  const std::uint64_t left = x.significand << (x.exponent - exponent),
                      right = d.significand << (d.exponent - exponent);
  if (x.negative == d.negative) return {NumberClass::finite, x.negative, left + right, exponent};
  return {NumberClass::finite, x.negative, left - right, exponent};
}

Dyadic product(double x, double y) {
  const Dyadic a = exact_number(x), b = exact_number(y);
  if (a.kind != NumberClass::finite || b.kind != NumberClass::finite ||
      std::bit_width(a.significand) + std::bit_width(b.significand) > 53)
    return exact_number(x * y);
  return {NumberClass::finite, a.negative != b.negative, a.significand * b.significand,
          a.exponent + b.exponent};
}

std::string text_of(const Dyadic& x) {
  const std::string sign = x.negative ? "-" : "";
  if (x.kind == NumberClass::not_a_number) return sign + "nan";
  if (x.kind == NumberClass::infinite) return sign + "inf";
  std::array<char, 64> buffer{};
  if (const auto value = as_double(x)) {
    std::snprintf(buffer.data(), buffer.size(), "%a", *value);
    const std::string hex = buffer.data();
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), *value).ptr;
    return hex + " (" + std::string(buffer.data(), end) + ")";
  }
  // The significand's hex digits, and the exponent beyond a double's written behind them.
  const int leading = exponent_of(x);
  const double significand = std::ldexp(static_cast<double>(x.significand), x.exponent - leading);
  std::snprintf(buffer.data(), buffer.size(), "%a", significand);
  const std::string hex = buffer.data();
  return sign + hex.substr(0, hex.find('p')) + "p" + (leading < 0 ? "" : "+") + std::to_string(leading);
}

}  // namespace halfulp
