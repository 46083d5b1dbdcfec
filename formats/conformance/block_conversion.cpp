#include "formats/conformance/block_conversion.h"

namespace halfulp {
namespace {

/// Largest magnitude; NaN if there is one.
double largest_magnitude(std::span<const double> block) {
  double largest = 0;
  for (const double x : block) {
    if (x != x) return x;
    largest = std::max(largest, std::fabs(x));
  }
  return largest;
}

}  // namespace

BlockConversion block_conversion_of(const BlockFormat& f, const std::string& name) {
  const auto convert = [f](std::span<const double> block, const TensorMultiplier& t, Rounding rounding,
                           const SpecialValues& special, std::uint32_t random, std::uint32_t scale_random) {
    const double amax = largest_magnitude(block);
    const auto [scale, divisor] = choose_block(f, block, amax, t, scale_random);
    BlockCodes codes{scale, {}};
    for (const double x : block)
      codes.elements.push_back(convert_in_block(x, f, divisor, rounding, special, random));
    return codes;
  };
  return {.name = name,
          .element = conversion_of(f.element, name),
          .convert = convert,
          .decode = [f](std::uint32_t code, std::uint32_t scale,
                        const TensorMultiplier& t) { return decode_in_block(f, code, scale, t); },
          .tensor_scale = [f](double amax) { return choose_tensor_scale(f, amax); }};
}

}  // namespace halfulp
