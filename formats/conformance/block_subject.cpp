#include "formats/conformance/block_subject.h"

#include <algorithm>
#include <cmath>

#include "formats/conformance/exact_number.h"

namespace halfulp::conformance {
namespace {

std::string block_text(std::span<const double> block) {
  std::string text = "block of " + std::to_string(block.size()) + ": ";
  for (std::size_t i = 0; i < std::min<std::size_t>(block.size(), 3); ++i)
    text += (i > 0 ? ", " : "") + text_of(exact_number(block[i]));
  return text + (block.size() > 3 ? ", ..." : "");
}

}  // namespace

std::size_t BlockSubject::capacity() const {
  const BlockShape& shape = format().shape;
  constexpr std::size_t open = 64;
  switch (shape.axis) {
    case BlockAxis::element:
      return 1;
    case BlockAxis::tile:
      return (shape.columns == 0 ? open : shape.columns) * (shape.rows == 0 ? open : shape.rows);
    case BlockAxis::flattened:
      return shape.columns;
    case BlockAxis::tensor:
      return open;
  }
  return 1;
}

std::vector<TensorMultiplier> BlockSubject::tensor_scales() const {
  if (!format().has_tensor_scale()) return {{1.0f, 1.0f}};
  std::vector<TensorMultiplier> all;
  // Round ones, those of ordinary tensors with awkward fractions, and both ends of what elements can be read
  // with.
  for (const double amax : {2688.0, 1.0, 0.75, 3.1, 1e-6, 5376.0, 0x1.fffffep100, 0x1.3p-100})
    all.push_back(oracle.tensor_scale(amax));
  for (const float given : {1.0f, 0x1.fffffep-10f, 0x1.000002p-20f}) all.emplace_back(given);
  return all;
}

std::string scale_text(const BlockFormat& f, std::uint32_t code) {
  return "scale " + hex_code(code, f.scale.bits()) + " = " + text_of(oracle::number(f.scale, code));
}

std::string second_scale_text(const BlockFormat& f, const TensorMultiplier& t) {
  return f.has_tensor_scale() ? ", tensor scale " + text_of(exact_number(t.decode)) : "";
}

bool BlockTally::wants_text() const {
  return report_.examples.size() < subject_.element.options().most_examples;
}

void BlockTally::scale_differs(std::span<const double> block, const TensorMultiplier& t,
                               std::uint32_t scale_random, std::uint32_t got, std::uint32_t expected) {
  const BlockFormat& f = subject_.format();
  double largest = 0;
  for (const double x : block) largest = std::max(largest, std::fabs(x));
  // What the rules look at: amax against the largest element, and its significand.
  const double relative = largest / t.decode / subject_.oracle.largest_element();
  std::string setting = "rule " + std::string(name_of(f.rule)) + ", amax / largest element " +
                        text_of(exact_number(relative)) + second_scale_text(f, t);
  if (f.rule == ScaleRule::stochastic_exponent) setting += ", r=" + std::to_string(scale_random);
  report_.examples.push_back({block_text(block), "", setting, scale_text(f, got), scale_text(f, expected)});
}

void BlockTally::compare(std::span<const double> block, const TensorMultiplier& t, Rounding rounding,
                         const SpecialValues& special, std::uint32_t random, std::uint32_t scale_random,
                         bool elements) {
  const BlockFormat& f = subject_.format();
  const BlockCodes got = subject_.conversion.convert(block, t, rounding, special, random, scale_random);
  const std::uint32_t scale = subject_.oracle.scale_code(block, t, scale_random);
  ++report_.cases;
  if (got.scale != scale || got.elements.size() != block.size()) {
    ++report_.failures;
    if (wants_text()) scale_differs(block, t, scale_random, got.scale, scale);
    return;
  }
  if (!elements || oracle::number(f.scale, scale).kind == NumberClass::not_a_number) return;
  const bool flushed = subject_.oracle.is_flushed(block);
  for (std::size_t i = 0; i < block.size(); ++i) {
    const oracle::Bracket b = subject_.oracle.bracket(block[i], flushed, scale, t);
    const std::uint32_t expected = subject_.oracle.element().code(b, rounding, special, random);
    ++report_.cases;
    if (got.elements[i] == expected) continue;
    ++report_.failures;
    if (!wants_text()) continue;
    const auto code_text = [&](std::uint32_t code) {
      return hex_code(code, f.element.bits()) + " = " + text_of(oracle::number(f.element, code));
    };
    report_.examples.push_back({"x = " + text_of(exact_number(block[i])) + " under " + scale_text(f, scale),
                                interval_text(b, !f.element.is_table()) + " for x / scale",
                                setting_text(rounding, special, random) + second_scale_text(f, t),
                                code_text(got.elements[i]), code_text(expected)});
  }
}

void BlockTally::expect_decoded(std::uint32_t code, std::uint32_t scale, const TensorMultiplier& t,
                                double got, double expected) {
  const bool same = is_same_number(exact_number(got), exact_number(expected));
  ++report_.cases;
  if (same) return;
  ++report_.failures;
  const BlockFormat& f = subject_.format();
  if (wants_text())
    report_.examples.push_back({"code " + hex_code(code, f.element.bits()) + " under " + scale_text(f, scale),
                                "", "decoded" + second_scale_text(f, t), text_of(exact_number(got)),
                                text_of(exact_number(expected))});
}

void BlockTally::expect(bool holds, const std::string& input, const std::string& got,
                        const std::string& expected) {
  ++report_.cases;
  if (holds) return;
  ++report_.failures;
  if (wants_text()) report_.examples.push_back({input, "", "", got, expected});
}

void BlockTally::expect_tensor_scale(double amax, const TensorMultiplier& got,
                                     const TensorMultiplier& expected) {
  const auto same = [](float a, float b) { return is_same_number(exact_number(a), exact_number(b)); };
  const bool written = subject_.format().conventions.arithmetic == ScaleArithmetic::reciprocal;
  const bool holds = same(got.decode, expected.decode) && (!written || same(got.encode, expected.encode));
  ++report_.cases;
  if (holds) return;
  ++report_.failures;
  const auto text = [&](const TensorMultiplier& t) {
    return text_of(exact_number(t.decode)) +
           (written ? ", written with " + text_of(exact_number(t.encode)) : "");
  };
  if (wants_text())
    report_.examples.push_back(
        {"tensor amax " + text_of(exact_number(amax)), "", "", text(got), text(expected)});
}

PropertyReport BlockTally::result() const {
  PropertyReport report = report_;
  if (report.cases == 0) report.coverage = Coverage::not_applicable;
  return report;
}

}  // namespace halfulp::conformance
