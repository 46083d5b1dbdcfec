// Blocks: what they do with zeros, NaN and infinities, how their elements are rounded and read, and the short
// last one.
#include <algorithm>
#include <cmath>

#include "formats/conformance/block_subject.h"
#include "formats/conformance/exact_number.h"
#include "formats/conformance/gaps.h"
#include "formats/conformance/properties.h"

namespace halfulp::conformance {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Scales to look at elements under: both ends, the middle and some others; all of them where they are few.
std::vector<std::uint32_t> scale_codes(const BlockFormat& f, std::size_t most) {
  const oracle::Oracle scale(f.scale);
  const std::uint32_t largest = scale.largest_code();
  std::vector<std::uint32_t> codes;
  if (largest < most) {
    for (std::uint32_t code = 0; code <= largest; ++code) codes.push_back(code);
    return codes;
  }
  const auto count = static_cast<std::uint32_t>(most);
  for (std::uint32_t i = 0; i < count; ++i)
    codes.push_back(static_cast<std::uint32_t>(std::uint64_t{largest} * i / (count - 1)));
  for (const std::uint32_t code : {1u, 2u, scale.convert(1.0, nearest_even, {OverflowPolicy::saturate}, 0)})
    codes.push_back(std::min(code, largest));
  return codes;
}

/// Largest magnitudes under which a block gets about this scale: its largest element just fits, or is beyond
/// what the rule looks at.
std::vector<double> anchors(const oracle::BlockOracle& oracle, double scale) {
  const double top = std::ldexp(1.0, oracle.largest_exponent());
  // The quotient of a table's largest number would not be told from that number: a hair less.
  const double fits = oracle.format().element.is_table() ? 1 - 0x1p-30 : 1;
  return {oracle.largest_element() * scale * fits, 0x1.fffffcp0 * top * scale};
}

/// Numbers that lie on the midpoints of elements under a scale, and beside them, up to a largest magnitude. A
/// quotient that is kept as a double is no finer than the midpoints of a table: beside those a hair more is
/// left.
std::vector<double> points_under(const std::vector<Gap>& gaps, bool is_table, std::size_t stride,
                                 double scale, double largest) {
  std::vector<double> points;
  for (std::size_t i = 0; i < gaps.size(); i += stride) {
    const std::optional<Dyadic> middle = midpoint(gaps[i]);
    const double low = as_double(gaps[i].low).value(), high = as_double(gaps[i].high).value();
    const double centre = (middle ? as_double(*middle).value() : low / 2 + high / 2) * scale;
    const std::vector<double> around = is_table
                                           ? std::vector<double>{centre + (high - low) * scale * 0x1p-30,
                                                                 centre - (high - low) * scale * 0x1p-30}
                                           : std::vector<double>{centre, std::nextafter(centre, infinity),
                                                                 std::nextafter(centre, -infinity)};
    for (const double x : around)
      if (std::fabs(x) <= largest) points.push_back(x);
  }
  return points;
}

}  // namespace

PropertyReport check_block_conventions(const BlockSubject& subject) {
  BlockTally tally(subject, "block_conventions", Coverage::sampled,
                   "blocks of zeros, with NaN, with infinities, of fp32 subnormals");
  const std::vector<std::vector<double>> blocks{{0.0},
                                                {0.0, -0.0, 0.0},
                                                {-0.0},
                                                {not_a_number},
                                                {1.0, not_a_number, -2.0},
                                                {1.0, -not_a_number, 0.0},
                                                {infinity},
                                                {-infinity, 3.0},
                                                {0.5, infinity, -infinity},
                                                {infinity, not_a_number, 1.0},
                                                {not_a_number, 0.0},
                                                {infinity, 0.0, -0.0},
                                                {0x1p-149, -0x1p-149},
                                                {0x1.fffffcp-127, -0x1p-140, 0.0},
                                                {0x1p-126, 0x1p-127, -0.0},
                                                {std::nextafter(0x1p-126, 0.0), -0x1p-130},
                                                {0x1p-1074},
                                                {0x1p-1022, -0.0},
                                                {0x1p-400, -0x1p-401},
                                                {std::numeric_limits<float>::max(), -1.0},
                                                {0x1p200, 1.0, -0x1p199},
                                                {std::numeric_limits<double>::max()}};
  std::vector<Rounding> roundings = subject.element.deterministic();
  for (const TensorMultiplier& t : subject.tensor_scales())
    for (const std::vector<double>& block : blocks)
      for (const Rounding& rounding : roundings)
        for (const SpecialValues& special : subject.element.policies())
          tally.compare(block, t, rounding, special, 0, 12345, true);
  // A tensor that is NaN poisons all its blocks.
  if (subject.format().has_tensor_scale())
    for (const double x : {0.0, 1.0})
      tally.compare(std::vector<double>{x}, {static_cast<float>(not_a_number)}, nearest_even,
                    subject.element.plain(), 0, 0, false);
  return tally.result();
}

PropertyReport check_block_elements(const BlockSubject& subject) {
  const oracle::BlockOracle& oracle = subject.oracle;
  BlockTally tally(subject, "block_elements", Coverage::sampled,
                   "midpoints of elements under some scales, the next double on both sides");
  const std::vector<Gap> gaps = gaps_of(oracle.element());
  const std::size_t stride = gaps.size() / 100 + 1;
  std::vector<Rounding> roundings = subject.element.deterministic();
  if (!subject.element.stochastic().empty()) roundings.push_back(subject.element.stochastic().back());
  std::vector<TensorMultiplier> second = subject.tensor_scales();
  if (second.size() > 4) second.erase(second.begin() + 4, second.end());
  for (const TensorMultiplier& t : second)
    for (const std::uint32_t code : scale_codes(subject.format(), 5)) {
      const double wanted = oracle::decode(subject.format().scale, code) * t.decode;
      if (!(wanted > 0)) continue;
      for (const double anchor : anchors(oracle, wanted)) {
        if (!(anchor > 0 && anchor < infinity)) continue;
        const std::uint32_t scale = oracle.scale_code(std::span(&anchor, 1), t, 0);
        const double multiplier = oracle::decode(subject.format().scale, scale) * t.decode;
        if (!(multiplier > 0)) continue;
        std::vector<double> block{anchor};
        const auto compare = [&] {
          for (const Rounding& rounding : roundings)
            tally.compare(block, t, rounding, subject.element.plain(),
                          is_stochastic(rounding.mode) ? 1u << (rounding.random_bits - 1) : 0, 0, true);
          block.assign(1, -anchor);
        };
        for (const double x :
             points_under(gaps, subject.format().element.is_table(), stride, multiplier, anchor)) {
          block.push_back(x);
          if (block.size() >= std::max<std::size_t>(std::min<std::size_t>(subject.capacity(), 64), 2))
            compare();
        }
        compare();
      }
    }
  return tally.result();
}

PropertyReport check_block_decode(const BlockSubject& subject) {
  const BlockFormat& f = subject.format();
  const bool all = f.scale.bits() <= 8 && f.element.bits() <= 8;
  BlockTally tally(subject, "block_decode",
                   all && !f.has_tensor_scale() ? Coverage::exhaustive : Coverage::sampled,
                   all ? "every element code under every scale" : "element codes under some scales");
  std::vector<std::uint32_t> scales = scale_codes(f, all ? 256 : 40);
  if (f.scale.has_nan())
    scales.push_back(
        oracle::Oracle(f.scale).convert(not_a_number, nearest_even, {OverflowPolicy::saturate}, 0));
  std::size_t count = 0;
  for (const TensorMultiplier& t : subject.tensor_scales())
    for (const std::uint32_t scale : scales) {
      if (f.has_tensor_scale() && ++count % 3 != 0) continue;
      const std::uint64_t step = (f.element.code_count() + 255) / 256;
      for (std::uint64_t code = 0; code < f.element.code_count(); code += step) {
        const auto element = static_cast<std::uint32_t>(code);
        tally.expect_decoded(element, scale, t, subject.conversion.decode(element, scale, t),
                             subject.oracle.decode(element, scale, t));
      }
    }
  return tally.result();
}

PropertyReport check_block_round_trip(const BlockSubject& subject) {
  const BlockFormat& f = subject.format();
  BlockTally tally(
      subject, "block_round_trip", Coverage::sampled,
      "blocks of all elements, decoded and converted, where the rule gives the same scale again");
  const std::uint32_t largest = subject.oracle.element().largest_code();
  const std::size_t capacity = std::max<std::size_t>(subject.capacity(), 2);
  for (const TensorMultiplier& t : subject.tensor_scales())
    for (const std::uint32_t scale : scale_codes(f, 16)) {
      if (scale == 0 && f.conventions.underflow == ScaleUnderflow::zero_elements) continue;
      std::vector<std::uint32_t> codes{largest};
      const std::uint64_t step = (f.element.code_count() + 255) / 256;
      const auto check = [&] {
        std::vector<double> values;
        for (const std::uint32_t code : codes) values.push_back(subject.conversion.decode(code, scale, t));
        const BlockCodes back =
            subject.conversion.convert(values, t, nearest_even, subject.element.plain(), 0, 0);
        for (std::size_t i = 1; back.scale == scale && i < codes.size(); ++i) {
          const bool same = back.elements[i] == codes[i];
          tally.expect(same,
                       same ? ""
                            : "code " + hex_code(codes[i], f.element.bits()) + " under " +
                                  scale_text(f, scale) + second_scale_text(f, t),
                       same ? "" : hex_code(back.elements[i], f.element.bits()), "the same code");
        }
        codes.resize(1);
      };
      for (std::uint64_t code = 0; code < f.element.code_count(); code += step) {
        const auto element = static_cast<std::uint32_t>(code);
        const Dyadic number = oracle::number(f.element, element);
        const double value = subject.oracle.decode(element, scale, t);
        // What leaves fp32's range does not come back, and without subnormals several codes are zero.
        const bool fits = number.kind == NumberClass::finite && std::isfinite(value) &&
                          std::isfinite(subject.oracle.decode(largest, scale, t)) &&
                          (is_zero(number) ? f.element.has_subnormals : std::fabs(value) >= 0x1p-126);
        if (!fits || std::fabs(value) > subject.oracle.decode(largest, scale, t)) continue;
        codes.push_back(element);
        if (codes.size() == capacity) check();
      }
      if (codes.size() > 1) check();
    }
  return tally.result();
}

PropertyReport check_short_block(const BlockSubject& subject) {
  BlockTally tally(subject, "short_block", Coverage::sampled,
                   "blocks of every length up to the full one, and the same with zeros behind");
  const std::size_t capacity = subject.capacity();
  std::vector<double> numbers;
  std::uint32_t bits = 7;
  for (std::size_t i = 0; i < capacity; ++i) {
    bits = bits * 1664525u + 1013904223u;
    // Magnitudes grow along the block, so that a shorter one has another scale.
    numbers.push_back(
        std::ldexp(static_cast<double>(bits >> 8) - 0x1p23, -23 + static_cast<int>(i * 12 / capacity)));
  }
  const SpecialValues& special = subject.element.plain();
  const TensorMultiplier t = subject.oracle.tensor_scale(0x1p12);
  for (std::size_t n = 1; n <= capacity; n += capacity > 64 ? 7 : 1) {
    const std::span<const double> block(numbers.data(), n);
    tally.compare(block, t, nearest_even, special, 0, 0, true);
    std::vector<double> padded(block.begin(), block.end());
    padded.resize(capacity, 0.0);
    const BlockCodes alone = subject.conversion.convert(block, t, nearest_even, special, 0, 0);
    BlockCodes with_zeros = subject.conversion.convert(padded, t, nearest_even, special, 0, 0);
    with_zeros.elements.resize(std::min(n, with_zeros.elements.size()));
    tally.expect(alone == with_zeros, "block of " + std::to_string(n) + " against the same with zeros behind",
                 scale_text(subject.format(), alone.scale), scale_text(subject.format(), with_zeros.scale));
  }
  return tally.result();
}

}  // namespace halfulp::conformance
